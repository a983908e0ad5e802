/**
 * The events of other runs that an attempt's end brought along: children that began, dependents that it moved.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import type { Committed, MovedRun } from '../ports/store.ts'
import type { Applied } from '../run/apply.ts'
import type { Execution } from './execution.ts'

type Others = Pick<Committed, 'moved' | 'created'>

export function tellOthers(execution: Execution, applied: Applied, { moved = [], created = [] }: Others): void {
  const { emitter, time } = execution.parts
  const children = applied.join?.children ?? applied.children ?? []
  for (const [index, child] of created.entries()) {
    const { task = '', key, priority = 0 } = children[index] ?? {}
    if (child === 'conflict') {
      execution.emit('submit.conflict', { child: task, childKey: key ?? '' })
      continue
    }
    const known = {
      at: time.now(),
      run: child.id,
      task,
      generation: child.generation,
      ...(key === undefined ? {} : { key }),
    }
    emitter.emit(child.created ? { name: 'run.submitted', ...known, priority } : { name: 'run.returned', ...known })
  }
  for (const run of moved) tellMoved(execution, run)
}

function tellMoved(execution: Execution, { run, task, generation, state, why, failure, submittedAt }: MovedRun): void {
  const { emitter, time, worker } = execution.parts
  const at = time.now()
  const known = { at, run, task, generation }
  if (state === 'ready') emitter.emit({ name: 'run.unblocked', ...known, after: execution.run.id })
  else if (state === 'cancelled') emitter.emit({ name: 'run.skipped', ...known, why: why as Why })
  else if (state === 'failed') {
    const ended = { failure: failure as Failure, why: why as Why, attempts: 0, submittedAt, lastAt: at }
    emitter.emit({ name: 'run.failed', ...known, attempt: 0, worker, ...ended })
  }
}
