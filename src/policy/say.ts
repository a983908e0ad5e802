/**
 * The one renderer of reasons: `say` turns a code with parameters into the sentence that CLI, logs and pages show.
 * Pure: the time that "in 33 s" counts from and the zone of clock times are handed in.
 */
import { briefDuration, formatDuration } from '../time/duration.ts'
import { clockTime, zoneName } from '../time/zone.ts'
import type { Reasons, Why, WhyCode, WhyParams } from './why.ts'

export interface SayOptions {
  /** Epoch milliseconds. With it, times tell how far they are, and today's date is left out. */
  readonly now?: number
  /** An IANA name; `UTC` when absent. */
  readonly zone?: string
}

/**
 * The sentence for a reason. A code of a newer version, read from a store, is shown as it is rather than refused.
 * @example say({ code: 'ask.again', params: { repair: 1, max: 2 } }) === 'Asked again with the error. Repair 1 of 2.'
 */
export function say(why: Why, options: SayOptions = {}): string {
  const { code, params } = why as { code: string; params: object | undefined }
  const times = timesOf(options)
  const render: Render | undefined = Object.hasOwn(SENTENCES, code)
    ? (SENTENCES[code as Single] as Render)
    : moveOf(code)
  return render && params ? render(params, times) : unknownCode(code, params)
}

type Render = (params: object, times: Times) => string

/** How a sentence speaks of time. */
interface Times {
  /** `14:02:10` */
  readonly clock: (at: number) => string
  /** `, 33 s more` or nothing. */
  readonly more: (at: number) => string
  /** `, in 33 s` or nothing. */
  readonly away: (at: number) => string
  /** `00:00 Berlin` */
  readonly reset: (at: number, window: 'day' | 'month') => string
}

function timesOf({ now, zone = 'UTC' }: SayOptions): Times {
  const left = (at: number, form: (span: string) => string) =>
    now === undefined || at <= now ? '' : form(formatDuration(at - now))
  return {
    clock: (at) => clockTime(at, zone, now),
    more: (at) => left(at, (span) => `, ${span} more`),
    away: (at) => left(at, (span) => `, in ${span}`),
    reset: (at, window) => `${clockTime(at, zone, window === 'day' ? at : now)} ${zoneName(zone)}`,
  }
}

const REASONS: { readonly [Code in keyof Reasons]: (params: Reasons[Code], times: Times) => string } = {
  no_progress: () => 'Same failure, same answer: a third try cannot help.',
  repairs_spent: ({ used, max, on, message }) =>
    max === 0
      ? `${on ?? 'This answer'} is asked for once only; last: ${sentence(message)}`
      : `${used} of ${max} repairs${on ? ` on ${on}` : ''} used; last: ${sentence(message)}`,
  errors_spent: ({ used, max, kind, message }) =>
    `${used} of ${max} ${kind ? `${kind} ` : ''}errors used; last: ${sentence(message)}`,
  rate_waits_spent: ({ used, max, message }) => `${used} of ${max} rate waits used; last: ${sentence(message)}`,
  lapses_spent: ({ used, max }) => `Crash ${used} of ${max}; it is not run again on its own.`,
  exhausted: ({ message, until }, { clock }) =>
    `Used up (${bare(message)})${until === undefined ? '.' : `; it resets at ${clock(until)}.`}`,
  refused: ({ message }) => `The provider refused: ${sentence(message)} Never asked twice.`,
  final: ({ message, advice }) =>
    `${capital(sentence(message))} A retry cannot help.${advice ? ` ${sentence(advice)}` : ''}`,
  policy: ({ kind, message }) => `${capital(sentence(message))} The policy gives ${kind} no second try here.`,
  asked: ({ message }) => `The ladder has decided; last: ${sentence(message)}`,
  time_short: ({ leftMs, reserveMs, message }) =>
    `No time for a repair: ${formatDuration(leftMs)} left, ${formatDuration(reserveMs)} kept for storing; last: ${sentence(message)}`,
}

/** Codes that are not made of a move and a reason. */
type Single = Exclude<WhyCode, `${Move}.${keyof Reasons}`>

