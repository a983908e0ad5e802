/**
 * Needs in the stories: whom the end of a run unblocks or ends, and who begins again with it. Written down a second time on purpose,
 * by the words of the port, so that a store is not judged by what it uses itself.
 */
import type { NeedKind } from '../../run/need.ts'
import { isTerminal, type State } from '../../run/run.ts'
import type { StoreLine } from './history.ts'
import { type Draft, nextGeneration, step } from './story.ts'

export interface Need {
  readonly dependent: Draft
  readonly needed: Draft
  readonly kind: NeedKind
  readonly join: { readonly name: string; readonly generation: number; readonly index: number } | undefined
  open: boolean
}

/** A run that another one's end or retry must have moved. */
export interface ModelMove {
  readonly run: string
  readonly generation: number
  readonly state: State
}

export function tie(dependent: Draft, needed: Draft, kind: NeedKind, join?: Need['join']): void {
  const need: Need = { dependent, needed, kind, join, open: true }
  dependent.needs.push(need)
  needed.dependents.push(need)
}

const moveOf = ({ run, last: { generation, state } }: Draft): ModelMove => ({ run, generation, state })

const hasFailed = (state: State): boolean => state === 'failed' || state === 'cancelled'

/** A dependent that does not wait for an operator cannot begin any more. */
const isHopeless = ({ open, kind, needed }: Need): boolean =>
  open && (kind === 'fail' || kind === 'skip') && hasFailed(needed.last.state)

export function moveDependents(ended: Draft, line: StoreLine): ModelMove[] {
  const moved: ModelMove[] = []
  const reached = [ended]
  for (const draft of reached) {
    for (const need of draft.dependents) {
      const { dependent, kind, open } = need
      if (!open) continue
      const fulfilled = draft.last.state === 'succeeded' || (kind === 'join' && isTerminal(draft.last.state))
      if (fulfilled) need.open = false
      if (dependent.last.state !== 'blocked') continue
      if (fulfilled && dependent.needs.every((each) => !each.open)) {
        step(dependent, 'unblocked', line, { ...dependent.last, state: 'ready' })
        moved.push(moveOf(dependent))
      } else if (isHopeless(need)) {
        const state = kind === 'skip' ? 'cancelled' : 'failed'
        step(dependent, 'endedByNeed', line, { ...dependent.last, state, byNeed: true, finishedAt: line.at })
        moved.push(moveOf(dependent))
        reached.push(dependent)
      }
    }
  }
  return moved
}

/** The run begins again, and with it exactly those that ended because of it. Answers with the latter. */
export function beginFlowAgain(first: Draft, line: StoreLine): ModelMove[] {
  begin(first, line)
  const moved: ModelMove[] = []
  const begun = [first]
  for (const draft of begun) {
    for (const need of draft.dependents) {
      const { dependent, join } = need
      const { state, generation, byNeed } = dependent.last
      // Who waits now, or will when it begins again, waits for the new generation; who is under way has had what it needs.
      if (join ? state === 'blocked' && join.generation === generation : state === 'blocked' || isTerminal(state))
        need.open = true
      if (!byNeed || !isTerminal(state) || dependent.needs.some(isHopeless)) continue
      begin(dependent, line)
      moved.push(moveOf(dependent))
      begun.push(dependent)
    }
  }
  return moved
}

function begin(draft: Draft, line: StoreLine): void {
  for (const need of draft.needs) if (need.join) need.open = false
  const next = nextGeneration(draft)
  step(draft, 'again', line, draft.needs.some(({ open }) => open) ? { ...next, state: 'blocked' } : next)
}
