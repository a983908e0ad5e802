/**
 * Where a graph goes after a node: conditions for its edges, read from the state and from nothing else.
 */
import { NEXT_STEPS, type NextStep, type NodeFailure, type RepriseState } from './state.ts'

interface WithReprise {
  readonly reprise?: RepriseState
}

const last = (state: WithReprise): NodeFailure | undefined => state.reprise?.last

/** The same node again: something passing, and the policy allows one more. */
export const shouldRetry = (state: WithReprise): boolean => last(state)?.next === 'retry'

/** Ask again with the errors: the answer was wrong, and the policy allows another. */
export const shouldRepair = (state: WithReprise): boolean => last(state)?.next === 'repair'

/** The next rung of the ladder: this one is used up. */
export const shouldEscalate = (state: WithReprise): boolean => last(state)?.next === 'escalate'

/** A person has to look. */
export const toPerson = (state: WithReprise): boolean => last(state)?.next === 'person'

/** What may be told to a model that is asked again. Infrastructure is none of its business, and never part of this. */
export function complaintOf(state: WithReprise): { readonly code: string; readonly message: string } | undefined {
  const failure = last(state)?.failure
  if (failure?.layer !== 'workflow' || (failure.kind !== 'syntax' && failure.kind !== 'semantic')) return undefined
  return { code: failure.code, message: failure.message }
}

/**
 * One condition for all of it: the node to go to for each next step, and `ok` for none. A step that is not named goes where `fail` goes.
 * @example graph.addConditionalEdges('execute', nextStep({ ok: 'report', repair: 'generate', fail: 'explain' }))
 */
export function nextStep<Node extends string>(
  to: { readonly ok: Node; readonly fail: Node } & { readonly [Step in NextStep]?: Node },
): (state: WithReprise) => Node {
  for (const step of Object.keys(to)) {
    if (step !== 'ok' && !(NEXT_STEPS as readonly string[]).includes(step))
      throw new RangeError(`nextStep: ${step} is not a step; allowed are ok, ${NEXT_STEPS.join(', ')}`)
  }
  return (state) => {
    const next = last(state)?.next
    return next === undefined ? to.ok : (to[next] ?? to.fail)
  }
}
