/**
 * `reprise purge`: deletes ended runs that are older than asked; a look and a count until it is told to do it.
 */
import { type Purged, purgeRuns } from '../../ops/index.ts'
import { STATES, type TerminalState } from '../../run/run.ts'
import { briefDuration } from '../../time/duration.ts'
import { usageError } from '../cli-error.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { durationOf } from '../number-option.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { actorOf } from '../reader.ts'
import { stateCell } from '../screens/run-table.ts'
import { emphasise } from '../terminal/emphasis.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'
import { oneOf } from '../word-option.ts'

const ENDED = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly TerminalState[]

interface Options {
  readonly olderThan?: number
  readonly state?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly by?: string
}

export const registerPurge: Register = (program, frame) => {
  const command = program
    .command('purge')
    .helpGroup('Operate')
    .summary('deletes old runs that have ended')
    .description(
      'Deletes runs that ended longer ago than asked, with their history and journal, in small batches beside the workers. Keys stay for seven days after the end of their runs, or as configured; artifacts stay.',
    )
    .option('--older-than <duration>', 'how long ago they ended, at least: 30d, 12h', durationOf('--older-than'))
    .option('--state <names>', `only what ended so, joined by commas: ${ENDED.join(', ')}`)
    .option('--yes', 'do it, not only look')
    .option('--dry-run', 'only look')
    .option('--by <name>', 'who does it; your login unless given')
  withStoreFlags(command).action((options: Options) => {
    const { olderThan } = options
    if (olderThan === undefined)
      throw usageError('How old must a run be to be deleted?', '`reprise purge --older-than 30d`')
    if (options.yes && options.dryRun) throw usageError('Either --yes or --dry-run can be given, not both.')
    const states = options.state?.split(',').map(oneOf('ended state', ENDED)) ?? ENDED
    const dryRun = options.yes !== true
    const touched = 'Some runs may be deleted already; the same command again goes on.'
    return withStore(command, frame, { missing: 'refuse', ...(dryRun ? {} : { touched }) }, async (opened) => {
      const { json, out, env } = frame.terminal()
      const { keysMs } = opened.settings.retention
      const by = actorOf(options.by, env)
      const purged = await purgeRuns(opened.store, { olderThanMs: olderThan, states, keysMs, by, dryRun })
      if (json) out.lines(jsonLine(purged))
      else out.lines(...purgedLines(purged, olderThan, out))
    })
  })
  withNotes(command, [
    'What is deleted is gone: `reprise export` writes it down first. The newest run of a store stays, so that its id is never given to another.',
    'Workers do the same by themselves when `retention` is configured. `reprise vacuum` gives the space back.',
  ])
  withExamples(command, [
    { line: 'reprise purge --older-than 30d', says: 'a look: how many, and of what' },
    { line: 'reprise purge --older-than 7d --state succeeded --yes', says: 'in earnest' },
  ])
}

function purgedLines({ dryRun, matched, done, keys }: Purged, olderThanMs: number, screen: Screen): string[] {
  const count = matched.reduce((sum, { runs }) => sum + runs, 0)
  const age = `that ended more than ${briefDuration(olderThanMs)} ago`
  if (!dryRun)
    return wrap(`Deleted ${runsText(done)} ${age}, and forgot ${keys} ${keys === 1 ? 'key' : 'keys'}.`, screen.columns)
  if (count === 0) return wrap(`There is no run ${age}.`, screen.columns)
  const order = (state: TerminalState) => STATES.indexOf(state)
  const rows = [...matched]
    .sort((a, b) => b.runs - a.runs || order(a.state) - order(b.state))
    .map(({ task, state, runs }) => [String(runs), stateCell(state, screen), screen.text(task)])
  const columns = [{ header: '', align: 'right' }, { header: '' }, { header: '', flexible: true }] as const
  return [
    ...wrap(`Would delete ${runsText(count)} ${age}:`, screen.columns),
    ...table(screen, columns, rows, '  '),
    '',
    ...emphasise(
      wrap(`Nothing has changed yet. Add \`--yes\` to delete ${count === 1 ? 'it' : 'them'}.`, screen.columns),
      screen,
    ),
  ]
}

const runsText = (count: number) => `${count} ${count === 1 ? 'run' : 'runs'}`
