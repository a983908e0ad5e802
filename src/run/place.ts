/**
 * A run's place in the order: one number, smaller goes first, ties by id. Pure; a driver keeps it in its index and never changes it.
 *
 * Priorities age: a step of priority is worth so much waiting. Whether one run goes before another is then the same at any time,
 * because both age alike: so nothing is rewritten while runs wait, however many and however long.
 */

/** A lower priority catches up one step in this time. */
export const AGEING_MS = 600_000

/** Without ageing a step is worth a century; a thousand of them are still exact. */
const NEVER_MS = 4e12

export interface Placed {
  readonly priority: number
  readonly submittedAt: number
  /** The time that was set for it, if any. */
  readonly dueAt?: number | undefined
}

const stepOf = (ageingMs: number): number => (ageingMs === 0 ? NEVER_MS : ageingMs)

/** `ageingMs` 0: a lower priority never catches up. */
export function placeOf({ priority, submittedAt, dueAt }: Placed, ageingMs: number): number {
  const stepMs = stepOf(ageingMs)
  // What is set for tomorrow has not waited since today; within a step the order is that of submission.
  const since = dueAt !== undefined && dueAt - submittedAt > stepMs ? dueAt : submittedAt
  return since + priority * stepMs
}

/** The place with another priority, for a run of which the place is all that tells of the time that was set for it: that stays. */
export function placeWith(
  to: number,
  { priority, submittedAt, place }: Pick<Placed, 'priority' | 'submittedAt'> & { readonly place: number },
  ageingMs: number,
): number {
  const since = place - priority * stepOf(ageingMs)
  // A century away: the place was made without ageing, and tells nothing.
  const dueAt = since - submittedAt < NEVER_MS ? since : undefined
  return placeOf({ priority: to, submittedAt, dueAt }, ageingMs)
}
