/**
 * `reprise reprioritise` and `reprise reschedule`: another place in the order for runs that wait for their turn.
 * How they select, look and act is the same as in `retry.ts`.
 */
import { reprioritiseRuns, rescheduleRuns, storeNow } from '../../ops/index.ts'
import { usageError } from '../cli-error.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { parseInstant } from '../instant.ts'
import { durationOf, wholeNumberOf } from '../number-option.ts'
import { BY_FILTER, type VerbOptions, verbCommand } from './retry.ts'

const PRIORITY_MAX = 1_000

const WHICH = 'It applies to runs that are ready or wait. One that runs now is left alone.'

interface PriorityOptions extends VerbOptions {
  readonly to?: number
}

export const registerReprioritise: Register = (program, frame) => {
  const command = verbCommand<PriorityOptions>(
    program,
    frame,
    'reprioritise',
    async (store, selection, acting, { to }) => {
      if (to === undefined) throw usageError('Which priority?', '`reprise reprioritise r42 --to -10`')
      return reprioritiseRuns(store, selection, { ...acting, to })
    },
  )
    .summary('gives runs another priority')
    .description('Gives runs that wait for their turn another priority. Smaller goes first; 0 is the usual one.')
    .option('--to <priority>', 'from -1000 to 1000', wholeNumberOf('--to', -PRIORITY_MAX, PRIORITY_MAX))
  withNotes(command, [WHICH, BY_FILTER])
  withExamples(command, [
    { line: 'reprise reprioritise r42 --to -10', says: 'before all others of its lane' },
    { line: 'reprise reprioritise --where task:embed --to 50', says: 'a look: a whole task, behind the others' },
  ])
}

interface TimeOptions extends VerbOptions {
  readonly at?: number
  readonly in?: number
}

export const registerReschedule: Register = (program, frame) => {
  const command = verbCommand<TimeOptions>(program, frame, 'reschedule', async (store, selection, acting, given) => {
    const { at, in: inMs } = given
    if ((at === undefined) === (inMs === undefined))
      throw usageError('When? Give either --at or --in.', '`reprise reschedule r42 --in 2h`')
    const dueAt = at ?? (await storeNow(store)) + (inMs ?? 0)
    return rescheduleRuns(store, selection, { ...acting, dueAt })
  })
    .summary('gives runs another time to start')
    .description(
      'Gives runs that wait for their turn another time to start. A time that has come makes them ready at once; nothing of their attempts changes.',
    )
    .option('--at <instant>', 'epoch milliseconds, or ISO 8601 with its zone', parseInstant)
    .option('--in <duration>', 'from now: 0s, 10m, 2h', durationOf('--in'))
  withNotes(command, [WHICH, BY_FILTER])
  withExamples(command, [
    { line: 'reprise reschedule r42 --in 0s', says: 'a backoff that need not be waited for' },
    { line: 'reprise reschedule --where code:http.503 --in 2h', says: 'a look: all that an outage hit' },
  ])
}
