/**
 * The desk on a terminal: the list by urgency, and one item with what is wrong, what was answered, and how to decide.
 * Words of documents and models are shown as plain text, never obeyed.
 */
import { maskSecrets } from '../../failure/mask-secrets.ts'
import type { ReviewDetail, ReviewItem, ReviewList } from '../../review/index.ts'
import type { Question, RungAnswer } from '../../run/question.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { definition } from '../terminal/definition.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { cut, pad, shown, wrap } from '../terminal/text.ts'

/** Enough to recognise a document by; all of it is in `--json`. */
const BODY_LINES_MAX = 40
const VALUE_COLUMNS_MAX = 4_000
const ISSUES_SHOWN = 20

export function reviewTable({ now, items }: ReviewList, screen: Screen, zone: string): string[] {
  return table(
    screen,
    [
      { header: 'run' },
      { header: 'desk' },
      { header: 'due' },
      { header: 'title' },
      { header: 'in hand', droppable: true },
      { header: 'why', flexible: true },
    ],
    items.map((item) => [
      `${screen.state('review')} ${screen.text(item.run)}`,
      screen.text(item.queue),
      dueText(item, now, zone),
      cut(screen.text(item.title), 30, screen.ellipsis),
      item.taken ? screen.text(item.taken.by) : '',
      screen.text(item.reason),
    ]),
  )
}

export function listVerdict({ items, total, overdue }: ReviewList): string {
  if (total === 0) return 'Nobody waits for a person.'
  const late = overdue === 0 ? '' : ` ${overdue} ${overdue === 1 ? 'is' : 'are'} overdue.`
  const some = items.length < total ? ` The ${items.length} most urgent are shown.` : ''
  return `${total} ${total === 1 ? 'run waits' : 'runs wait'} for a person.${late}${some}`
}

function dueText({ dueAt, overdue }: ReviewItem, now: number, zone: string): string {
  if (dueAt === undefined) return '–'
  const time = clockTime(dueAt, zone, now)
  return overdue ? `overdue since ${time}` : `${time}, in ${formatDuration(dueAt - now)}`
}

export function reviewLines(
  item: ReviewDetail,
  screen: Screen,
  { now, zone }: { now: number; zone: string },
): string[] {
  const { paint } = screen
  const { question } = item
  const head = [paint.bold(screen.text(item.run)), screen.text(item.task), screen.text(item.key ?? '')]
  return [
    [...head.filter((part) => part !== ''), `${screen.state('review')} review`].join('  '),
    ...wrap(screen.text(`${item.title}: ${item.reason}`), screen.columns),
    '',
    ...definition(screen, factsOf(item, now, zone), ''),
    ...(question?.draft === undefined ? [] : ['', ...bodyLines('draft', draftLines(question.draft), screen)]),
    ...(question?.answers?.length ? ['', ...answerTable(question.answers, screen)] : []),
    ...(question?.document?.text === undefined
      ? []
      : ['', ...bodyLines('document', wrap(screen.block(question.document.text), screen.columns - 2), screen)]),
    '',
    ...howTo(item, screen),
  ]
}

function factsOf(item: ReviewDetail, now: number, zone: string): [string, string][] {
  const { question, asked, taken, failure } = item
  const { document } = question ?? {}
  const fact = (label: string, value: string | undefined): [string, string][] =>
    value === undefined ? [] : [[label, value]]
  const { issues = [] } = question ?? {}
  const wrong = issues
    .slice(0, ISSUES_SHOWN)
    .map(({ path, code, message }) => `${path === '' ? 'all of it' : path} ${message} (${code})`)
  if (issues.length > wrong.length) wrong.push(`and ${issues.length - wrong.length} more`)
  return [
    ['desk', item.queue],
    ['due', dueText(item, now, zone)],
    ['waits', `since ${clockTime(item.since, zone, now)}, ${formatDuration(Math.max(0, now - item.since))}`],
    ...fact('in hand', taken && `${taken.by}, until ${clockTime(taken.until, zone, now)}`),
    ...fact('asked', asked && `${asked.name}${asked.round > 1 ? `, round ${asked.round}` : ''}`),
    ...fact('failure', failure && `${failure.message} (${failure.code})`),
    ...fact('wrong', wrong.length === 0 ? undefined : wrong.join('\n')),
    ...fact('hint', question?.hint),
    ...fact('input', valueText(item.input)),
    ...fact('document', document && documentFact(document)),
    ...fact('rungs', item.rungs.length === 0 ? undefined : item.rungs.join(', ')),
    ['version', item.version],
  ]
}

