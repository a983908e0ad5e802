/**
 * What every command is handed, and the shape in which a command presents itself to the program.
 * Commands reach the outside through this only, so they run in a test exactly as in a shell.
 */
import type { Command } from 'commander'
import type { Clock } from '../time/clock.ts'
import type { Terminal } from './terminal/terminal.ts'

export interface Frame {
  /** The terminal with the global options as far as they are parsed. Ask it inside an action, not while registering. */
  terminal(): Terminal
  readonly clock: Clock
  /** Paths that were typed are relative to here. */
  readonly cwd: string
  readonly version: string
  /** Aborts at the first Ctrl-C; the second one leaves at once. Listening begins with the call. */
  interruption(): AbortSignal
  /** The command worked but its verdict is not good: exit 1 without an error block. */
  fail(): void
}

/** Adds one command to the program. */
export type Register = (program: Command, frame: Frame) => void
