/**
 * The end of an attempt: apply what it came to, write it in one fenced commit, and tell about it once that is durable.
 */
import type { Ledgers } from '../policy/situation.ts'
import type { EndChange } from '../ports/store.ts'
import { type Applied, apply, type Ending } from '../run/apply.ts'
import { isLapse, ledgersBeforeLapse } from '../run/lapse.ts'
import { crashPoint } from './crash-point.ts'
import type { Outcome } from './end-writer.ts'
import type { Execution } from './execution.ts'
import { tellEnd } from './tell-end.ts'
import { tellOthers } from './tell-others.ts'

/** Calls `written` once that is known: without an error when it was written, or refused because somebody else owns the run. */
export function settle(execution: Execution, ending: Ending, written: (error?: unknown) => void): void {
  try {
    if (isPlainSuccess(execution, ending)) succeed(execution, ending, written)
    else settleOther(execution, ending, written)
  } catch (error) {
    written(error)
  }
}

/** What `apply` makes of it, without the objects on the way. */
const SUCCEEDED: Applied = { state: 'succeeded' }

/** The end of most runs: right at the first attempt, and nothing to be kept of it. */
const isPlainSuccess = ({ run }: Execution, ending: Ending): boolean =>
  ending.type === 'value' && run.attempt === 1 && ending.output === undefined && ending.children === undefined

function succeed(execution: Execution, ending: Ending, written: (error?: unknown) => void): void {
  const { run, token } = execution
  write(execution, ending, SUCCEEDED, { type: 'end', run: run.id, token, state: 'succeeded' }, written)
}

function settleOther(execution: Execution, ending: Ending, written: (error?: unknown) => void): void {
  const { run, token, parts, takes, costUsd } = execution
  const now = parts.time.now()
  const startedAt = execution.startedAt || now
  const held = beforeLapse(execution, ending)
  const applied = apply(held, { token, worker: parts.worker, startedAt, now, takes, costUsd }, ending)
  const { decision: _told, ...change } = held === run ? applied : { ...applied, ledgers: asCounted(execution, applied) }
  write(execution, ending, applied, { type: 'end', run: run.id, token, ...change }, written)
}

function write(
  execution: Execution,
  ending: Ending,
  applied: Applied,
  change: EndChange,
  written: (error?: unknown) => void,
): void {
  crashPoint('before-end')
  const landed = (committed: Outcome): void => {
    told(execution, ending, applied, committed)
    written()
  }
  execution.parts.door.end(change, landed, written)
}

function told(execution: Execution, ending: Ending, applied: Applied, committed: Outcome): void {
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
