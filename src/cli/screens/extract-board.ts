/**
 * What an extraction is doing, learnt from the engine's events: counts, money, what happens now, and a line for each document that took
 * more than one take. It speaks of what was seen here; the account at the end is read from the store.
 */
import type { Account, AlwaysStrongest, Recourse } from '../../extract/index.ts'
import type { Kind } from '../../failure/failure.ts'
import type { EventOf, RepriseEvent } from '../../run/event.ts'
import { heldName } from '../../run/hold-events.ts'
import { REFUSAL_KINDS } from '../../run/ladder-events.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { KIND_SIGNS, SECOND_TAKE, type Sign, STATE_SIGNS } from '../terminal/palette.ts'
import type { Screen } from '../terminal/terminal.ts'
import { cut, pad, widthOf } from '../terminal/text.ts'

/** What is known of one document. */
export interface Progress {
  readonly name: string
  outcome: Account['outcome']
  recourse?: Recourse
  isRunning: boolean
  calls: number
  hidden: number
  usd: number
  readonly kinds: Set<Kind>
  /** Of the last thing that went wrong, and what is done about it. */
  kind?: Kind
  code?: string
  now?: string
  /** How it left its last rung, and for which. */
  left?: Pick<EventOf<'rung.left'>, 'reason' | 'to'>
  waitedMs: number
  isTold: boolean
  hadImage: boolean
  reason?: string
}

export interface ExtractBoard {
  /** A document of this run; `account` when its run was there before. */
  add(run: string, name: string, account?: Account): void
  /** Takes an event in. Answers with the document that it ended, if it did. */
  hear(event: RepriseEvent): Progress | undefined
  documents(): readonly Progress[]
  /** What went wrong with each run, as far as it was seen here. */
  kinds(): ReadonlyMap<string, ReadonlySet<Kind>>
  /** Sends of this process by rung. */
  readonly asked: ReadonlyMap<string, number>
  readonly holds: ReadonlyMap<string, number | undefined>
  readonly running: number
  /** How much of it is over, 0 to 1. Asked at every event, so it is counted and not computed. */
  readonly share: number
}

