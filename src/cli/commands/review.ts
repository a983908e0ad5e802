/**
 * `reprise review`: the desk. What waits for a person, one item with all that is known of it, take, answer, give back, export.
 */
import type { Command } from 'commander'
import { isRepriseError } from '../../failure/reprise-error.ts'
import { maskRecord, storeNow } from '../../ops/index.ts'
import type { Store } from '../../ports/store.ts'
import { createReviews, type Loss, type Reviews } from '../../review/index.ts'
import { clockTime } from '../../time/zone.ts'
import { CliError, usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { judgeBySchema } from '../judge-schema.ts'
import { durationOf, wholeNumberOf } from '../number-option.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { actorOf, zoneOf } from '../reader.ts'
import { runNamed } from '../run-argument.ts'
import { listVerdict, reviewLines, reviewTable } from '../screens/review-lines.ts'
import { shown, wrap } from '../terminal/text.ts'
import { type AnswerOptions, actOf, answerReview, lost } from './review-answer.ts'
import { exportGold } from './review-export.ts'

const VERBS = ['show', 'take', 'answer', 'give-back', 'export'] as const
type ReviewVerb = (typeof VERBS)[number]

const LIMIT_MAX = 1_000
const LEASE_MS = 15 * 60_000

export interface ReviewOptions extends AnswerOptions {
  readonly queue?: string
  readonly limit: number
  readonly by?: string
  readonly for: number
  readonly out?: string
  readonly task?: string
}

export const registerReview: Register = (program, frame) => {
  const command = program
    .command('review')
    .helpGroup('Operate')
    .summary('what waits for a person, and their answers')
    .description(
      'The desk: lists what waits for a person, the most urgent first. `show` tells all about one item, `take` keeps it from others, `answer` decides it, `give-back` lets it go, `export` writes decisions as gold cases.',
    )
    .argument('[verb]', '`show`, `take`, `answer`, `give-back` or `export`; without one, the list')
    .argument('[run]', 'an id (`r42`), `task/key`, or a key alone')
    .option('--queue <desk>', 'list: only this desk')
    .option('--limit <n>', 'list: at most so many', wholeNumberOf('--limit', 1, LIMIT_MAX), 30)
    .option('--by <name>', 'who does it; your login unless given')
    .option('--for <duration>', 'take: how long nobody else gets it', durationOf('--for'), LEASE_MS)
  addAnswerFlags(command)
    .option('--out <file>', 'export: write to a new file instead of stdout')
    .option('--task <name>', 'export: only runs of this task')
  command.options.find(({ long }) => long === '--for')?.default(LEASE_MS, '15m')
  withStoreFlags(command).action((verb: string | undefined, word: string | undefined, options: ReviewOptions) => {
    const asked = readVerb(verb, word)
    // Asked wrongly is told before the store is opened.
    const act = asked === 'answer' ? actOf(options) : undefined
    return withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
      const zone = zoneOf(frame.terminal().env)
      const reviews = createReviews({ store, judge: judgeBySchema, leaseMs: options.for, zone })
      const desk = { store, reviews, zone, frame, options }
      try {
        if (asked === undefined) await list(desk)
        else if (asked === 'export') await exportGold(reviews, options, frame)
        else if (word !== undefined) {
          const { id } = await runNamed(store, word)
          if (act) await answerReview(desk, id, act)
          else if (asked === 'show') await show(desk, id)
          else if (asked === 'take') await take(desk, id)
          else await giveBack(desk, id)
        }
      } catch (error) {
        if (isRepriseError(error) && error.code.startsWith('review.')) throw usageError(error.message)
        throw error
      }
    })
  })
  withNotes(command, [
    'An answer is judged by the stored schema at once: what it refuses stays at the desk, and nothing is written. The rest is judged by the application when the run goes on. Of two people one gets an item; the other is told who has it or decided it.',
  ])
  withExamples(command, [
    { line: 'reprise review --queue accounts', says: 'what waits at one desk' },
    { line: 'reprise review answer INV-20431 --accept', says: 'the draft is right as it is' },
    { line: 'reprise review answer r42 --edit', says: 'opens the draft in your editor' },
    { line: "reprise review answer r42 --back gemini:pro --hint 'the total is on page 2'", says: 'asks a rung again' },
    { line: 'reprise review export --out gold.jsonl', says: 'decisions as test cases' },
  ])
}

