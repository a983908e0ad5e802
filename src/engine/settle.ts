/**
 * The end of an attempt: apply what it came to, write it in one fenced commit, and tell about it once that is durable.
 */
import type { Ledgers } from '../policy/situation.ts'
import type { CommitAnswer } from '../ports/store.ts'
import { type Applied, apply, type Ending } from '../run/apply.ts'
import { isLapse, ledgersBeforeLapse } from '../run/lapse.ts'
import { crashPoint } from './crash-point.ts'
import type { Execution } from './execution.ts'
import { tellEnd } from './tell-end.ts'
import { tellOthers } from './tell-others.ts'

export function settle(execution: Execution, ending: Ending): Promise<void> {
  return isPlainSuccess(execution, ending) ? succeed(execution, ending) : settleOther(execution, ending)
}

/** What `apply` makes of it, without the objects on the way. */
const SUCCEEDED: Applied = { state: 'succeeded' }

/** The end of most runs: right at the first attempt, and nothing to be kept of it. */
const isPlainSuccess = ({ run }: Execution, ending: Ending): boolean =>
  ending.type === 'value' && run.attempt === 1 && ending.output === undefined && ending.children === undefined

function succeed(execution: Execution, ending: Ending): Promise<void> {
  const { run, token, parts } = execution
  crashPoint('before-end')
  return parts.door
    .commitWhole({ type: 'end', run: run.id, token, state: 'succeeded' })
    .then((committed) => told(execution, ending, SUCCEEDED, committed))
}

async function settleOther(execution: Execution, ending: Ending): Promise<void> {
  const { run, token, parts, takes, costUsd } = execution
  const now = parts.time.now()
  const startedAt = execution.startedAt || now
  const held = beforeLapse(execution, ending)
  const applied = apply(held, { token, worker: parts.worker, startedAt, now, takes, costUsd }, ending)
  const { decision: _told, ...change } = held === run ? applied : { ...applied, ledgers: asCounted(execution, applied) }
  crashPoint('before-end')
  told(execution, ending, applied, await parts.door.commitWhole({ type: 'end', run: run.id, token, ...change }))
}

function told(execution: Execution, ending: Ending, applied: Applied, committed: Omit<CommitAnswer, 'now'>): void {
  crashPoint('after-end')
  if (committed.answer === 'lost') execution.refused('end')
  else if (execution.parts.emitter.listening) {
    tellEnd(execution, ending, applied)
    tellOthers(execution, applied, committed)
  }
}

function beforeLapse({ run, task }: Execution, ending: Ending): Execution['run'] {
  if (ending.type !== 'failure' || !isLapse(ending.failure)) return run
  return { ...run, ledgers: ledgersBeforeLapse(run.ledgers, run.failure, task.policy.lapsesMax) }
}

/** Whatever was decided about a lapse, the claim's count of them stands. */
const asCounted = ({ run }: Execution, { ledgers }: Applied): Ledgers => ({
  ...(ledgers ?? run.ledgers),
  lapses: run.ledgers.lapses,
})
