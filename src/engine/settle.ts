/**
 * The end of an attempt: apply what it came to, write it in one fenced commit, and tell about it once that is durable.
 */
import type { Ledgers } from '../policy/situation.ts'
import { type Applied, apply, type Ending } from '../run/apply.ts'
import { isLapse, ledgersBeforeLapse } from '../run/lapse.ts'
import { crashPoint } from './crash-point.ts'
import type { Execution } from './execution.ts'
import { tellEnd } from './tell-end.ts'
import { tellOthers } from './tell-others.ts'

export async function settle(execution: Execution, ending: Ending): Promise<void> {
  const { run, token, parts, takes, costUsd } = execution
  const now = parts.time.now()
  const startedAt = execution.startedAt || now
  const held = beforeLapse(execution, ending)
  const applied = apply(held, { token, worker: parts.worker, startedAt, now, takes, costUsd }, ending)
  const { decision: _told, ...change } = held === run ? applied : { ...applied, ledgers: asCounted(execution, applied) }
  crashPoint('before-end')
  const committed = await parts.door.commitWhole({ type: 'end', run: run.id, token, ...change })
  crashPoint('after-end')
  if (committed.answer === 'lost') execution.refused('end')
  else if (parts.emitter.listening) {
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
