/**
 * `reprise retry`, and what all operators' verbs over runs share: by run or by filter, with a look before they act.
 */
import type { Command } from 'commander'
import { retryRuns, type Selection, type Steered, type Verb } from '../../ops/index.ts'
import type { Store } from '../../ports/store.ts'
import { usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { actorOf, zoneOf } from '../reader.ts'
import { filterFrom, RUN_HELP, runNamed } from '../run-argument.ts'
import { steeredLines } from '../screens/steered-lines.ts'

export interface VerbOptions {
  readonly where?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly by?: string
}

export const registerRetry: Register = (program, frame) => {
  const command = verbCommand(program, frame, 'retry', retryRuns)
    .summary('starts ended runs again, as their next generation')
    .description(
      'Starts runs again that failed, were cancelled or lie with a person: the next generation with fresh bounds, the history kept.',
    )
  withNotes(command, [BY_FILTER])
  withExamples(command, [
    { line: 'reprise retry r42', says: 'one run, at once' },
    { line: "reprise retry --where 'code:http.* since:2h'", says: 'a look: how many, and of what' },
    { line: "reprise retry --where 'code:http.* since:2h' --yes", says: 'in earnest' },
  ])
}

/** The same words for all verbs. */
export const BY_FILTER =
  'With `--where` it only looks and counts, until `--yes` is added. A run that changed between the look and the act is skipped. Every act stands in the history of its run and in the audit.'

/** How a verb is done once it is known to which runs. The options are the command's own. */
export type Perform<Options extends VerbOptions = VerbOptions> = (
  store: Store,
  selection: Selection,
  options: { readonly by: string; readonly dryRun: boolean },
  given: Options,
) => Promise<Steered>

export function verbCommand<Options extends VerbOptions = VerbOptions>(
  program: Command,
  frame: Frame,
  verb: Verb,
  perform: Perform<Options>,
): Command {
  const command = program
    .command(verb)
    .helpGroup('Operate')
    .argument('[runs...]', RUN_HELP)
    .option('--where <query>', 'all runs that match, instead of named ones; `reprise help runs` shows the filters')
    .option('--yes', 'do it, not only look')
    .option('--dry-run', 'only look')
    .option('--by <name>', 'who does it; your login unless given')
  withStoreFlags(command).action((words: string[], options: Options) => {
    if (words.length === 0 && options.where === undefined)
      throw usageError(
        `There is nothing to ${verb}: name runs, or give a filter.`,
        `\`reprise ${verb} --where state:failed\``,
      )
    if (words.length > 0 && options.where !== undefined)
      throw usageError('Either runs or --where can be given, not both.')
    if (options.yes && options.dryRun) throw usageError('Either --yes or --dry-run can be given, not both.')
    const touched = 'Some runs may be changed already; the same command again skips those.'
    const isLook = options.dryRun ?? (options.where !== undefined && !options.yes)
    return withStore(command, frame, { missing: 'refuse', ...(isLook ? {} : { touched }) }, async ({ store }) => {
      const terminal = frame.terminal()
      const selection = await selectionFrom(store, words, options.where, frame)
      const by = actorOf(options.by, terminal.env)
      tell(await perform(store, selection, { by, dryRun: isLook }, options), 'ids' in selection, frame)
    })
  })
  return command
}

async function selectionFrom(
  store: Store,
  words: readonly string[],
  where: string | undefined,
  frame: Frame,
): Promise<Selection> {
  if (where !== undefined) return { filter: (await filterFrom(store, where, zoneOf(frame.terminal().env))).filter }
  const ids: string[] = []
  // All of them are looked up before any is touched: a slip in the last one must not leave the first one done.
  for (const word of words) ids.push((await runNamed(store, word)).id)
  return { ids }
}

function tell(steered: Steered, isNamed: boolean, frame: Frame): void {
  const { json, out } = frame.terminal()
  if (json) out.lines(jsonLine(steered))
  else out.lines(...steeredLines(steered, isNamed, out))
  // Somebody named these runs and counts on them; a filter's passers-by are no failure.
  const missed = steered.dryRun ? 0 : isNamed ? steered.skipped.length : 0
  if (missed > 0) frame.fail()
}
