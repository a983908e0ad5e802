/**
 * A hold: nobody is given runs of a task, resource or category before an instant, and how it opens again by itself.
 * Pure: every driver keeps the record as it is and asks here what it allows; when to set one is the engine's affair.
 */
import type { Lane } from './run.ts'

const SCOPES = ['task', 'resource', 'category'] as const

/** What is held: `resource:gemini:flash`, `task:summarize`, `category:import`. */
export type HoldTarget = `${(typeof SCOPES)[number]}:${string}`

export interface HoldOrder {
  readonly what: HoldTarget
  /** Absent: until somebody releases it. */
  readonly until?: number
  readonly why: string
  /** Who said so: an operator, or the code of the failure that told how long. */
  readonly by: string
  /** When it ends, one run goes first, and the others only if that one got an answer. */
  readonly probe: boolean
}

/**
 * `held` until its end; then, with a probe, `probing` while one run of the whole fleet is out; then `admitting`: the rest is let in
 * along a ramp, and the last of them takes the hold away.
 */
export interface Hold extends HoldOrder {
  readonly setAt: number
  readonly phase: 'held' | 'probing' | 'admitting'
  /** The run that is out first, and the token of its claim. */
  readonly probing?: { readonly run: string; readonly token: number }
  readonly admittingSince?: number
  /** Runs let in since then. */
  readonly admitted?: number
  /** The last token that was given out when its probe got an answer: who was told to wait under one of these waits no longer. */
  readonly healedAfter?: number
}

/**
 * The ramp: each second this many runs more than in the second before. On a straight ramp the busiest second has twice the mean
 * load however many runs wait, and a million of them are let in after ten minutes.
 */
const RAMP_PER_SECOND = 5

/** A ramp that nobody finished: by now it would let in thousands a second, which is no limit any more. */
const RAMP_MAX_MS = 600_000

export function isHoldTarget(text: string): text is HoldTarget {
  return SCOPES.some((scope) => text.startsWith(`${scope}:`) && text.length > scope.length + 1)
}

/** A list of holds counts the runs that wait no further: more than this are simply many. */
export const WAITING_MAX = 10_000

export function covers(what: HoldTarget, lane: Lane): boolean {
  const colon = what.indexOf(':')
  return lane[what.slice(0, colon) as (typeof SCOPES)[number]] === what.slice(colon + 1)
}

/** The hold as it stands now; `undefined` when it is over. */
export function standing(hold: Hold, now: number): Hold | undefined {
  if (hold.phase === 'held' && !hold.probe && hold.until !== undefined && hold.until <= now)
    return standing(admitting(hold, hold.until), now)
  if (hold.phase === 'admitting' && now - (hold.admittingSince ?? now) >= RAMP_MAX_MS) return undefined
  return hold
}

/** How many of its runs may be given out now. */
export function allowance(hold: Hold, now: number): number {
  switch (hold.phase) {
    case 'held':
      return hold.until !== undefined && hold.until <= now ? 1 : 0
    case 'probing':
      return 0
    case 'admitting': {
      const seconds = Math.max(0, now - (hold.admittingSince ?? now)) / 1_000
      return Math.max(0, Math.floor((RAMP_PER_SECOND / 2) * seconds ** 2) + 1 - (hold.admitted ?? 0))
    }
  }
}

/** When it will allow one run more than it has allowed so far, if time alone brings that about. */
export function allowsMoreAt(hold: Hold, now: number): number | undefined {
  if (hold.phase === 'probing') return undefined
  if (hold.phase === 'held') return hold.until
  const seconds = Math.sqrt((2 * (hold.admitted ?? 0)) / RAMP_PER_SECOND)
  return Math.max(now + 1, (hold.admittingSince ?? now) + Math.ceil(seconds * 1_000))
}

/** After a claim took runs of it. */
export function afterGiving(hold: Hold, runs: readonly string[], token: number): Hold {
  const [run] = runs
  if (run === undefined) return hold
  if (hold.phase === 'held') return { ...base(hold), phase: 'probing', probing: { run, token } }
  return { ...hold, admitted: (hold.admitted ?? 0) + runs.length }
}

/** The probe got an answer: the others may come. */
export const afterProbe = (hold: Hold, now: number, lastToken: number): Hold => ({
  ...admitting(hold, now),
  healedAfter: lastToken,
})

/** The probe vanished or was given back without a verdict: the next one goes first. */
export const withoutProbe = (hold: Hold): Hold => ({ ...base(hold), phase: 'held' })

/** A new hold, or the one there is when it lasts longer: what several were told is one wait, the longest. */
export function extended(known: Hold | undefined, order: HoldOrder, now: number): Hold {
  const { until } = order
  const isLonger =
    known?.phase === 'held' && (known.until === undefined || (until !== undefined && known.until >= until))
  return isLonger ? known : heldBy(order, now)
}

export function heldBy(order: HoldOrder, now: number): Hold {
  const { what, until, why, by, probe } = order
  return { what, ...(until === undefined ? {} : { until }), why, by, probe, setAt: now, phase: 'held' }
}

const admitting = (hold: Hold, since: number): Hold => ({
  ...base(hold),
  phase: 'admitting',
  admittingSince: since,
  admitted: 0,
})

function base({ what, until, why, by, probe, setAt }: Hold): Omit<Hold, 'phase'> {
  return { what, ...(until === undefined ? {} : { until }), why, by, probe, setAt }
}
