/**
 * A rate: at most so many runs are given out in any stretch of an interval, with a small burst. Pure; a driver keeps one number.
 * The number is the instant at which all that was given out is paid off.
 */
export interface Rate {
  readonly max: number
  readonly perMs: number
}

/** A tenth of the interval's runs may go at once; the rest is spread so that the two together never exceed it. */
const BURST_SHARE = 10

/** Sums of fractions of a millisecond are compared with some slack. */
const SLACK = 1e-6

const burstOf = ({ max }: Rate): number => Math.max(1, Math.floor(max / BURST_SHARE))

const gapMs = (rate: Rate): number => rate.perMs / (rate.max - burstOf(rate) + 1)

/** How many may be given out now. */
export function rateLeft(rate: Rate, paidAt: number, now: number): number {
  return Math.max(0, Math.floor(burstOf(rate) - Math.max(0, paidAt - now) / gapMs(rate) + SLACK))
}

/** When one may be given out, if none may now. */
export function rateOpensAt(rate: Rate, paidAt: number, now: number): number {
  return Math.max(now + 1, Math.ceil(paidAt - (burstOf(rate) - 1) * gapMs(rate) - SLACK))
}

export const afterRate = (rate: Rate, paidAt: number, given: number, now: number): number =>
  Math.max(paidAt, now) + given * gapMs(rate)
