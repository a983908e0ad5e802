/**
 * How long to wait after n failed attempts. Pure arithmetic: the dice are handed in, the result is a whole number
 * within stated bounds for every n, and no clock is known here.
 */
import { briefDuration, DURATION_MAX_MS, type Duration, parseDuration } from '../time/duration.ts'
import { oneOf, refuse } from './check.ts'
import type { Backoff } from './policy.ts'

/** The largest draw there is: the dice never show 1. */
export const DICE_MAX = 1 - 2 ** -53

/** The delay in milliseconds after `failed` failed attempts (1, 2, …), for one draw from [0, 1). */
export function delayAfter(backoff: Backoff, failed: number, dice: number): number {
  const delay = plainDelay(backoff, failed)
  switch (backoff.jitter) {
    case 'full':
      return upTo(delay, dice)
    case 'equal':
      return delay - Math.floor(delay / 2) + upTo(Math.floor(delay / 2), dice)
    case 'additive':
      return backoff.shape === 'immediate' ? delay : delay + upTo(backoff.jitterMs, dice)
    default:
      return delay
  }
}

/** The shortest and the longest delay that any dice can give. */
export function delayBounds(backoff: Backoff, failed: number): { readonly minMs: number; readonly maxMs: number } {
  return { minMs: delayAfter(backoff, failed, 0), maxMs: delayAfter(backoff, failed, DICE_MAX) }
}

function plainDelay({ shape, baseMs, factor, capMs }: Backoff, failed: number): number {
  if (shape === 'immediate' || baseMs === 0) return 0
  if (shape === 'fixed') return Math.min(baseMs, capMs)
  // The power may be Infinity for a large n; the cap is taken before anything is rounded.
  return Math.round(Math.min(baseMs * factor ** Math.max(0, failed - 1), capMs))
}

/** A whole number from [0, max], each as likely as the others. */
function upTo(max: number, dice: number): number {
  return Math.min(max, Math.floor(clampDice(dice) * (max + 1)))
}

const clampDice = (dice: number) => (dice >= 0 ? Math.min(dice, DICE_MAX) : 0)

/** What the schedule is, in a few words: `60 s ×2`. */
export function backoffLabel({ shape, baseMs, factor }: Backoff): string {
  if (shape === 'immediate') return 'at once'
  return shape === 'fixed' ? `${briefDuration(baseMs)} fixed` : `${briefDuration(baseMs)} ×${factor}`
}

type Jitter = Backoff['jitter']

export interface ExponentialOptions {
  readonly base: Duration
  readonly cap: Duration
  /** 2 when absent. */
  readonly factor?: number
  /** `full` when absent. */
  readonly jitter?: Jitter
  /** Size of the additive jitter; needed with `jitter: 'additive'`. */
  readonly jitterMs?: Duration
}

/** @example exponential({ base: '60s', cap: '1h' }) // 60 s, 120 s, 240 s … at most 1 h, full jitter */
export function exponential(options: ExponentialOptions): Backoff {
  const { base, cap, factor = 2, jitter = 'full', jitterMs = 0 } = options
  return checkBackoff({ shape: 'exponential', baseMs: base, capMs: cap, factor, jitter, jitterMs }, 'exponential')
}

/** The same delay each time. @example fixed('2s', { jitter: 'equal' }) */
export function fixed(
  delay: Duration,
  options: { readonly jitter?: Jitter; readonly jitterMs?: Duration } = {},
): Backoff {
  const { jitter = 'none', jitterMs = 0 } = options
  return checkBackoff({ shape: 'fixed', baseMs: delay, capMs: delay, factor: 1, jitter, jitterMs }, 'fixed')
}

/** No delay and no timer. */
export function immediate(): Backoff {
  return IMMEDIATE
}

const IMMEDIATE: Backoff = Object.freeze({
  shape: 'immediate',
  baseMs: 0,
  capMs: 0,
  factor: 1,
  jitter: 'none',
  jitterMs: 0,
})

export const SHAPES = ['exponential', 'fixed', 'immediate'] as const
export const JITTERS = ['none', 'full', 'equal', 'additive'] as const

/** The largest factor that is still a backoff. */
const FACTOR_MAX = 100

/** A backoff as written by hand: durations may be text. */
export type BackoffInput = {
  readonly [Field in keyof Backoff]: Field extends `${string}Ms` ? Duration : Backoff[Field]
}

/** Checks each field and freezes. Throws a RangeError that names the field, the value and what is allowed. */
export function checkBackoff(input: BackoffInput, field: string): Backoff {
  const { shape, factor, jitter } = input
  oneOf(shape, SHAPES, `${field}.shape`)
  oneOf(jitter, JITTERS, `${field}.jitter`)
  if (!(typeof factor === 'number' && factor >= 1 && factor <= FACTOR_MAX)) {
    refuse(`${field}.factor`, factor, `numbers from 1 to ${FACTOR_MAX}`)
  }
  const baseMs = parseDuration(input.baseMs, `${field}.baseMs`)
  const capMs = parseDuration(input.capMs, `${field}.capMs`)
  const jitterMs = parseDuration(input.jitterMs, `${field}.jitterMs`)
  if (shape !== 'immediate' && capMs < baseMs) {
    refuse(`${field}.capMs`, capMs, `${baseMs} (baseMs) to ${DURATION_MAX_MS}`)
  }
  return Object.freeze({ shape, baseMs, factor, capMs, jitter, jitterMs })
}
