/**
 * The only door to chance: dice for jitter and ids. Tests hand in seeded ones.
 */
import { randomBytes } from 'node:crypto'

/** One draw from [0, 1). */
export type Dice = () => number

export const systemDice: Dice = () => Math.random()

/** Unguessable, `bytes` × 8 bits of entropy, in lower-case hex. */
export function randomId(bytes = 16): string {
  return randomBytes(bytes).toString('hex')
}

/** A replayable sequence (mulberry32): the same seed gives the same draws on every machine. */
export function seededDice(seed: number): Dice {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
