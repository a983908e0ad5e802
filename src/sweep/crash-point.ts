/**
 * Named places where a test may kill a sweeper: `REPRISE_CRASH_AT=sweep-after-count` dies there, the first time it is reached,
 * as kill -9 would. Costs one comparison when the variable is not set.
 */

export const SWEEP_CRASH_POINTS = [
  'sweep-after-hear',
  'sweep-after-ack',
  'sweep-after-count',
  'sweep-after-send',
  'sweep-after-clear',
  'sweep-after-end',
  'sweep-after-take-over',
  'sweep-after-archive',
] as const

export type SweepCrashPoint = (typeof SWEEP_CRASH_POINTS)[number]

const armed = process.env['REPRISE_CRASH_AT']

export function crashPoint(name: SweepCrashPoint): void {
  if (armed !== undefined && armed === name) process.kill(process.pid, 'SIGKILL')
}
