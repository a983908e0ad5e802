/**
 * Which faults a seed injects: a rate for the whole seed, and for each place whether it is active at all.
 * Drawing is all it does; what a fault means is the wire's affair.
 */
import type { Dice } from '../../time/dice.ts'
import { FAULTS, type FaultKind } from './history.ts'

export const FAULT_RATES = [0, 0.01, 0.05, 0.2] as const

/** A place is active in one seed of four, so that each seed has a character of its own. */
const SITE_ACTIVE = 0.25

/** A crash costs a process and a lease; at the full rate nothing would ever get anywhere. */
const CRASH_SHARE = 0.25

export class Faults {
  readonly rate: number
  readonly #dice: Dice
  readonly #active = new Map<string, readonly FaultKind[]>()
  #on = true

  constructor(dice: Dice) {
    this.#dice = dice
    this.rate = FAULT_RATES[Math.floor(dice() * FAULT_RATES.length)] ?? 0
  }

  /** From here on nothing goes wrong any more. */
  stop(): void {
    this.#on = false
  }

  /** What goes wrong with this operation, if anything. */
  draw(site: string): FaultKind | undefined {
    if (!this.#on || this.rate === 0) return undefined
    for (const kind of this.#activeAt(site)) {
      const share = kind === 'crashBefore' || kind === 'crashAfter' ? CRASH_SHARE : 1
      if (this.#dice() < this.rate * share) return kind
    }
    return undefined
  }

  #activeAt(site: string): readonly FaultKind[] {
    const known = this.#active.get(site)
    if (known) return known
    const active = FAULTS.filter(() => this.#dice() < SITE_ACTIVE)
    this.#active.set(site, active)
    return active
  }
}
