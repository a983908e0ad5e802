/**
 * How groups of failures look, of runs and of documents: how many, what is wrong, since when, what to do, and some of them by name.
 */
import type { RunGroup } from '../../ops/index.ts'
import type { SweepGroup } from '../../sweep/groups.ts'
import { clockTime } from '../../time/zone.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'

export function groupLines(
  groups: readonly (RunGroup | SweepGroup)[],
  screen: Screen,
  zone: string,
  now: number,
): string[] {
  return groups.flatMap((group) => [
    ...headLines(group, screen, zone, now),
    ...wrap(screen.text(group.message), screen.columns - 4).map((line) => `    ${line}`),
    ...wrap(screen.text(group.advice), screen.columns - 4).map((line) => `    ${screen.paint.dim(line)}`),
    ...wrap(screen.text(`such as ${group.ids.join(', ')} · ${group.fingerprint}`), screen.columns - 4).map(
      (line) => `    ${screen.paint.dim(line)}`,
    ),
  ])
}

function headLines(group: RunGroup | SweepGroup, screen: Screen, zone: string, now: number): string[] {
  const size = String(sizeOf(group))
  const words = `${ofWhat(group)}: ${group.code}, ${countsOf(group)}, since ${clockTime(group.firstAt, zone, now)}`
  const [first = '', ...rest] = wrap(screen.text(`${size} ${words}`), screen.columns)
  return [`${screen.paint.bold(size)}${first.slice(size.length)}`, ...rest]
}

const isOfRuns = (group: RunGroup | SweepGroup): group is RunGroup => 'task' in group

const ofWhat = (group: RunGroup | SweepGroup): string => (isOfRuns(group) ? group.task : group.collection)

const sizeOf = (group: RunGroup | SweepGroup): number => group.failed + (isOfRuns(group) ? group.review : group.waiting)

const countsOf = (group: RunGroup | SweepGroup): string =>
  isOfRuns(group)
    ? `${group.failed} failed, ${group.review} with a person`
    : `${group.failed} failed, ${group.waiting} waiting`
