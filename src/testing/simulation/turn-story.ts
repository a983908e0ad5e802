/**
 * Whose turn it was: the order of runs within a lane, and runs of a concurrency key kept apart, written down a second time on
 * purpose. It is asked at each claim and remembers nothing.
 */
import { type Given, isWaiting } from './gate-story.ts'
import type { StoreLine } from './history.ts'
import type { Draft } from './story.ts'

/** Smaller goes first: each step of priority is worth so much waiting, and without ageing more than anybody ever waits. */
function placeOf({ submittedAt, last: { priority, placedFor } }: Draft, ageingMs: number): number {
  const stepMs = ageingMs === 0 ? 4e12 : ageingMs
  const isFarOff = placedFor !== undefined && placedFor > submittedAt + stepMs
  return (isFarOff ? placedFor : submittedAt) + priority * stepMs
}

/** Runs that were given out before one of their own lane whose turn was earlier. What has a key may be parked, and is not waited for. */
export function jumped(
  drafts: ReadonlyMap<string, Draft>,
  given: readonly Given[],
  { at }: StoreLine,
  ageingMs: number,
): string[] {
  const left = [...drafts.values()].filter((draft) => !draft.concurrency && isWaiting(draft.last, at))
  return given.flatMap(({ run, model }) => {
    const mine = drafts.get(run)
    if (!mine || left.length === 0) return []
    const place = placeOf(mine, ageingMs)
    const passed = left.find((draft) => {
      const theirs = placeOf(draft, ageingMs)
      return isSameLane(draft.last, model) && (theirs < place || (theirs === place && draft.number < mine.number))
    })
    return passed ? [`${run} was given out at ${at}, and ${passed.run} of its lane, whose turn it was, was not`] : []
  })
}

const isSameLane = (a: Given['model'], b: Given['model']): boolean =>
  a.again === b.again &&
  a.lane.task === b.lane.task &&
  a.lane.category === b.lane.category &&
  a.lane.resource === b.lane.resource

/** Runs of its key that are out, and that could be. */
function ofKey(drafts: ReadonlyMap<string, Draft>, of: Draft, at: number): { readonly out: number; ready: number } {
  const same = [...drafts.values()].filter(
    ({ last, concurrency }) => concurrency?.key === of.concurrency?.key && last.lane.task === of.last.lane.task,
  )
  return {
    out: same.filter(({ last }) => last.holder && !last.holder.isPerson).length,
    ready: same.filter(({ last }) => isWaiting(last, at)).length,
  }
}

/** Whether a claim may have put it aside because its key was full. */
export function mayBeParked(drafts: ReadonlyMap<string, Draft>, draft: Draft, at: number): boolean {
  if (!draft.concurrency) return false
  const { out, ready } = ofKey(drafts, draft, at)
  return out + ready - 1 >= draft.concurrency.max
}

/** What a claim made of the keys of the runs that it gave out. */
export function keysAfter(
  drafts: ReadonlyMap<string, Draft>,
  given: readonly Given[],
  { at }: StoreLine,
): { readonly breaches: readonly string[]; readonly full: number } {
  const breaches: string[] = []
  let full = 0
  for (const { run } of given) {
    const draft = drafts.get(run)
    if (!draft?.concurrency) continue
    const { key, max } = draft.concurrency
    const { out, ready } = ofKey(drafts, draft, at)
    if (out > max) breaches.push(`${run} was given out at ${at}: ${out} of key ${key} are out, allowed are ${max}`)
    if (out >= max && ready > 0) full += 1
  }
  return { breaches, full }
}
