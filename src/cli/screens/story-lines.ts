/**
 * A run's story on a screen: headline, entries in time order with what was decided about each, the planned one, the bounds.
 * Every word of it comes from the story; this file finds columns for them.
 */
import { maskSecrets } from '../../failure/mask-secrets.ts'
import type { AttemptEntry, CallEntry, LedgerLine, Neighbour, Story, StoryEntry, TakeStory } from '../../ops/index.ts'
import type { LedgerName } from '../../policy/situation.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { definition } from '../terminal/definition.ts'
import { emphasise } from '../terminal/emphasis.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'
import type { Screen } from '../terminal/terminal.ts'
import { cut, pad, shown, widthOf, wrap } from '../terminal/text.ts'
import { stateCell } from './run-table.ts'

export interface StoryLinesOptions {
  readonly zone: string
  /** Every entry; else a long story keeps its start and its end. */
  readonly all: boolean
}

/** Longer stories fold in the middle. */
const ENTRIES_MAX = 24
const ENTRIES_AT_START = 8
const ENTRIES_AT_END = 12

/** Bodies are shown by their start; `--json` has the rest. */
const BODY_COLUMNS = 160

const LEDGER_WORDS: Readonly<Record<LedgerName, string>> = {
  errors: 'errors',
  rateWaits: 'rate waits',
  interruptions: 'interruptions',
  lapses: 'crashes',
  repairs: 'repairs',
  escalations: 'rung changes',
}

export function storyLines(story: Story, screen: Screen, options: StoryLinesOptions): string[] {
  const { run, word } = story
  const { paint } = screen
  const generation = run.generation > 1 ? paint.dim(`generation ${run.generation}`) : ''
  const names = [paint.bold(screen.text(run.id)), screen.text(run.task), screen.text(run.key ?? '')]
  const entries = entryLines(story, screen, options)
  return [
    [...names, stateCell(word, screen), generation].filter((part) => part !== '').join('  '),
    ...wrap(screen.text(story.headline), screen.columns),
    '',
    ...(entries.length > 0 ? [...entries, ''] : []),
    ...definition(screen, [...chips(story, screen), ...facts(story, options.zone)], ''),
    ...lastLine(story, screen),
  ]
}

/** One entry in columns: number, time, rung, sign and word, text; and below it what was decided. */
interface Row {
  readonly number: string
  readonly time: string
  readonly rung: string
  readonly word: string
  readonly text: string
  readonly below?: string
  readonly isDim: boolean
}

function entryLines(story: Story, screen: Screen, { zone, all }: StoryLinesOptions): string[] {
  const time = (at: number) => screen.text(clockTime(at, zone, story.now))
  const rows = story.entries.map((entry) => rowOf(entry, screen, time))
  const isFolded = !all && rows.length > ENTRIES_MAX
  const kept = isFolded ? [...rows.slice(0, ENTRIES_AT_START), ...rows.slice(-ENTRIES_AT_END)] : rows
  const next = story.next && story.word !== 'running' ? [nextRow(story, story.next, screen, time)] : []
  const laidOut = layOut([...kept, ...next], screen)
  if (isFolded) {
    const more = `${screen.ellipsis} ${rows.length - kept.length} more; --all shows them`
    laidOut.splice(ENTRIES_AT_START, 0, [screen.paint.dim(` ${more}`)])
  }
  return laidOut.flat()
}

function rowOf(entry: StoryEntry, screen: Screen, time: (at: number) => string): Row {
  const common = { number: '', time: time(entry.at), rung: '', word: '', isDim: true }
  switch (entry.type) {
    case 'attempt':
      return attemptRow(entry, screen, time)
    case 'call':
      return entry.take ? takeRow(entry, entry.take, screen, common.time) : { ...common, text: callText(entry) }
    case 'join': {
      const how =
        entry.answeredAt === undefined
          ? 'its children are under way'
          : `its children had ended by ${time(entry.answeredAt)}`
      return { ...common, text: `join ${shown(entry.name)}, ${how}` }
    }
    case 'question': {
      const how = entry.answeredAt === undefined ? 'not answered yet' : `answered at ${time(entry.answeredAt)}`
      return { ...common, text: `question ${shown(entry.name)}, ${how}` }
    }
    case 'sleep':
      return { ...common, text: `sleep ${shown(entry.name)} until ${time(entry.until)}` }
    default:
      return { ...common, text: entry.sentence, isDim: entry.type === 'note' }
  }
}

