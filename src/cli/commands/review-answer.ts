/**
 * `reprise review answer`: one decision, by flags, by a file or in an editor.
 * What was asked wrongly is refused before anything is taken; what was lost to another is told with their name.
 */
import type { Answered, Hand, Loss, ReviewAct, ReviewDetail } from '../../review/index.ts'
import type { Issue } from '../../run/question.ts'
import { CliError, usageError } from '../cli-error.ts'
import { editAnswer } from '../edit-answer.ts'
import { jsonLine } from '../json-line.ts'
import { readJson } from '../read-json-file.ts'
import { actorOf } from '../reader.ts'
import { shown, wrap } from '../terminal/text.ts'
import type { Desk } from './review.ts'

export interface AnswerOptions {
  readonly accept?: boolean
  readonly file?: string
  readonly edit?: boolean
  readonly back?: string | true
  readonly hint?: string
  readonly reject?: boolean
  readonly reason?: string
  readonly expect?: string
}

/** What the flags ask for; a file and an editor are read later. */
export type AskedAct = ReviewAct | { readonly act: 'file'; readonly name: string } | { readonly act: 'edit' }

const WAYS = '`--accept`, `--file answer.json`, `--edit`, `--back`, or `--reject --reason …`.'

export function actOf({ accept, file, edit, back, hint, reject, reason }: AnswerOptions): AskedAct {
  const ways: AskedAct[] = [
    ...(accept ? [{ act: 'accept' } as const] : []),
    ...(file === undefined ? [] : [{ act: 'file', name: file } as const]),
    ...(edit ? [{ act: 'edit' } as const] : []),
    ...(back === undefined
      ? []
      : [{ act: 'back', ...(back === true ? {} : { to: back }), ...(hint === undefined ? {} : { hint }) } as const]),
    ...(reject ? [{ act: 'reject', reason: reason ?? '' } as const] : []),
  ]
  const [way, second] = ways
  if (!way) throw usageError('There is no answer.', `One of ${WAYS}`)
  if (second) throw usageError('An answer is one thing, not several.', `One of ${WAYS}`)
  if (hint !== undefined && way.act !== 'back') throw usageError('--hint goes with --back.')
  if (reason !== undefined && way.act !== 'reject') throw usageError('--reason goes with --reject.')
  if (way.act === 'reject' && way.reason.trim() === '')
    throw usageError('A rejection needs a reason.', "`--reject --reason 'not an invoice'`")
  return way
}

export async function answerReview(desk: Desk, run: string, asked: AskedAct): Promise<void> {
  const { reviews, frame, options } = desk
  const { env, stdin } = frame.terminal()
  const by = actorOf(options.by, env)
  const read =
    asked.act === 'file' ? ({ act: 'correct', value: await readJson(asked.name, frame.cwd, stdin) } as const) : asked
  const wasMine = (await reviews.show(run))?.taken?.by === by
  const { expect: version } = options
  const taken = await reviews.take(run, { by, ...(version === undefined ? {} : { version }) })
  if (taken.answer === 'lost') return tell(desk, run, taken)
  const { hand, item } = taken
  let isDecided = false
  try {
    const answered = read.act === 'edit' ? await edited(desk, hand, item) : await reviews.answer(hand, read)
    isDecided = answered === undefined || answered.answer === 'ok'
    if (answered) tell(desk, run, answered)
  } finally {
    // Whoever had it in hand before keeps it; what was taken only to be answered comes back at once.
    if (!isDecided && !wasMine) await reviews.giveBack(hand)
  }
}

/** `undefined` when the person left the editor without an answer, which is told already. */
async function edited(desk: Desk, hand: Hand, item: ReviewDetail): Promise<Answered | undefined> {
  const { reviews, frame } = desk
  const { env, human } = frame.terminal()
  let last: Answered | undefined
  const stop = new AbortController()
  const keeping = keep(desk, hand, stop.signal)
  const { question } = item
  try {
    const result = await editAnswer({
      name: hand.run,
      heading: [`${item.title}: ${item.reason}`],
      draft: question?.draft,
      issues: question?.issues ?? [],
      env,
      cwd: frame.cwd,
      offer: async (value) => {
        last = await reviews.answer(hand, { act: 'correct', value })
        if (last.answer === 'lost') return 'stop'
        return last.answer === 'refused' ? last.issues : []
      },
    })
    if (result.edited === 'taken') return last
    if (result.file !== undefined) human.lines(human.text(`Your values are kept in ${result.file}.`))
    if (last?.answer === 'lost') return last
    human.lines(human.text(`${hand.run} is not answered.`))
    frame.fail()
    await reviews.giveBack(hand)
    return undefined
  } finally {
    stop.abort()
    await keeping
  }
}

/** Renews while the person writes, so that nobody else gets it meanwhile. */
async function keep({ reviews, frame, options }: Desk, hand: Hand, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await frame.clock.sleep(options.for / 3, signal).catch(() => {})
    if (!signal.aborted && (await reviews.renew(hand)) === 'lost') return
  }
}

function tell({ frame }: Desk, run: string, answered: Answered | Loss): void {
  const { json, out, human } = frame.terminal()
  if (answered.answer === 'ok') {
    const { verdict, item } = answered
    const how = verdict.act === 'answer' ? { how: item.asked ? verdict.how : 'given' } : {}
    if (json) out.lines(jsonLine({ run, answer: 'ok', act: verdict.act, ...how }))
    human.lines(...wrap(human.text(sentenceOf(run, answered)), human.columns))
    return
  }
  if (json) {
    const issues = answered.answer === 'refused' ? { issues: answered.issues } : answered
    out.lines(jsonLine({ run, answer: answered.answer, ...issues }))
    frame.fail()
    return
  }
  throw answered.answer === 'lost' ? lost(run, answered) : refused(run, answered.issues)
}

function sentenceOf(run: string, { verdict, item }: Extract<Answered, { answer: 'ok' }>): string {
  const goesOn = 'It goes on with the next free worker.'
  if (verdict.act === 'back')
    return `${run} is sent back${verdict.to === undefined ? '' : ` to ${verdict.to}`}. ${goesOn}`
  if (verdict.act === 'reject') return `${run} is rejected. ${item.asked ? goesOn : 'It has ended.'}`
  if (!item.asked) return `${run} has its result. It has ended.`
  return `${run} is answered: ${verdict.how}. ${goesOn}`
}

export const lost = (run: string, { says, reason }: Loss): CliError =>
  new CliError({
    code: 'REVIEW_LOST',
    message: `${run} is not yours to answer.`,
    cause: says,
    tryThis: reason === 'changed' ? `\`reprise review show ${shown(run)}\`` : `\`reprise show ${shown(run)}\``,
    exit: 1,
    touched: 'Nothing was changed.',
  })

function refused(run: string, issues: readonly Issue[]): CliError {
  const told = issues.map(({ path, code, message }) => `${path === '' ? 'all of it' : path} ${message} (${code})`)
  return new CliError({
    code: 'REVIEW_REFUSED',
    message: `The answer for ${run} does not pass its schema.`,
    cause: `${told.join('; ')}`,
    tryThis: `\`reprise review answer ${shown(run)} --edit\` opens the draft.`,
    exit: 1,
    touched: 'Nothing was changed; it stays at the desk.',
  })
}
