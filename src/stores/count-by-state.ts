/**
 * How many runs each task has in each state, gathered by a driver and told in one order.
 * It knows no driver.
 */
import type { StateCount } from '../ports/store.ts'
import { STATE_WORDS, type StateWord } from '../run/run.ts'

export class CountByState {
  readonly #tasks = new Map<string, Map<StateWord, number>>()

  add(task: string, word: StateWord, runs: number): void {
    const ofTask = this.#tasks.get(task) ?? new Map<StateWord, number>()
    this.#tasks.set(task, ofTask.set(word, (ofTask.get(word) ?? 0) + runs))
  }

  /** By task, then by the way of a run through its states. */
  inOrder(): StateCount[] {
    return [...this.#tasks]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([task, ofTask]) => STATE_WORDS.map((state) => ({ task, state, runs: ofTask.get(state) ?? 0 })))
      .filter(({ runs }) => runs > 0)
  }
}