const SENTENCES: { readonly [Code in Single]: (params: WhyParams[Code], times: Times) => string } = {
  'end.deadline': ({ deadlineAt, at, message }, { clock }) =>
    `Ended: the next attempt at ${clock(at)} is not before the deadline at ${clock(deadlineAt)}; last: ${sentence(message)}`,
  'end.told_too_long': ({ toldMs, maxMs, message }) =>
    `Ended: told to wait ${formatDuration(toldMs)}, and a call waits at most ${briefDuration(maxMs)}; last: ${sentence(message)}`,
  'end.quota_day': ({ message }) =>
    `Ended: a day's quota is used, and a call cannot wait for tomorrow: ${sentence(message)}`,
  'end.suspensions_spent': ({ max }) => `Ended: suspended ${max} times without getting anywhere.`,
  'end.inner': ({ attempts, message }) =>
    `Ended: an inner retry used ${count(attempts, 'attempt')} on this error, and tries are not multiplied; last: ${sentence(message)}`,
  'end.need_failed': ({ step, how }) =>
    `Ended: it needs ${step}, which ${ENDED[how]}. Retry ${step}, and it begins again.`,
  ignored: () => 'Someone else did it already. Nothing to do.',

  'wait.told': (params, times) => `${toldWait(params, times)} Rate wait ${params.used} of ${params.max}, not counted.`,
  'wait.told_counted': (params, times) => `${toldWait(params, times)} ${params.used} of ${params.max} errors used.`,
  'wait.backoff': ({ attempt, at, backoff, dice, used, max }, { clock, away }) =>
    backoff === 'at once'
      ? `Attempt ${attempt} at once; ${used} of ${max} errors used.`
      : `Attempt ${attempt} at ${clock(at)}${away(at)} (${backoff}, dice ${dice.toFixed(2)}); ${used} of ${max} errors used.`,
  'wait.window': ({ until, message, used, max }, { clock, more }) =>
    `Used up (${bare(message)}). Waiting for the reset at ${clock(until)}${more(until)}. Wait ${used} of ${max}, not counted.`,
  'wait.interrupted': ({ at, used, max }, { clock, away }) =>
    `Given back; again at ${clock(at)}${away(at)}. Interruption ${used} of ${max}, not counted.`,
  'wait.lapsed': ({ at, used, max }, { clock, away }) =>
    `No sign of life; again at ${clock(at)}${away(at)}. Crash ${used} of ${max}.`,
  'ask.again': ({ repair, max, image }) =>
    `Asked again with the error${image ? ' and the image' : ''}. Repair ${repair} of ${max}.`,

  'run.blocked': ({ needs, first }) =>
    needs === 1 ? `Waiting for ${first} to succeed.` : `Waiting for ${needs} steps to succeed, first ${first}.`,
  'run.need_failed': ({ step, how }) =>
    `Waiting for an operator: ${step} ${ENDED[how]}. Retry ${step}, and it goes on.`,
  'run.skipped': ({ step, how }) => `Skipped: it needs ${step}, which ${ENDED[how]}.`,
  'run.joining': ({ name, children }) =>
    children === 1 ? `Waiting for the child of ${name} to end.` : `Waiting for ${children} children of ${name} to end.`,
  'run.ready': () => 'Ready; the next free worker takes it.',
  'run.scheduled': ({ at }, { clock, away }) => `Starts at ${clock(at)}${away(at)}, as asked.`,
  'run.held': ({ resource, until, others }, { clock, more }) => {
    const end = until === undefined ? 'until it is released' : `until ${clock(until)}${more(until)}`
    const waiting = others === 0 ? '' : others === 1 ? ' 1 other run waits too;' : ` ${others} other runs wait too;`
    return `Waiting for ${resource} ${end}. Held for everyone${waiting === '' ? '' : `.${waiting} none has to find out by itself`}.`
  },
  'run.interrupted': ({ worker, cause }) =>
    `Worker ${worker} was told to stop${cause ? ` for ${cause}` : ''}. Given back; not counted.`,
  'run.lapsed': ({ silentMs, worker, used, max }) =>
    `No sign of life for ${formatDuration(silentMs)}, claimed by ${worker}. Crash ${used} of ${max}.`,
  'run.with_person': ({ queue, until }, { clock, more }) =>
    `With a person: ${queue}, to be answered by ${clock(until)}${more(until)}.`,
  'run.overdue': ({ queue, since }, { clock }) => `${capital(queue)} has not answered; due since ${clock(since)}.`,
  'run.cancelled': ({ by }) => `Cancelled by ${by}.`,
  'run.succeeded': ({ attempts }) => (attempts === 1 ? 'Right at the first attempt.' : `Right at attempt ${attempts}.`),
  'run.sleeping': ({ name, until }, { clock, more }) => `Sleeping (${name}) until ${clock(until)}${more(until)}.`,
  'run.parked': ({ key, max }) => `Waits for its turn: ${max === 1 ? 'one run' : `${max} runs`} of ${key} at a time.`,
  'run.later': ({ until, reason }, { clock, more }) =>
    `Put off by its handler until ${clock(until)}${more(until)}${reason ? ` (${bare(reason)})` : ''}. Not counted.`,
  'run.handed_over': ({ queue, reason, until }, { clock }) =>
    `To a person now: ${queue}${until === undefined ? '' : `, by ${clock(until)}`}. ${capital(sentence(reason))}`,
  'run.again': ({ by, generation }) => `Retried by ${by}; generation ${generation} begins, the history stays.`,
  'run.reprioritised': ({ by, from, to }) => `Priority ${from} → ${to} by ${by}; smaller goes first.`,
  'run.rescheduled': ({ by, at }, { clock, away }) => `Rescheduled by ${by}: starts at ${clock(at)}${away(at)}.`,
  'review.answered': ({ by, how }) =>
    how === 'given' ? `The result was given by ${by}.` : `${capital(how)} by ${by}; the run goes on with that answer.`,
  'review.sent_back': ({ by, to, hint }) =>
    `Sent back${to === undefined ? '' : ` to ${to}`} by ${by}${hint ? `: ${sentence(hint)}` : '.'}`,
  'review.rejected': ({ by, reason }) => `Rejected by ${by}: ${sentence(reason)}`,
  'answer.stored': ({ paidAt }, { clock }) =>
    `The answer was already paid for at ${clock(paidAt)}; judged, not bought again.`,
  'write.stale': ({ worker }) => `A late result of ${worker} came after its lease. Kept as a receipt, changed nothing.`,
  'budget.spent': ({ budget, window, unit, used, cap, resetsAt, next }, { reset }) =>
    `${budget} is used up for ${window === 'day' ? 'today' : 'this month'} (${amount(used, unit)} of ${amount(cap, unit)}). ${
      { person: 'To a person now', rung: 'To the next rung now', wait: 'Waiting' }[next]
    }; the cap resets at ${reset(resetsAt, window)}.`,
  'retried.many': ({ count: total, right, wait, skipped }) =>
    `Retried ${total}. ${right} right, ${wait} ${wait === 1 ? 'waits' : 'wait'}, ${skipped} skipped (changed meanwhile).`,
}

