/**
 * What became of each document of the demonstration, and the sums over all of them.
 * Data and arithmetic only: nothing is run and nothing is shown here.
 */
import type { Failure, Kind } from '../../failure/failure.ts'
import type { Decision } from '../../policy/index.ts'

export interface Turn {
  readonly failure: Failure
  readonly decision: Decision
  /** How long the decision says to wait. */
  readonly waitMs: number
}

export interface Story {
  readonly document: string
  state: 'ready' | 'running' | 'waiting' | 'done'
  calls: number
  readonly turns: Turn[]
  outcome?: Outcome
}

/** In the order in which they are told, from the cheapest to the dearest. */
export const OUTCOMES = ['first', 'waited', 'asked', 'person', 'ended'] as const
export type Outcome = (typeof OUTCOMES)[number]

export const newStory = (document: string): Story => ({ document, state: 'ready', calls: 0, turns: [] })

/** What it took to get the document right, or where it went instead. */
export function outcomeOf({ turns }: Story, isRight: boolean): Outcome {
  const last = turns.at(-1)?.decision
  if (!isRight) return last?.act === 'escalate' ? 'person' : 'ended'
  if (turns.some(({ decision }) => decision.entry === 'repairs')) return 'asked'
  return turns.length > 0 ? 'waited' : 'first'
}

export interface Sum {
  readonly documents: number
  readonly calls: number
  readonly kinds: readonly Kind[]
}

export function sumOf(stories: readonly Story[], outcome?: Outcome): Sum {
  const chosen = stories.filter((story) => story.outcome !== undefined && (!outcome || story.outcome === outcome))
  const kinds = chosen.flatMap((story) => story.turns.map((turn) => turn.failure.kind))
  return {
    documents: chosen.length,
    calls: chosen.reduce((sum, story) => sum + story.calls, 0),
    kinds: [...new Set(kinds)],
  }
}

export function waitedMs(stories: readonly Story[]): number {
  return stories.reduce((sum, story) => sum + story.turns.reduce((part, turn) => part + turn.waitMs, 0), 0)
}