const addAnswerFlags = (command: Command): Command =>
  command
    .option('--accept', 'answer: the draft is right as it is')
    .option('--file <file>', 'answer: this JSON is right; `-` reads stdin')
    .option('--edit', 'answer: write it in $EDITOR, beginning with the draft')
    .option('--back [rung]', 'answer: send it back, to this rung if given')
    .option('--hint <text>', 'answer: what the next try should know')
    .option('--reject', 'answer: there is no right answer')
    .option('--reason <text>', 'answer: why it is rejected')
    .option('--expect <version>', 'take, answer: only if it is still the item that was shown')

export interface Desk {
  readonly store: Store
  readonly reviews: Reviews
  readonly zone: string
  readonly frame: Frame
  readonly options: ReviewOptions
}

function readVerb(verb: string | undefined, word: string | undefined): ReviewVerb | undefined {
  if (verb === undefined) return undefined
  const known = VERBS.find((each) => each === verb)
  if (known === undefined)
    throw usageError(`${shown(verb)} is not a verb of review.`, '`show`, `take`, `answer`, `give-back` or `export`.')
  if (known !== 'export' && word === undefined)
    throw usageError(`There is no run to ${known}.`, `\`reprise review ${known} r42\`; \`reprise review\` lists them.`)
  return known
}

async function list({ reviews, zone, frame, options }: Desk): Promise<void> {
  const { json, out, human, quiet } = frame.terminal()
  const { queue, limit } = options
  const found = await reviews.list({ limit, ...(queue === undefined ? {} : { queue }) })
  if (json) out.lines(...found.items.map((item) => jsonLine(maskRecord({ ...item, now: found.now }))))
  else if (found.items.length > 0) out.lines(...reviewTable(found, out, zone))
  if (!quiet) human.lines(...(json || found.items.length === 0 ? [] : ['']), human.text(listVerdict(found)))
}

async function show({ store, reviews, zone, frame }: Desk, run: string): Promise<void> {
  const { json, out } = frame.terminal()
  const item = await reviews.show(run)
  if (!item) throw await notInReview(store, run)
  const now = await storeNow(store)
  if (json) out.lines(jsonLine(maskRecord({ ...item, now })))
  else out.lines(...reviewLines(item, out, { now, zone }))
}

async function take({ store, reviews, zone, frame, options }: Desk, run: string): Promise<void> {
  const { json, out, human, env } = frame.terminal()
  const { expect: version } = options
  const by = actorOf(options.by, env)
  const taken = await reviews.take(run, { by, ...(version === undefined ? {} : { version }) })
  if (taken.answer === 'lost') return tellLoss(frame, run, taken)
  const { hand } = taken
  if (json) out.lines(jsonLine({ run, answer: 'ok', by, until: hand.until, version: hand.version }))
  const until = clockTime(hand.until, zone, await storeNow(store))
  const told = `${run} is in your hands until ${until}. Unanswered, it comes back by itself.`
  human.lines(...wrap(human.text(told), human.columns))
}

async function giveBack({ store, reviews, frame, options }: Desk, run: string): Promise<void> {
  const { json, out, human, env } = frame.terminal()
  const by = actorOf(options.by, env)
  const held = await reviews.show(run)
  if (!held) throw await notInReview(store, run)
  const isMine = held.taken?.by === by
  if (isMine) {
    // Taken again for its token, which belongs to whoever asked last.
    const taken = await reviews.take(run, { by })
    if (taken.answer === 'ok') await reviews.giveBack(taken.hand)
  } else frame.fail()
  if (json) out.lines(jsonLine({ run, by, givenBack: isMine }))
  human.lines(human.text(isMine ? `${run} is back at the desk.` : `${run} is not in the hands of ${by}.`))
}

function tellLoss(frame: Frame, run: string, loss: Loss): void {
  const { json, out } = frame.terminal()
  if (!json) throw lost(run, loss)
  out.lines(jsonLine({ run, ...loss }))
  frame.fail()
}

async function notInReview(store: Store, run: string): Promise<CliError> {
  const state = (await store.get({ id: run }))?.state ?? 'gone'
  return new CliError({
    code: 'REVIEW_NONE',
    message: `Run ${run} is not with a person.`,
    cause: `it is ${state}`,
    tryThis: `\`reprise show ${shown(run)}\` tells its story.`,
    exit: 1,
    touched: '',
  })
}
