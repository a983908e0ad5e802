/**
 * Ids and tokens without a counter that every writer would have to share: both begin with the store's time.
 * Of one process they rise strictly; that a token is higher than every one before of the same run, the claim sees to.
 */
import { randomId, systemDice } from '../../time/dice.ts'

/** Tokens of one millisecond; with it they stay whole numbers until the year 2109. */
const TOKENS_PER_MS = 2_048
const TIME_DIGITS = 9
const COUNT_DIGITS = 4

export class Numbers {
  #token = 0
  #idAt = 0
  #ids = 0

  token(now: number, above: number): number {
    const drawn = now * TOKENS_PER_MS + Math.floor(systemDice() * TOKENS_PER_MS)
    this.#token = Math.max(drawn, this.#token + 1, above + 1)
    return this.#token
  }

  /** Lower-case letters and digits; later ones sort after earlier ones. */
  id(prefix: string, now: number): string {
    this.#ids = now > this.#idAt ? 0 : this.#ids + 1
    this.#idAt = Math.max(now, this.#idAt)
    const time = this.#idAt.toString(36).padStart(TIME_DIGITS, '0')
    return `${prefix}${time}${this.#ids.toString(36).padStart(COUNT_DIGITS, '0')}${randomId(4)}`
  }
}
