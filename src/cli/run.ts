/**
 * One command line from words to exit code: parse, act, and tell every error in one form.
 * It touches nothing of the process, so tests run it with a captured console and a clock of their own.
 */
import { type Command, CommanderError } from 'commander'
import type { Clock } from '../time/clock.ts'
import { CliError, type ExitCode } from './cli-error.ts'
import type { Frame } from './frame.ts'
import { createProgram } from './program.ts'
import { errorBlock } from './terminal/error-block.ts'
import { type Console, createTerminal, type Terminal } from './terminal/terminal.ts'
import { fromCommander } from './usage-errors.ts'

export interface Outside {
  readonly console: Console
  readonly clock: Clock
  readonly cwd: string
  readonly version: string
  interruption(): AbortSignal
}

/** `words` are the arguments after the program's name. */
export async function run(words: readonly string[], outside: Outside): Promise<ExitCode> {
  let failed = false
  let program: Command | undefined
  const terminal = (): Terminal => {
    const wishes = program?.opts() ?? {}
    return createTerminal(outside.console, {
      json: wishes['json'] === true,
      plain: wishes['plain'] === true,
      quiet: wishes['quiet'] === true,
      colour: wishes['color'] !== false,
      debug: wishes['debug'] === true,
    })
  }
  const frame: Frame = {
    terminal,
    clock: outside.clock,
    cwd: outside.cwd,
    version: outside.version,
    interruption: outside.interruption,
    fail: () => {
      failed = true
    },
  }
  program = createProgram(frame)
  let current: Command | undefined
  program.hook('preSubcommand', (_, command) => {
    current = command
  })
  try {
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
    return failed ? 1 : 0
  } catch (thrown) {
    if (thrown instanceof CommanderError) {
      if (thrown.exitCode === 0) return 0
      // Options without a command: the answer is the same as to no words at all.
      if (thrown.code === 'commander.help') {
        program.outputHelp()
        return 0
      }
    }
    const error = thrown instanceof CommanderError ? fromCommander(thrown, program, current) : thrown
    const { err, debug } = terminal()
    err.lines(...errorBlock(error, err, debug))
    return error instanceof CliError ? error.exit : 1
  }
}
