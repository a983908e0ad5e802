/**
 * How long an attempt and each of its calls may take: the nearest of the run's deadline, the attempt's own limit and the end of
 * the process, less what is kept back for writing the end. All in store time.
 */
import type { Execution } from './execution.ts'

export function deadlineOf(execution: Execution): number | undefined {
  const { run, task, parts, startedAt } = execution
  const attemptMs = task.timeoutMs ?? task.policy.limits?.attemptMs
  let deadline = run.deadlineAt ?? Number.POSITIVE_INFINITY
  if (attemptMs !== undefined) deadline = Math.min(deadline, startedAt + attemptMs)
  if (parts.endsAt !== undefined) deadline = Math.min(deadline, parts.endsAt)
  return deadline === Number.POSITIVE_INFINITY ? undefined : deadline
}

/** Milliseconds that a call may take: its own limit, or what is left of the attempt less the reserve. Absent: no limit. */
export function callLimitMs(execution: Execution, ownMs: number | undefined): number | undefined {
  const deadline = deadlineOf(execution)
  const reserveMs = execution.task.policy.limits?.finalizeReserveMs ?? execution.parts.finalizeReserveMs
  const leftMs = deadline === undefined ? undefined : deadline - execution.parts.time.now() - reserveMs
  const limitMs = ownMs ?? execution.task.policy.limits?.callMs
  if (leftMs === undefined) return limitMs
  return limitMs === undefined ? leftMs : Math.min(limitMs, leftMs)
}