/** How a need ended that did not succeed. */
const ENDED = { failed: 'failed', cancelled: 'was cancelled' } as const

type Move = 'next' | 'person' | 'end'

const MOVES: { readonly [M in Move]: (reason: string, params: { to?: string; withinMs?: number }) => string } = {
  next: (reason, { to }) => `Next rung: ${to}. ${reason}`,
  person: (reason, { to, withinMs }) =>
    `To a person now: ${to}${withinMs === undefined ? '' : `, within ${briefDuration(withinMs)}`}. ${reason}`,
  end: (reason) => `Ended: ${uncapital(reason)}`,
}

function moveOf(code: string): Render | undefined {
  const dot = code.indexOf('.')
  const move = code.slice(0, dot)
  const reason = code.slice(dot + 1)
  if (!Object.hasOwn(MOVES, move) || !Object.hasOwn(REASONS, reason)) return undefined
  const explain = REASONS[reason as keyof Reasons] as Render
  return (params, times) => MOVES[move as Move](explain(params, times), params)
}

/** Every code there is, for lists and for the test that each of them has its sentence. */
export const WHY_CODES: readonly string[] = [
  ...Object.keys(MOVES).flatMap((move) => Object.keys(REASONS).map((reason) => `${move}.${reason}`)),
  ...Object.keys(SENTENCES),
]

function toldWait({ until, resource, toldBy }: WhyParams['wait.told'], { clock, more }: Times): string {
  const by = toldBy ?? (resource === undefined ? 'the other side' : resource)
  return `Waiting${resource ? ` for ${resource}` : ''} until ${clock(until)} (told by ${by})${more(until)}.`
}

function unknownCode(code: string, params: object | undefined): string {
  const told = Object.entries(params ?? {}).map(([name, value]) => `${name} ${String(value)}`)
  return told.length > 0 ? `${code} (${told.join(', ')}).` : `${code}.`
}

const amount = (value: number, unit: 'calls' | 'usd' = 'calls') =>
  unit === 'usd' ? `$${value.toFixed(2)}` : String(value)

const count = (n: number, noun: string) => `${n} ${noun}${n === 1 ? '' : 's'}`

/** Messages come with and without their full stop. */
function sentence(text: string): string {
  const trimmed = text.trim()
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`
}

/** For use in the middle of a sentence. */
const bare = (text: string) => text.trim().replace(/[.\s]+$/, '')

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Lowers a leading capital after a colon, but not that of a name or an acronym such as `API` or `ECONNRESET`. */
function uncapital(text: string): string {
  return /^[A-Z][a-z]* /.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}
