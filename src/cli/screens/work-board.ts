/**
 * What a worker is doing, learnt from its events: counts, what runs now, and the lines of the live block.
 * It speaks of this process only; the whole store is `stats`' affair.
 */
import { type RepriseEvent, sentenceOf } from '../../run/event.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { KIND_SIGNS, type Sign, STATE_SIGNS } from '../terminal/palette.ts'
import type { Screen } from '../terminal/terminal.ts'
import { cut, pad, widthOf } from '../terminal/text.ts'

/** Runs that are shown by name; the others are in the count. */
const NOW_LINES = 3

interface Running {
  readonly task: string
  readonly key: string | undefined
  readonly attempt: number
  readonly since: number
  progress?: string
}

export interface WorkBoard {
  hear(event: RepriseEvent): void
  readonly running: number
  /** The block at the bottom of a terminal, with one sentence at its foot. */
  lines(screen: Screen, now: number, foot: string): string[]
  /** The same in one line, for logs and for the end. */
  summary(): string
}

export function createWorkBoard(): WorkBoard {
  const running = new Map<string, Running>()
  /** Put off by this worker and not begun again since. */
  const waiting = new Set<string>()
  const ended = { done: 0, failed: 0, review: 0 }
  let trouble: RepriseEvent | undefined

  const over = (run: string, waits: boolean) => {
    running.delete(run)
    if (waits) waiting.add(run)
    else waiting.delete(run)
  }

  const hear = (event: RepriseEvent) => {
    switch (event.name) {
      case 'attempt.started':
        waiting.delete(event.run)
        running.set(event.run, { task: event.task, key: event.key, attempt: event.attempt, since: event.at })
        break
      case 'progress': {
        const found = running.get(event.run)
        const of = event.of === undefined ? '' : ` of ${event.of}`
        if (found) found.progress = `${event.done}${of}${event.note === undefined ? '' : ` ${event.note}`}`
        break
      }
      case 'run.succeeded':
        over(event.run, false)
        ended.done += 1
        break
      case 'run.failed':
        over(event.run, false)
        ended.failed += 1
        break
      case 'run.review':
        over(event.run, false)
        ended.review += 1
        break
      case 'attempt.retried':
      case 'run.suspended':
      case 'run.interrupted':
      case 'run.escalated':
        over(event.run, true)
        break
      case 'lease.lost':
      case 'write.refused':
        over(event.run, false)
        break
      case 'store.trouble':
        trouble = event
        break
      case 'store.recovered':
        trouble = undefined
    }
  }

  const counts = (): readonly (readonly [Sign, number, string])[] => [
    [STATE_SIGNS.running, running.size, 'running'],
    [STATE_SIGNS.waiting, waiting.size, 'waiting'],
    [STATE_SIGNS.succeeded, ended.done, 'done'],
    [STATE_SIGNS.failed, ended.failed, 'failed'],
    ...(ended.review > 0 ? [[STATE_SIGNS.review, ended.review, 'with a person'] as const] : []),
  ]

  return {
    hear,
    get running() {
      return running.size
    },
    lines(screen, now, foot) {
      const named = [...running].slice(0, NOW_LINES).map(([run, each]) => runningLine(run, each, now, screen))
      const more = running.size - named.length
      return [
        '',
        counts()
          .map(([sign, count, word]) => `${screen.sign(sign)} ${screen.paint.bold(String(count))} ${word}`)
          .join('   '),
        ...named,
        ...(more > 0 ? [screen.paint.dim(`  and ${more} more`)] : []),
        ...(trouble ? [screen.paint.hue(STATE_SIGNS.failed.hue, screen.text(sentenceOf(trouble)))] : []),
        '',
        screen.paint.dim(foot),
      ]
    },
    summary: () =>
      counts()
        .filter(([, count, word]) => count > 0 || word === 'done')
        .map(([, count, word]) => `${count} ${word}`)
        .join(', '),
  }
}

function runningLine(
  run: string,
  { task, key, attempt, since, progress }: Running,
  now: number,
  screen: Screen,
): string {
  const parts = [
    run,
    task,
    key,
    attempt > 1 ? `attempt ${attempt}` : undefined,
    progress,
    formatDuration(Math.max(0, now - since)),
  ]
  const text = parts.filter((part) => part !== undefined).join('  ')
  return `${screen.sign(STATE_SIGNS.running)} ${screen.text(text)}`
}

const USUAL: ReadonlySet<RepriseEvent['name']> = new Set([
  'attempt.started',
  'progress',
  'worker.started',
  'worker.stopping',
  'worker.stopped',
])

/** What scrolls by on a terminal: everything but the usual, which is in the counts. */
export function isOfInterest(event: RepriseEvent): boolean {
  return !USUAL.has(event.name) && (event.name !== 'run.succeeded' || event.retries > 0)
}

/** One event as a line for people: time, sign, sentence. */
export function eventLine(event: RepriseEvent, screen: Screen, zone: string): string {
  const sign = screen.sign(signOf(event))
  const columns = screen.ascii ? 3 : 2
  const time = clockTime(event.at, zone, event.at)
  const run = 'run' in event ? `${screen.paint.bold(screen.text(event.key ?? event.run))}  ` : ''
  const line = `${screen.paint.dim(time)}  ${pad(sign, columns)} ${run}${screen.text(sentenceOf(event, zone))}`
  return widthOf(line) > LINE_MAX ? cut(line, LINE_MAX, screen.ellipsis) : line
}

/** A message of pages is not a log line. */
const LINE_MAX = 400

const NO_SIGN: Sign = { glyph: ' ', ascii: ' ', hue: STATE_SIGNS.ready.hue }

function signOf(event: RepriseEvent): Sign {
  switch (event.name) {
    case 'run.succeeded':
      return STATE_SIGNS.succeeded
    case 'run.failed':
      return STATE_SIGNS.failed
    case 'run.review':
      return STATE_SIGNS.review
    case 'run.suspended':
      return STATE_SIGNS.waiting
    case 'run.interrupted':
    case 'run.lapsed':
      return KIND_SIGNS.interrupted
    default:
      return 'failure' in event && event.failure ? KIND_SIGNS[event.failure.kind] : NO_SIGN
  }
}