function attemptRow(entry: AttemptEntry, screen: Screen, time: (at: number) => string): Row {
  const { failure, outcome, sentence } = entry
  const common = {
    number: String(entry.attempt),
    time: time(entry.at),
    rung: screen.text(entry.rung ?? ''),
    isDim: false,
  }
  if (failure) {
    const text = `${failure.message} (${failure.code})`
    return {
      ...common,
      word: `${screen.kind(failure.kind)} ${failure.kind}`,
      text,
      ...(sentence ? { below: sentence } : {}),
    }
  }
  const signs = { succeeded: 'succeeded', running: 'running', suspended: 'waiting', cancelled: 'cancelled' } as const
  const known = outcome in signs ? screen.sign(STATE_SIGNS[signs[outcome as keyof typeof signs]]) : ''
  const sign = known === '' ? screen.kind('interrupted') : pad(known, widthOf(screen.kind('interrupted')))
  const worker = outcome === 'running' ? `on ${entry.worker ?? 'a worker'}` : ''
  return { ...common, word: `${sign} ${outcome}`, text: [worker, sentence].filter(Boolean).join(' ') }
}

/** One answer of a model: who, what was wrong with it, what was done next. */
function takeRow(entry: CallEntry, take: TakeStory, screen: Screen, time: string): Row {
  const { verdict, issue, more = 0, next } = take
  const width = widthOf(screen.kind('final'))
  const word =
    verdict === undefined
      ? 'answered'
      : verdict === 'right'
        ? `${pad(screen.state('succeeded'), width)} right`
        : `${screen.kind(verdict)} ${verdict}`
  const facts = [
    entry.answeredAt === undefined ? '' : formatDuration(Math.max(0, entry.answeredAt - entry.at)),
    entry.takes > 1 ? `${entry.takes} tries in the call` : '',
    entry.costUsd === undefined ? '' : money(entry.costUsd),
  ].filter((fact) => fact !== '')
  const what = issue ? `${[issue.path, issue.message].filter(Boolean).join(' ')} (${issue.code})` : ''
  const others = more > 0 ? ` and ${more} more` : ''
  return {
    number: '',
    time,
    rung: screen.text(take.rung),
    word,
    text: `${what}${others}${what === '' ? '' : '; '}${facts.join(', ')}`,
    ...(next === undefined ? {} : { below: next }),
    isDim: false,
  }
}

function callText({
  name,
  takes,
  result,
  late,
  answeredAt,
  at,
  costUsd,
  failure,
}: Extract<StoryEntry, { type: 'call' }>): string {
  const how = {
    answered: `answered${answeredAt === undefined ? '' : ` in ${formatDuration(Math.max(0, answeredAt - at))}`}`,
    failed: `failed: ${failure?.message ?? ''} (${failure?.code ?? ''})`,
    open: 'sent, not answered',
  }[result]
  const parts = [
    how,
    late ? 'after its lease: a receipt' : '',
    takes === 1 ? '' : `${takes} takes`,
    costUsd === undefined ? '' : money(costUsd),
  ]
  return `call ${shown(name)} ${parts.filter((part) => part !== '').join(', ')}`
}

function nextRow(story: Story, next: NonNullable<Story['next']>, screen: Screen, time: (at: number) => string): Row {
  const sign = pad(screen.ascii ? '...' : '┄', widthOf(screen.kind('final')))
  const at = next.at === undefined ? 'at once' : time(next.at)
  const rung = story.next?.plan?.steps[0]?.rung ?? ''
  return {
    number: String(next.attempt),
    time: at,
    rung: screen.text(rung),
    word: `${sign} next`,
    text: next.sentence,
    isDim: true,
  }
}

