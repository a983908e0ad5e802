/**
 * Concurrency keys of the memory driver: how many runs of a key are out, and who is woken when one of them makes room.
 * It does not know why room was made; who is parked is decided where runs are chosen.
 */
import { inOrder, type Row, type Tables } from './rows.ts'

const isOfKey = (row: Row, of: Row): boolean =>
  row.lane.task === of.lane.task && row.concurrency !== undefined && row.concurrency.key === of.concurrency?.key

/** Waiting for room, not for a time. */
export const isParked = (row: Row): boolean => row.state === 'waiting' && row.dueAt === undefined

const isSameLane = (a: Row, b: Row): boolean =>
  a.again === b.again && a.lane.category === b.lane.category && a.lane.resource === b.lane.resource

/** Runs of its key that are in workers' hands; what a person has in hand is in review, and not out. */
export const outOf = (tables: Tables, of: Row): number =>
  [...tables.open].filter((row) => row.state === 'ready' && row.lease && isOfKey(row, of)).length

/** Whether those that are out, with those of its lane that are ready before it, leave no room for a parked run. */
export function isCrowded(tables: Tables, parked: Row): boolean {
  const before = [...tables.open].filter(
    (row) =>
      row.state === 'ready' &&
      !row.lease &&
      !row.suspect &&
      isOfKey(row, parked) &&
      isSameLane(row, parked) &&
      inOrder(row, parked) < 0,
  )
  return outOf(tables, parked) + before.length >= (parked.concurrency?.max ?? 0)
}

/** After this run has left its place, out or ready: wakes the next of its key that fit, in each lane. */
export function wakeAfter(tables: Tables, left: Row, now: number): void {
  if (!left.concurrency) return
  const parked = [...tables.open].filter((row) => isParked(row) && isOfKey(row, left)).sort(inOrder)
  for (const [index, row] of parked.entries()) {
    // What waits before it in its lane goes first.
    const isNext = !parked.slice(0, index).some((other) => isParked(other) && isSameLane(other, row))
    if (!isNext || isCrowded(tables, row)) continue
    row.state = 'ready'
    row.readyAt = now
  }
}
