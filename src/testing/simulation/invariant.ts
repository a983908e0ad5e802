/**
 * What an invariant is: a name, one sentence, and a function that finds every breach of it in a history.
 */
import type { History } from './history.ts'

export interface Invariant {
  readonly id: string
  readonly says: string
  /** One sentence per breach; empty is well. */
  readonly breaches: (history: History) => readonly string[]
}

export const invariant = (id: string, says: string, breaches: Invariant['breaches']): Invariant => ({
  id,
  says,
  breaches,
})

/** Members by a name, in the order of their first appearance. */
export function grouped<T>(members: readonly T[], by: (member: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const member of members) {
    const name = by(member)
    const group = groups.get(name)
    if (group) group.push(member)
    else groups.set(name, [member])
  }
  return groups
}
