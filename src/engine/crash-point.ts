/**
 * Named places where a test may kill the process: `REPRISE_CRASH_AT=after-intent` dies there, the first time it is reached,
 * as kill -9 would. Costs one comparison when the variable is not set.
 */

export type CrashPoint =
  | 'after-claim'
  | 'after-intent'
  | 'after-send'
  | 'after-answer'
  | 'after-artifact'
  | 'before-end'
  | 'after-end'

const armed = process.env['REPRISE_CRASH_AT']

export function crashPoint(name: CrashPoint): void {
  if (armed !== undefined && armed === name) process.kill(process.pid, 'SIGKILL')
}
