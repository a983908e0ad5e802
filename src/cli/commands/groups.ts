/**
 * `reprise groups`: what failed, by what is wrong with it: the view that finds root causes, over runs or over the sweep's documents.
 */
import type { Command } from 'commander'
import { groupFailures, maskRecord } from '../../ops/index.ts'
import { sweepGroups } from '../../sweep/groups.ts'
import { usageError } from '../cli-error.ts'
import { withConfigFlags } from '../config-option.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore } from '../open-store.ts'
import { withSweep } from '../open-sweep.ts'
import { zoneOf } from '../reader.ts'
import { filterFrom, QUERY_HELP, refusedFilter } from '../run-argument.ts'
import { groupLines } from '../screens/group-lines.ts'

const SOURCES = ['runs', 'sweep'] as const

type Source = (typeof SOURCES)[number]

interface Options {
  readonly source?: string
  readonly config?: string
  readonly collection?: string
}

export const registerGroups: Register = (program, frame) => {
  const command = program
    .command('groups')
    .helpGroup('Look')
    .summary('what failed, by what is wrong with it')
    .description(
      'Groups failed runs and those with a person by the fingerprint of their failure, largest first, with advice. With `--source sweep`: failed and waiting documents in other services’ collections.',
    )
    .argument('[query...]', QUERY_HELP)
    .option('--source <name>', 'runs, or sweep: documents in other services’ collections (default: runs)')
    .option('--collection <name>', 'of the sweep, only this one')
    .option('--config <file>', 'the configuration; of the sweep, the module that describes it')
  withConfigFlags(command, ['store']).action((words: string[], options: Options) =>
    sourceOf(options) === 'sweep' ? showSweep(words, options, frame) : showRuns(words, command, frame),
  )
  withExamples(command, [
    { line: 'reprise groups', says: 'root causes of failed runs, largest first' },
    { line: 'reprise groups task:invoice since:1d --json', says: 'of one task and one day, one object per line' },
    { line: 'reprise groups --source sweep --config sweep.ts', says: 'of documents that the sweep looks after' },
  ])
}

function sourceOf({ source, collection }: Options): Source {
  if (source === undefined) return collection === undefined ? 'runs' : 'sweep'
  const found = SOURCES.find((each) => each === source)
  if (!found) throw usageError('--source is not known.', `${SOURCES.join(' or ')}.`)
  if (found === 'runs' && collection !== undefined)
    throw usageError('--collection is of the sweep.', '`--source sweep`, or `task:<name>` for runs.')
  return found
}

function showRuns(words: readonly string[], command: Command, frame: Frame): Promise<void> {
  return withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
    const { json, out, quiet, human, env } = frame.terminal()
    const zone = zoneOf(env)
    const { filter } = await filterFrom(store, words, zone)
    const { groups, now, partial } = await groupFailures(store, filter).catch((error) => {
      throw refusedFilter(error)
    })
    if (json) out.lines(...groups.map((group) => jsonLine(maskRecord({ ...group, now }))))
    else if (groups.length > 0) out.lines(...groupLines(groups.map(maskRecord), out, zone, now))
    if (quiet) return
    if (groups.length === 0) human.lines(words.length > 0 ? 'Nothing that matches has failed.' : 'Nothing has failed.')
    if (partial) human.lines('', human.paint.dim('Only the newest runs were looked at; since: narrows it.'))
  })
}

function showSweep(words: readonly string[], options: Options, frame: Frame): Promise<void> {
  if (words.length > 0) throw usageError('A query is for runs.', '`--collection <name>` for the sweep.')
  return withSweep(options.config, frame, async ({ sweep }) => {
    const { json, out, quiet, human, env } = frame.terminal()
    const groups = await sweepGroups(sweep, options.collection)
    if (json) out.lines(...groups.map((group) => jsonLine(group)))
    else if (groups.length > 0) out.lines(...groupLines(groups, out, zoneOf(env), await sweep.source.now()))
    else if (!quiet) human.lines('Nothing has failed.')
  })
}
