/**
 * One law of the Store: a title in the words of the port, and a proof that goes red on a store that breaks it.
 * It knows neither a driver nor a test runner.
 */
import type { World } from './world.ts'

export interface Law {
  readonly subject: string
  readonly title: string
  /** The broken stores that this law must catch, by their names on the sabotage shelf. A guard is trusted after it was seen red. */
  readonly catches: readonly string[]
  readonly prove: (world: World) => Promise<void>
}

/** The laws of one subject. The first argument after the title names the sabotages, separated by spaces. */
export function subject(name: string, laws: Readonly<Record<string, readonly [catches: string, Law['prove']]>>): Law[] {
  return Object.entries(laws).map(([title, [catches, prove]]) => ({
    subject: name,
    title,
    catches: catches.split(' '),
    prove,
  }))
}