const documentFact = ({ uri, mediaType, sha256 }: NonNullable<Question['document']>): string =>
  [uri, mediaType, sha256 === undefined ? undefined : `sha256 ${sha256}`].filter(Boolean).join(', ') || 'below'

const valueText = (value: unknown): string => cut(maskSecrets(JSON.stringify(value) ?? 'undefined'), VALUE_COLUMNS_MAX)

const draftLines = (draft: unknown): string[] => (JSON.stringify(draft, null, 2) ?? '').split('\n')

/** Only the fields that differ: where all rungs agree there is nothing to see. */
function answerTable(answers: readonly RungAnswer[], screen: Screen): string[] {
  const columns = answers.map(({ rung, take }) => `${rung} ${take}`)
  const fields = answers.map(fieldsOf)
  const names = [...new Set(fields.flatMap((each) => [...each.keys()]))]
  const differing = names.filter(
    (name) => new Set(fields.map((each) => each.get(name))).size > 1 || fields.length === 1,
  )
  if (differing.length === 0) return [screen.paint.dim(`All ${answers.length} answers agree.`)]
  const room = Math.max(8, Math.floor((screen.columns - 16) / columns.length) - 2)
  const cell = (text: string | undefined) => cut(screen.text(maskSecrets(text ?? '–')), room, screen.ellipsis)
  return table(
    screen,
    [{ header: 'differs' }, ...columns.map((name) => ({ header: cut(screen.text(name), room, screen.ellipsis) }))],
    differing.map((name) => [
      cut(screen.text(name), 14, screen.ellipsis),
      ...fields.map((each) => cell(each.get(name))),
    ]),
  )
}

function fieldsOf({ value, text }: RungAnswer): Map<string, string> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return new Map(Object.entries(value).map(([name, field]) => [name, JSON.stringify(field)]))
  return new Map([['answer', value === undefined ? (text ?? '') : JSON.stringify(value)]])
}

/** Text as text: each line as it is, cut where the window ends, and no more of them than a screen or two. */
function bodyLines(label: string, lines: readonly string[], screen: Screen): string[] {
  const more = lines.length - BODY_LINES_MAX
  const told = (line: string) => cut(screen.block(maskSecrets(line)), screen.columns - 2, screen.ellipsis)
  return [
    screen.paint.dim(label),
    ...lines.slice(0, BODY_LINES_MAX).map((line) => `  ${told(line)}`.trimEnd()),
    ...(more > 0 ? [screen.paint.dim(`  ${screen.ellipsis} ${more} more lines; --json has all`)] : []),
  ]
}

/** What can be typed next, each on a line of its own to be copied. */
function howTo({ run, question, rungs }: ReviewDetail, screen: Screen): string[] {
  const rung = rungs.at(-1)
  const ways: readonly (readonly [string, string])[] = [
    ...(question?.draft === undefined ? [] : [['accept', '--accept'] as const]),
    [question ? 'correct' : 'result', '--edit'],
    ['send back', `${rung === undefined ? '--back' : `--back ${shown(rung)}`} --hint '…'`],
    ['reject', "--reject --reason '…'"],
  ]
  return ways.map(([word, flags]) => {
    const line = screen.text(`reprise review answer ${shown(run)} ${flags}`)
    return cut(`${pad(screen.paint.dim(word), 11)}${screen.paint.bold(line)}`, screen.window, screen.ellipsis)
  })
}
