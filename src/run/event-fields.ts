/**
 * The fields that events of a run, of an attempt and of a call have in common.
 */
import { count, maybe, text } from './event-entry.ts'

export const RUN = {
  run: text('Id of the run.'),
  task: text('Name of its task.'),
  key: maybe(text('The key it was submitted with.')),
  generation: count('1 at submit; an operator’s retry adds one.'),
} as const

export const ATTEMPT = {
  ...RUN,
  attempt: count('Number of the execution in this generation, counted or not.'),
  worker: text('The worker that executes it.'),
} as const

export const CALL = { ...ATTEMPT, call: text('Name of the call inside the handler.') } as const
