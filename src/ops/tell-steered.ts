/**
 * The events of operators' acts: of the run that was steered, and of those that its end or its retry moved.
 * It tells what the store has answered and decides nothing.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import type { Act, Committed, MovedRun, RunView } from '../ports/store.ts'
import type { Emit } from '../run/event.ts'

export interface SteeredRun {
  readonly type: Act['type']
  readonly by: string
  /** As it was before the act. */
  readonly seen: RunView
  readonly committed: Committed
}

export function tellSteered(emit: Emit, { type, by, seen, committed }: SteeredRun): void {
  const { now: at, moved = [] } = committed
  const { id: run, task, generation } = seen
  if (type === 'cancel') emit({ name: 'run.cancelled', at, run, task, generation, by })
  else emit({ name: 'run.generation', at, run, task, generation: generation + 1, by })
  for (const other of moved) tellMoved(emit, other, at, by)
}

function tellMoved(
  emit: Emit,
  { run, task, generation, state, why, failure, submittedAt }: MovedRun,
  at: number,
  by: string,
): void {
  const known = { at, run, task, generation }
  if (state === 'blocked' || state === 'ready') emit({ name: 'run.generation', ...known, by })
  else if (state === 'cancelled') emit({ name: 'run.skipped', ...known, why: why as Why })
  else {
    const ended = { failure: failure as Failure, why: why as Why, attempts: 0, submittedAt, lastAt: at }
    emit({ name: 'run.failed', ...known, attempt: 0, worker: by, ...ended })
  }
}