/** Columns as wide as their widest cell; texts wrap under themselves. One list of lines per row. */
function layOut(rows: readonly Row[], screen: Screen): string[][] {
  const { paint } = screen
  const width = (cell: (row: Row) => string) => Math.max(0, ...rows.map((row) => widthOf(cell(row))))
  const [numbers, times, rungs, words] = [
    Math.max(
      2,
      width((row) => row.number),
    ),
    width((row) => row.time),
    width((row) => row.rung),
    // Notes and calls have no word; their text begins where the words do.
    width((row) => row.word),
  ]
  return rows.map((row) => {
    const head = [
      pad(row.number, numbers, 'right'),
      pad(row.time, times),
      ...(rungs > 0 ? [pad(row.rung, rungs)] : []),
    ].join('  ')
    const wordStart = widthOf(head) + 2
    const hasWord = row.word !== ''
    const textStart = hasWord ? wordStart + words + 2 : wordStart
    const [first = '', ...rest] = wrap(screen.text(row.text), screen.columns - textStart)
    const lines = [
      `${head}  ${hasWord ? `${pad(row.word, words)}  ` : ''}${first}`.trimEnd(),
      ...rest.map((line) => ' '.repeat(textStart) + line),
    ]
    const below = row.below === undefined ? [] : wrap(screen.text(`→ ${row.below}`), screen.columns - wordStart - 2)
    return [
      ...lines.map((line) => (row.isDim ? paint.dim(line) : line)),
      ...below.map((line, index) => ' '.repeat(wordStart + (index === 0 ? 0 : 2)) + paint.dim(line)),
    ]
  })
}

/** More neighbours than these are told by their number; `--json` has all. */
const CHIPS_MAX = 12

/** Where it stands: its flow and step, what it needs and what needs it, each with the sign of its state. */
function chips({ run, place }: Story, screen: Screen): [string, string][] {
  if (!place) return []
  const row = (label: string, neighbours: readonly Neighbour[]): [string, string][] => {
    if (neighbours.length === 0) return []
    const told = neighbours
      .slice(0, CHIPS_MAX)
      .map(({ name, state }) => `${screen.ascii ? STATE_SIGNS[state].ascii : STATE_SIGNS[state].glyph} ${shown(name)}`)
    const more = neighbours.length - told.length
    return [[label, [...told, ...(more > 0 ? [`${screen.ellipsis} ${more} more`] : [])].join(', ')]]
  }
  const flow: [string, string][] =
    place.flow === undefined
      ? []
      : [['flow', `${shown(place.flow)} (${shown(run.flow ?? '')}), step ${shown(run.step ?? '')}`]]
  return [...flow, ...row('needs', place.needs), ...row('needed by', place.dependents)]
}

function facts({ run, ledgers, policy, now }: Story, zone: string): [string, string][] {
  const spoken = (at: number) => clockTime(at, zone, now)
  const body = (text: string) => cut(maskSecrets(text), BODY_COLUMNS)
  return [
    ['bounds', `${ledgers.slice(0, 3).map(ledgerText).join(', ')},\n${ledgers.slice(3).map(ledgerText).join(', ')}`],
    ...(policy === undefined ? [] : [['policy', policy] as [string, string]]),
    ['submitted', `${spoken(run.submittedAt)}, ${formatDuration(Math.max(0, now - run.submittedAt))} ago`],
    ...(run.finishedAt === undefined ? [] : [['ended', spoken(run.finishedAt)] as [string, string]]),
    ...(run.deadlineAt === undefined ? [] : [['deadline', spoken(run.deadlineAt)] as [string, string]]),
    ['input', body(run.input)],
    ...(run.output === undefined ? [] : [['output', body(run.output)] as [string, string]]),
  ]
}

function ledgerText({ name, used, max }: LedgerLine): string {
  return `${LEDGER_WORDS[name]} ${used}${max === undefined ? '' : ` of ${max}`}`
}

function lastLine({ run, takes, entries, word }: Story, screen: Screen): string[] {
  const requests = `${takes} ${takes === 1 ? 'request' : 'requests'}`
  const spent = takes === 0 ? [] : [run.costUsd > 0 ? `${money(run.costUsd)} spent in ${requests}.` : `${requests}.`]
  const last = entries.findLast((entry) => entry.type === 'attempt' && entry.failure !== undefined)
  const explain =
    last?.type === 'attempt'
      ? [`\`reprise explain ${shown(run.id)} ${last.attempt}\` recomputes why ${last.attempt}.`]
      : []
  const desk =
    word === 'review' ? [`\`reprise review show ${shown(run.id)}\` tells what is asked and how to answer it.`] : []
  const sentence = [...spent, ...explain, ...desk].join(' ')
  if (sentence === '') return []
  return ['', ...emphasise(wrap(screen.text(sentence), screen.columns), screen)]
}

/** Four digits for one run. */
const money = (usd: number) => `$${usd.toFixed(4)}`
