/**
 * How the demonstration looks: the live block while it runs, one line per document of interest, and the table at the end.
 * It reads stories and writes lines; it starts nothing.
 */
import { formatDuration } from '../../time/duration.ts'
import { KIND_SIGNS, SECOND_TAKE, type Sign, STATE_SIGNS } from '../terminal/palette.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { cut, pad, widthOf } from '../terminal/text.ts'
import { OUTCOMES, type Outcome, type Story, sumOf, type Turn, waitedMs } from './story.ts'

const BAR_COLUMNS = 46
const NOW_LINES = 3

/** Each outcome's sign, its word while counting, and its word in the table. */
const LOOKS: Readonly<Record<Outcome, { readonly sign: Sign; readonly word: string }>> = {
  first: { sign: STATE_SIGNS.succeeded, word: 'first take' },
  waited: { sign: SECOND_TAKE, word: 'waited' },
  asked: { sign: SECOND_TAKE, word: 'asked again' },
  person: { sign: STATE_SIGNS.review, word: 'a person' },
  ended: { sign: STATE_SIGNS.failed, word: 'nothing' },
}

export function liveLines(stories: readonly Story[], elapsedMs: number, screen: Screen, columns: number): string[] {
  const { paint } = screen
  const done = stories.filter((story) => story.state === 'done').length
  const count = (...outcomes: readonly Outcome[]) =>
    stories.filter((story) => story.outcome && outcomes.includes(story.outcome)).length
  const calls = stories.reduce((sum, story) => sum + story.calls, 0)
  const waiting = stories.filter((story) => story.state === 'waiting').length
  const counts: readonly [Sign, string, number, string, string][] = [
    [STATE_SIGNS.succeeded, 'right first time', count('first'), 'calls', String(calls)],
    [SECOND_TAKE, 'second take', count('waited', 'asked'), 'waiting', String(waiting)],
    [STATE_SIGNS.review, 'with a person', count('person'), 'waited', formatDuration(waitedMs(stories))],
    [STATE_SIGNS.failed, 'failed', count('ended'), '', ''],
  ]
  return [
    '',
    `${bar(done / stories.length, Math.min(BAR_COLUMNS, columns - 30), screen)}  ${paint.bold(String(done))} of ${stories.length}   ${paint.dim(clock(elapsedMs))}`,
    '',
    ...counts.map(
      ([sign, word, number, label, figure]) =>
        `${screen.sign(sign)} ${pad(word, 17)}${pad(paint.bold(String(number)), 3, 'right')}     ${pad(label, 9)}${pad(paint.bold(figure), 8, 'right')}`,
    ),
    '',
    ...nowLines(stories, screen),
    '',
    paint.dim('Ctrl-C is safe: nothing is stored.'),
  ]
}

/** The height of the block stays the same, so that nothing below the bar moves. */
function nowLines(stories: readonly Story[], screen: Screen): string[] {
  const busy = stories.filter((story) => story.state === 'running' || story.state === 'waiting').slice(0, NOW_LINES)
  const lines = busy.map((story) => {
    const last = story.turns.at(-1)
    const state = screen.state(story.state === 'waiting' ? 'waiting' : 'running')
    return last ? `${state} ${story.document}  ${turnText(last, story, screen)}` : `${state} ${story.document}`
  })
  return [...lines, ...Array.from({ length: NOW_LINES - lines.length }, () => '')]
}

/** `~  transient     waits 2 s  The model is overloaded.` */
function turnText({ failure, waitMs }: Turn, story: Story, screen: Screen): string {
  const now = story.state === 'waiting' ? `waits ${formatDuration(waitMs)}` : `call ${story.calls}`
  return `${screen.kind(failure.kind)} ${pad(failure.kind, 12)}  ${now}  ${screen.paint.dim(screen.text(failure.message))}`
}

/** A finished document that took more than one call, or did not get right. */
export function finishedLine(story: Story, screen: Screen): string {
  const { outcome = 'first', turns, document } = story
  const last = turns.at(-1)
  const head = `${screen.sign(LOOKS[outcome].sign)} ${document}`
  if (!last) return head
  const { failure } = last
  const waited = turns.reduce((sum, turn) => sum + turn.waitMs, 0)
  const isTold = failure.retryAfterMs !== undefined
  const ends: Readonly<Record<Outcome, string>> = {
    first: 'right',
    waited: `waited ${formatDuration(waited)}${isTold ? ' as told' : ''}, then right`,
    asked: 'asked again with the error, then right',
    person: 'never asked twice: to a person',
    ended: 'a retry cannot help: ended',
  }
  const isSpent = turns.length > 1 && (outcome === 'person' || outcome === 'ended')
  const end = isSpent ? `${story.calls} calls, then ${outcome === 'person' ? 'to a person' : 'ended'}` : ends[outcome]
  const kind = `${screen.kind(failure.kind)} ${pad(failure.kind, 12)}`
  return cut(
    `${head}  ${kind}  ${end}  ${screen.paint.dim(screen.text(failure.code))}`,
    screen.columns,
    screen.ellipsis,
  )
}

export function endLines(stories: readonly Story[], elapsedMs: number, times: number, screen: Screen): string[] {
  const { paint } = screen
  const all = sumOf(stories)
  const rows = OUTCOMES.map((outcome) => [outcome, sumOf(stories, outcome)] as const).filter(
    ([, sum]) => sum.documents > 0,
  )
  const lines = table(
    screen,
    [
      { header: 'What it took' },
      { header: 'docs', align: 'right' },
      { header: 'calls', align: 'right' },
      { header: '', flexible: true },
    ],
    [
      ...rows.map(([outcome, sum]) => [
        LOOKS[outcome].word,
        paint.bold(String(sum.documents)),
        String(sum.calls),
        sum.kinds.map((kind) => `${screen.sign(KIND_SIGNS[kind])} ${paint.dim(kind)}`).join('  '),
      ]),
      ['', paint.bold(String(all.documents)), paint.bold(String(all.calls)), ''],
    ],
  )
  const ruler = (screen.ascii ? '-' : '─').repeat(widthOf('What it took  docs  calls'))
  return [
    `${screen.state('succeeded')} ${paint.bold(verdict(stories, elapsedMs))}`,
    '',
    ...lines.slice(0, -1),
    paint.dim(ruler),
    ...lines.slice(-1),
    '',
    paint.dim(
      `Simulated: answers are scripted, and ${formatDuration(waitedMs(stories))} of waiting passed ${times} times faster.`,
    ),
  ]
}

export function verdict(stories: readonly Story[], elapsedMs: number): string {
  const done = (...outcomes: readonly Outcome[]) =>
    stories.filter((story) => story.outcome && outcomes.includes(story.outcome)).length
  const right = done('first', 'waited', 'asked')
  const parts = [`${right} right`, `${done('person')} with a person`, `${done('ended')} failed`]
  return `${stories.length} invoices in ${formatDuration(Math.round(elapsedMs / 100) * 100)}: ${parts.join(', ')}`
}

export function nextLines(commands: readonly (readonly [string, string])[], screen: Screen): string[] {
  return [
    screen.paint.dim('Next'),
    ...table(
      screen,
      [{ header: '' }, { header: '', flexible: true }],
      commands.map(([line, says]) => [screen.paint.bold(line), says]),
      '  ',
    ),
  ]
}

function bar(share: number, columns: number, screen: Screen): string {
  const full = Math.round(share * columns)
  const [done, left] = screen.ascii ? ['=', '-'] : ['━', '─']
  return done.repeat(full) + screen.paint.dim(left.repeat(columns - full))
}

const clock = (ms: number) => {
  const seconds = Math.floor(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
