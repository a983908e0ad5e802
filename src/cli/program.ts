/**
 * The program's definition: its name, the options of every command, and the commands in their groups.
 * It only assembles; parsing, errors and exit codes are `run`'s, and what a command does is in its own file.
 */
import { Command } from 'commander'
import { registerBudget } from './commands/budget.ts'
import { registerCancel } from './commands/cancel.ts'
import { registerClassify } from './commands/classify.ts'
import { registerCodes } from './commands/codes.ts'
import { registerConfig } from './commands/config.ts'
import { registerExplain } from './commands/explain.ts'
import { registerExport } from './commands/export.ts'
import { registerExtract } from './commands/extract.ts'
import { registerGroups } from './commands/groups.ts'
import { registerHelp } from './commands/help.ts'
import { registerHolds } from './commands/holds.ts'
import { registerIncidents } from './commands/incidents.ts'
import { registerMigrate } from './commands/migrate.ts'
import { registerPlan } from './commands/plan.ts'
import { registerPurge } from './commands/purge.ts'
import { registerReprioritise, registerReschedule } from './commands/reorder.ts'
import { registerRetry } from './commands/retry.ts'
import { registerReview } from './commands/review.ts'
import { registerRuns } from './commands/runs.ts'
import { registerShow } from './commands/show.ts'
import { registerSim } from './commands/sim.ts'
import { registerStart } from './commands/start.ts'
import { registerStats } from './commands/stats.ts'
import { registerSubmit } from './commands/submit.ts'
import { registerSweep } from './commands/sweep.ts'
import { registerVacuum } from './commands/vacuum.ts'
import { registerVerify } from './commands/verify.ts'
import { registerWork } from './commands/work.ts'
import type { Frame, Register } from './frame.ts'
import { formatHelp, withExamples } from './help.ts'

/** In the order in which help and manual list them. A new command is one file and one line here. */
const COMMANDS: readonly Register[] = [
  registerStart,
  registerSim,
  registerClassify,
  registerCodes,
  registerPlan,
  registerExtract,
  registerSubmit,
  registerWork,
  registerSweep,
  registerRuns,
  registerShow,
  registerExplain,
  registerStats,
  registerGroups,
  registerRetry,
  registerCancel,
  registerReprioritise,
  registerReschedule,
  registerReview,
  registerIncidents,
  registerHolds,
  registerBudget,
  registerVerify,
  registerExport,
  registerPurge,
  registerVacuum,
  registerMigrate,
  registerConfig,
  registerHelp,
]

export function createProgram(frame: Frame): Command {
  const program = new Command('reprise')
  program
    .description(
      'The right second take for every failed step of an AI or document pipeline: wait, repair, a stronger model, a person, or an honest end.',
    )
    .usage('<command> [options]')
    .version(frame.version, '--version', 'the version of reprise')
    .option('--json', 'one JSON object per line on stdout; words for people go to stderr')
    .option('--plain', 'ASCII signs only, no colours, nothing repainted')
    .option('--quiet', 'results and errors only, no progress and no hints')
    .option('--no-color', 'no colours; NO_COLOR, FORCE_COLOR and TERM=dumb are respected too')
    .option('--debug', 'errors with their stack')
    .helpOption('--help', 'this text')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => frame.terminal().out.write(text),
      // Complaints are told by `run`, once and in our words.
      writeErr: () => {},
      getOutHasColors: () => frame.terminal().out.colour > 0,
      getOutHelpWidth: () => frame.terminal().out.columns,
    })
    .configureHelp({
      formatHelp: (command, help) => formatHelp(command, help, frame.terminal().out),
    })
  withExamples(program, [
    { line: 'reprise start', says: 'a demonstration without key or network' },
    { line: 'reprise plan --kind transient --policy daemon', says: 'what happens when a call fails now and then' },
  ])
  for (const register of COMMANDS) register(program, frame)
  return program
}