export function createExtractBoard(): ExtractBoard {
  const documents = new Map<string, Progress>()
  const asked = new Map<string, number>()
  const holds = new Map<string, number | undefined>()
  let done = 0

  return {
    asked,
    holds,
    get running() {
      return [...documents.values()].filter(({ isRunning }) => isRunning).length
    },
    get share() {
      return done / Math.max(1, documents.size)
    },
    documents: () => [...documents.values()],
    kinds: () => new Map([...documents].map(([run, { kinds }]) => [run, kinds])),
    add(run, name, account) {
      if (documents.has(run)) return
      if (account && account.outcome !== 'open') done += 1
      documents.set(run, {
        name,
        outcome: account?.outcome ?? 'open',
        ...(account?.recourse === undefined ? {} : { recourse: account.recourse }),
        isRunning: false,
        calls: account?.calls ?? 0,
        hidden: account?.hidden ?? 0,
        usd: account?.usd ?? 0,
        kinds: new Set(account?.kinds),
        waitedMs: 0,
        isTold: false,
        hadImage: false,
      })
    },
    hear(event) {
      if (event.name === 'hold.set') holds.set(event.what, event.until)
      if (event.name === 'hold.released') holds.delete(event.what)
      const document = 'run' in event && event.run !== undefined ? documents.get(event.run) : undefined
      if (!document) return undefined
      if (event.name === 'call.sent') count(asked, event.call.replace(/^.*\//, '').replace(/\.\d+$/, ''))
      const wasOpen = document.outcome === 'open'
      const isOver = heard(document, event)
      done += Number(wasOpen) - Number(document.outcome === 'open')
      return isOver ? document : undefined
    },
  }
}

const count = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)

/** True when the event ends the document, for now or for good. */
function heard(document: Progress, event: RepriseEvent): boolean {
  switch (event.name) {
    case 'attempt.started':
      document.isRunning = true
      document.outcome = 'open'
      return false
    case 'call.sent':
      document.calls += 1
      return false
    case 'call.answered':
      document.usd += event.costUsd ?? 0
      return false
    case 'call.repeated':
      wrong(document, event.failure.kind, event.code)
      document.hidden += 1
      document.waitedMs += event.delayMs
      document.isTold = event.failure.retryAfterMs !== undefined
      document.now = `waits ${formatDuration(event.delayMs)}${document.isTold ? ' as told' : ''}, then the same again`
      return false
    case 'model.asked':
      document.hadImage ||= event.image
      if (event.how === 'correct')
        document.now = `asked again with the error${event.image ? ' and the image' : ''}: repair ${event.take - 1} of ${event.takesMax - 1}`
      else if (event.how === 'climb') document.now = `next rung: ${event.rung} is asked`
      return false
    case 'answer.repaired':
      wrong(document, 'syntax', 'answer.syntax')
      return false
    case 'answer.refused':
      wrong(document, REFUSAL_KINDS[event.how], event.codes[0])
      return false
    case 'rung.left':
      document.left = event
      document.now = `${LEFT[event.reason] ?? ''}next: ${event.to}`
      return false
    case 'ask.ended':
      document.recourse = event.solvedBy === 'first' && document.hidden > 0 ? 'waited' : SOLVED[event.solvedBy]
      return false
    case 'attempt.retried':
      wrong(document, event.failure.kind, event.failure.code)
      document.isRunning = false
      document.hidden += 1
      document.waitedMs += event.delayMs
      document.now = `attempt ${event.attempt + 1} in ${formatDuration(event.delayMs)}`
      return false
    case 'run.suspended':
    case 'run.interrupted':
    case 'lease.lost':
      document.isRunning = false
      return false
    case 'run.succeeded':
      return over(document, 'right')
    case 'run.failed':
      wrong(document, event.failure.kind, event.failure.code)
      document.reason = event.failure.message
      document.recourse = 'nothing'
      return over(document, 'failed')
    case 'run.review':
      if (event.failure) wrong(document, event.failure.kind, event.failure.code)
      document.recourse = 'person'
      return over(document, 'person')
    default:
      return false
  }
}

function over(document: Progress, outcome: Progress['outcome']): true {
  document.isRunning = false
  document.outcome = outcome
  return true
}

function wrong(document: Progress, kind: Kind, code: string | undefined): void {
  document.kinds.add(kind)
  document.kind = kind
  if (code !== undefined) document.code = code
}

const SOLVED: Readonly<Record<EventOf<'ask.ended'>['solvedBy'], Recourse>> = {
  first: 'first',
  repair: 'repaired',
  correction: 'asked',
  rung: 'stronger',
  person: 'person',
  nobody: 'nothing',
}

const LEFT: Readonly<Partial<Record<EventOf<'rung.left'>['reason'], string>>> = {
  no_progress: 'same answer twice, ',
  spent: 'all takes used, ',
  refused: 'never asked twice, ',
  exhausted: 'budget used up, ',
}

export interface BoardFacts {
  readonly elapsedMs: number
  /** Documents that were over when this process began. */
  readonly before: number
  /** About what the strongest model would have cost so far. */
  readonly always?: AlwaysStrongest
  readonly budget?: { readonly name: string; readonly used: number; readonly limit?: number }
  readonly now: number
  readonly zone: string
  readonly foot: string
}

const BAR_COLUMNS = 46
const NOW_LINES = 3

/** The block at the bottom of a terminal. Its height stays the same, so that nothing below the bar moves. */
export function boardLines(board: ExtractBoard, facts: BoardFacts, screen: Screen, columns: number): string[] {
  const { paint } = screen
  const all = board.documents()
  const done = all.filter(({ outcome }) => outcome !== 'open').length
  const is = (test: (document: Progress) => boolean) => all.filter(test).length
  const sum = (figure: (document: Progress) => number) => all.reduce((total, each) => total + figure(each), 0)
  const first = is(({ outcome, recourse }) => outcome === 'right' && recourse === 'first')
  const { budget, always } = facts
  const rungs = [...board.asked].map(([rung, times]) => `${shortRung(rung)} ${times}`).join(', ')
  const rows: readonly [Sign, string, number, string, string, string][] = [
    [STATE_SIGNS.succeeded, 'right first time', first, 'calls', String(sum(({ calls }) => calls)), rungs],
    [
      SECOND_TAKE,
      'second take',
      is(({ outcome }) => outcome === 'right') - first,
      'spent',
      usdText(sum(({ usd }) => usd)),
      always === undefined ? '' : `always ${shortRung(always.rung)}: about ${usdText(always.usd)}`,
    ],
    [
      STATE_SIGNS.review,
      'with a person',
      is(({ outcome }) => outcome === 'person'),
      budget ? `${budget.name} budget` : '',
      budget ? String(budget.used) : '',
      budget?.limit === undefined ? '' : `of ${budget.limit} today`,
    ],
    [
      STATE_SIGNS.failed,
      'failed',
      is(({ outcome }) => outcome === 'failed'),
      'hidden tries',
      String(sum(({ hidden }) => hidden)),
      'inside calls',
    ],
  ]
  const left = leftText(done, all.length, facts)
  const columnsOfBar = Math.max(10, Math.min(BAR_COLUMNS, columns - 32))
  return [
    '',
    `${bar(done / Math.max(1, all.length), columnsOfBar, screen)}  ${paint.bold(String(done))} of ${all.length}   ${paint.dim(`${clock(facts.elapsedMs)}${left}`)}`,
    '',
    ...rows.map(
      ([sign, word, number, label, figure, note]) =>
        `${screen.sign(sign)} ${pad(word, 17)}${pad(paint.bold(String(number)), 3, 'right')}     ${pad(label, 12)}${pad(paint.bold(figure), 8, 'right')}  ${paint.dim(note)}`,
    ),
    '',
    ...nowLines(board, facts, screen),
    '',
    paint.dim(facts.foot),
  ]
}

function nowLines({ documents, holds }: ExtractBoard, { now, zone }: BoardFacts, screen: Screen): string[] {
  const [held] = [...holds].filter(([, until]) => until === undefined || until > now)
  const waiting = documents().filter(({ outcome, isRunning }) => outcome === 'open' && !isRunning).length
  const hold = held
    ? [
        `${screen.sign(KIND_SIGNS.rate_limited)} ${waiting} wait for ${heldName(held[0])}${held[1] === undefined ? '' : ` until ${clockTime(held[1], zone, now)}`}`,
      ]
    : []
  const busy = documents().filter(({ isRunning }) => isRunning)
  // What is in trouble is worth a line before what is not.
  const named = [...busy.filter(({ kind }) => kind), ...busy.filter(({ kind }) => !kind)]
  const lines = named.slice(0, NOW_LINES - hold.length).map(({ name, kind, code, now: act }) => {
    const head = `${screen.state('running')} ${screen.text(name)}`
    if (!kind) return `${head}  ${screen.paint.dim('asked')}`
    return `${head}  ${screen.kind(kind)} ${screen.text([code, act].filter(Boolean).join(': '))}`
  })
  return [...lines, ...hold, ...Array.from({ length: NOW_LINES - lines.length - hold.length }, () => '')]
}

/** A document that took more than one take, or has no answer: one line that stays. */
export function finishedLine(document: Progress, screen: Screen): string {
  const { name, outcome, recourse = 'first', kind, code } = document
  const sign = outcome === 'person' ? STATE_SIGNS.review : outcome === 'failed' ? STATE_SIGNS.failed : SECOND_TAKE
  const head = `${screen.sign(sign)} ${screen.paint.bold(screen.text(name))}`
  const what = kind ? `${screen.kind(kind)} ${pad(kind, 12)}  ` : ''
  const line = `${head}  ${what}${screen.text(endOf(document, recourse))}`
  const hint = code === undefined ? '' : `  ${screen.paint.dim(screen.text(code))}`
  // Half a code tells nobody anything.
  const fits = widthOf(line) + widthOf(hint) < screen.window
  return cut(`${line}${fits ? hint : ''}`, screen.window - 1, screen.ellipsis)
}

function endOf(document: Progress, recourse: Recourse): string {
  const { outcome, left, waitedMs, isTold, hadImage, reason } = document
  const why = left ? (LEFT[left.reason] ?? '') : ''
  if (outcome === 'failed') return reason ?? 'no answer'
  if (outcome === 'person') return `${why}a person decides`
  switch (recourse) {
    case 'first':
      return 'right'
    case 'waited':
      return `waited ${formatDuration(waitedMs)}${isTold ? ' as told' : ''}, then right`
    case 'repaired':
      return 'repaired here without a call, right'
    case 'asked':
      return `asked again with the error${hadImage ? ' and the image' : ''}, right`
    case 'stronger':
      return `${why}${left?.to ?? 'the next rung'}: right`
    default:
      return 'answered by a person, right'
  }
}

/** The same in one line, for logs. */
export function boardSummary(board: ExtractBoard): string {
  const all = board.documents()
  const is = (test: (document: Progress) => boolean) => all.filter(test).length
  const done = is(({ outcome }) => outcome !== 'open')
  const calls = all.reduce((sum, each) => sum + each.calls, 0)
  const usd = all.reduce((sum, each) => sum + each.usd, 0)
  const parts = [
    `${is(({ outcome }) => outcome === 'right')} right`,
    `${is(({ outcome }) => outcome === 'person')} with a person`,
    `${is(({ outcome }) => outcome === 'failed')} failed`,
  ]
  return `${done} of ${all.length}: ${parts.join(', ')}; ${calls} calls, ${usdText(usd)}`
}

/** Told once there is enough to go by. */
function leftText(done: number, all: number, { before, elapsedMs }: BoardFacts): string {
  const here = done - before
  if (here < 4 || elapsedMs < 3_000 || done === all) return ''
  return `, about ${formatDuration(Math.ceil(((elapsedMs / here) * (all - done)) / 1_000) * 1_000)} left`
}

/** Three places: one answer of a cheap model costs less than a cent. */
export const usdText = (usd: number): string => `$${usd.toFixed(3)}`

/** `gemini:flash` beside its like is `flash`. */
export const shortRung = (rung: string): string => rung.slice(rung.indexOf(':') + 1)

function bar(share: number, columns: number, screen: Screen): string {
  const full = Math.round(share * columns)
  const [done, left] = screen.ascii ? ['=', '-'] : ['━', '─']
  return done.repeat(full) + screen.paint.dim(left.repeat(columns - full))
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
