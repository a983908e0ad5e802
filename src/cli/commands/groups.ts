/**
 * `reprise groups`: what failed, by what is wrong with it: the view that finds root causes.
 */
import { sweepGroups } from '../../sweep/groups.ts'
import { usageError } from '../cli-error.ts'
import type { Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withSweep } from '../open-sweep.ts'
import { zoneOf } from '../reader.ts'
import { groupLines } from '../screens/sweep-lines.ts'

interface Options {
  readonly source: string
  readonly config?: string
  readonly collection?: string
}

export const registerGroups: Register = (program, frame) => {
  const command = program
    .command('groups')
    .helpGroup('Look')
    .summary('failed documents by what is wrong with them')
    .description(
      'Groups failed and waiting documents by the fingerprint of their last failure, largest first, with advice.',
    )
    .option('--source <name>', 'sweep: documents in other services’ collections', 'sweep')
    .option('--config <file>', 'the module that describes the sweep')
    .option('--collection <name>', 'only this one')
    .action((options: Options) => {
      if (options.source !== 'sweep') throw usageError('--source is not known.', '`sweep`.')
      return withSweep(options.config, frame, async ({ sweep }) => {
        const { json, out, quiet, human, env } = frame.terminal()
        const groups = await sweepGroups(sweep, options.collection)
        if (json) out.lines(...groups.map((group) => jsonLine(group)))
        else if (groups.length > 0) out.lines(...groupLines(groups, out, zoneOf(env), await sweep.source.now()))
        else if (!quiet) human.lines('Nothing has failed.')
      })
    })
  withExamples(command, [
    { line: 'reprise groups --source sweep --config sweep.ts', says: 'root causes, largest first' },
  ])
}
