/**
 * A whole command line run in process, exactly as a shell would run it, with everything it wrote.
 */

import { virtualClock } from '../testing/virtual-clock.ts'
import type { Clock } from '../time/clock.ts'
import type { ExitCode } from './cli-error.ts'
import { type FakeOptions, fakeConsole } from './fake-console.fixtures.ts'
import { run } from './run.ts'

export interface Ran {
  readonly exit: ExitCode
  readonly out: string
  readonly err: string
}

/** The command line as typed in a shell; words are split at spaces. */
export async function runLine(
  line: string,
  options: FakeOptions & { clock?: Clock; cwd?: string; interruption?: AbortSignal } = {},
): Promise<Ran> {
  const console = fakeConsole(options)
  const words = line.split(' ').filter((word) => word !== '')
  const exit = await run(words, {
    console,
    clock: options.clock ?? virtualClock(),
    cwd: options.cwd ?? process.cwd(),
    version: '0.1.0',
    interruption: () => options.interruption ?? new AbortController().signal,
  })
  return { exit, out: console.written.out, err: console.written.err }
}
