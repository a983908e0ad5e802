/**
 * The shape of a ladder, as far as deciding needs it: rungs in order, model tiers first, then people.
 * What a rung asks and how is the ladder room's affair.
 */

interface RungBase {
  /** The name shown and stored: `gemini:flash`, `accounts`. Unique in its ladder. */
  readonly name: string
}

/** A model tier: `attempts` takes in all (the first ask and its corrections together). */
export interface ModelRung extends RungBase {
  readonly type: 'model'
  readonly attempts: number
  /** Price of one take at worst, in US dollars; absent when not known. */
  readonly maxCostUsd?: number
  /** The name of the budget that each take reserves from. */
  readonly budget?: string
}

/** A person is a rung: a queue and the time within which it should be answered. */
export interface PersonRung extends RungBase {
  readonly type: 'person'
  readonly queue: string
  readonly withinMs: number
  /** How many answers the gate may refuse, the first included, before the next rung; `PERSON_ATTEMPTS` when absent. */
  readonly attempts?: number
}

export type RungShape = ModelRung | PersonRung

export type LadderShape = readonly RungShape[]

/** A person may correct a refused answer this often. Generous, because each one is typed by hand; bounded, because all is. */
export const PERSON_ATTEMPTS = 10

/** The desk that takes a run when its policy names nobody and yet a person has to look. Not a rung. */
export const REVIEW = 'review'

/** Corrections that a rung allows after the first ask. */
export function repairsOf(rung: RungShape): number {
  return Math.max(0, (rung.attempts ?? PERSON_ATTEMPTS) - 1)
}
