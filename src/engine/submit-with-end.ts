/**
 * `ctx.submit`: runs that begin with the success of the attempt that asks for them, in its commit.
 * They are checked at once and kept aside until then; nothing is written here.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Execution } from './execution.ts'
import { newRun, type SubmitOptions } from './submit.ts'
import type { Task } from './task.ts'

/** All of them are written with the parent's end, and one commit must stay short. */
const SUBMITTED_MAX = 1_000

export async function submitWithEnd(
  execution: Execution,
  task: Task,
  input: unknown,
  options: SubmitOptions,
): Promise<void> {
  execution.check()
  execution.submitted ??= []
  if (execution.submitted.length >= SUBMITTED_MAX) {
    throw new RepriseError(
      'submit.children',
      `${execution.task.name} submits more than ${SUBMITTED_MAX} runs in one attempt. Allowed: ${SUBMITTED_MAX}; use several attempts or join.`,
    )
  }
  const made = newRun(task, input, options, execution.parts.time.now())
  // Heard by whoever awaits the submit, and by the end of the attempt; never by nobody.
  made.catch(() => {})
  execution.submitted.push(made)
  await made
}
