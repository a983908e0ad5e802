/**
 * `reprise cancel`: ends runs that have not ended, also those that run now; their worker's next write is refused.
 * How it selects, looks and acts is the same as in `retry.ts`.
 */
import { cancelRuns } from '../../ops/index.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { BY_FILTER, verbCommand } from './retry.ts'

export const registerCancel: Register = (program, frame) => {
  const command = verbCommand(program, frame, 'cancel', cancelRuns)
    .summary('ends runs that have not ended')
    .description(
      'Ends runs that have not ended. One that runs now loses its lease: its handler is told to leave, and whatever it still writes is refused.',
    )
  withNotes(command, [BY_FILTER])
  withExamples(command, [
    { line: 'reprise cancel r42 r43', says: 'two runs, at once' },
    { line: "reprise cancel --where 'task:embed state:waiting'", says: 'a look: how many' },
  ])
}
