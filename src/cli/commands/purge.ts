/**
 * `reprise purge`: deletes ended runs that an export holds, or all that are old; a look and a count until it is told to do it.
 */
import { type ExportedRun, type Purged, purgeRuns, type Stays } from '../../ops/index.ts'
import { STATES, type TerminalState } from '../../run/run.ts'
import { briefDuration } from '../../time/duration.ts'
import { usageError } from '../cli-error.ts'
import { ExportFile } from '../export-lines.ts'
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
import { shown, wrap } from '../terminal/text.ts'
import { oneOf } from '../word-option.ts'

const ENDED = ['succeeded', 'failed', 'cancelled'] as const satisfies readonly TerminalState[]

interface Options {
  readonly from?: string
  readonly unexported?: boolean
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
    .summary('deletes ended runs that were exported')
    .description(
      'Deletes ended runs with their history and journal, in small batches beside the workers: those that an export holds just as they are, and no others. Keys stay for seven days after the end of their runs, or as configured; artifacts stay.',
    )
    .option('--from <file>', 'what `reprise export --out` has written')
    .option('--unexported', 'without an export, whatever is old enough; needs --older-than')
    .option('--older-than <duration>', 'how long ago they ended, at least: 30d, 12h', durationOf('--older-than'))
    .option('--state <names>', `only what ended so, joined by commas: ${ENDED.join(', ')}`)
    .option('--yes', 'do it, not only look')
    .option('--dry-run', 'only look')
    .option('--by <name>', 'who does it; your login unless given')
  withStoreFlags(command).action((options: Options) => {
    checkOptions(options)
    const { from, olderThan = 0 } = options
    const states = options.state?.split(',').map(oneOf('ended state', ENDED)) ?? ENDED
    const dryRun = options.yes !== true
    const touched = 'Some runs may be deleted already; the same command again goes on.'
    return withStore(command, frame, { missing: 'refuse', ...(dryRun ? {} : { touched }) }, async (opened) => {
      const { json, out, env } = frame.terminal()
      const { keysMs } = opened.settings.retention
      const by = actorOf(options.by, env)
      const file = from === undefined ? undefined : exportOf(from, frame.cwd)
      const purged = await purgeRuns(opened.store, {
        ...{ olderThanMs: olderThan, states, keysMs, by, dryRun },
        ...(file ? { exported: file.lines(), audit: () => ({ file: from ?? '', sha256: file.sha256 ?? '' }) } : {}),
      })
      if (json) out.lines(jsonLine(purged))
      else out.lines(...purgedLines(purged, options, out))
    })
  })
  withNotes(command, [
    'What is deleted is gone. A run that was begun again or has changed since the export stays, and so does one that is tied by a flow to a run that stays. The newest run of a store stays, so that its id is never given to another.',
    'Workers delete by age alone, without an export, when `retention` is configured. `reprise vacuum` gives the space back.',
  ])
  withExamples(command, [
    { line: 'reprise export state:succeeded before:30d --out old.jsonl', says: 'writes down what is old' },
    { line: 'reprise purge --from old.jsonl', says: 'a look: how many, and of what' },
    { line: 'reprise purge --from old.jsonl --yes', says: 'in earnest' },
    { line: 'reprise purge --older-than 30d', says: 'a look at all that is old, exported or not' },
  ])
}

function checkOptions({ from, unexported, olderThan, yes, dryRun }: Options): void {
  if (from === undefined && olderThan === undefined)
    throw usageError(
      'What may be deleted?',
      '`reprise purge --from old.jsonl`, which `reprise export --out old.jsonl` writes; or `--older-than 30d` for a look.',
    )
  if (yes && dryRun) throw usageError('Either --yes or --dry-run can be given, not both.')
  if (from !== undefined && unexported) throw usageError('Either --from or --unexported can be given, not both.')
  if (yes && from === undefined && !unexported)
    throw usageError(
      'A purge deletes only what an export holds.',
      '`reprise export before:30d --out old.jsonl`, then `reprise purge --from old.jsonl --yes`; `--unexported` deletes without one.',
    )
}

const exportOf = (name: string, cwd: string): ExportFile<ExportedRun> =>
  new ExportFile(name, cwd, ['run', 'attempts', 'journal'], ({ run }) => typeof run?.id === 'string')

function purgedLines({ dryRun, matched, stays, done, keys }: Purged, options: Options, screen: Screen): string[] {
  const { from, olderThan } = options
  const count = matched.reduce((sum, { runs }) => sum + runs, 0)
  const age = olderThan === undefined ? '' : ` that ended more than ${briefDuration(olderThan)} ago`
  const which = `${from === undefined ? '' : ` of ${shown(from)}`}${age}`
  const told = (text: string) => emphasise(wrap(screen.text(text), screen.columns), screen)
  const staying = staysText(stays ?? {}).flatMap(told)
  if (!dryRun)
    return [
      ...told(`Deleted ${runsText(done)}${which}, and forgot ${keys} ${keys === 1 ? 'key' : 'keys'}.`),
      ...staying,
    ]
  if (count === 0)
    return [...told(`There is no run${from === undefined ? age : `${which} that may be deleted`}.`), ...staying]
  const order = (state: TerminalState) => STATES.indexOf(state)
  const rows = [...matched]
    .sort((a, b) => b.runs - a.runs || order(a.state) - order(b.state))
    .map(({ task, state, runs }) => [String(runs), stateCell(state, screen), screen.text(task)])
  const columns = [{ header: '', align: 'right' }, { header: '' }, { header: '', flexible: true }] as const
  return [
    ...told(`Would delete ${runsText(count)}${which}:`),
    ...table(screen, columns, rows, '  '),
    ...staying,
    '',
    ...told(`Nothing has changed yet. ${nextStep(options, count === 1 ? 'it' : 'them')}`),
  ]
}

function nextStep({ from, unexported }: Options, them: string): string {
  if (from !== undefined || unexported) return `Add \`--yes\` to delete ${them}.`
  return `\`reprise export --out <file>\` writes ${them} down, and \`--from <file> --yes\` deletes what it holds; \`--unexported --yes\` deletes ${them} without.`
}

const STAYS: Readonly<Record<Stays, string>> = {
  gone: 'not there any more',
  changed: 'changed since the export',
  'not ended': 'not ended',
  'of another state': 'of another state',
  'too young': 'too young',
  tied: 'tied to what stays, or the newest',
}

function staysText(stays: NonNullable<Purged['stays']>): string[] {
  const parts = (Object.keys(STAYS) as Stays[]).flatMap((why) => (stays[why] ? `${stays[why]} ${STAYS[why]}` : []))
  return parts.length === 0 ? [] : [`Not deleted: ${parts.join(', ')}.`]
}

const runsText = (count: number) => `${count} ${count === 1 ? 'run' : 'runs'}`
