/**
 * `groupFailures`: failed runs, and those with a person, by what is wrong with them: the view that finds root causes.
 * A read model in bounded pages; what is done about a group is a verb's affair.
 */
import type { Kind } from '../failure/failure.ts'
import { fingerprint } from '../failure/fingerprint.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { RunFilter } from './filter.ts'
import { matchingRuns } from './find-runs.ts'

/** Each has an index of its own, so the walk is as long as there are such runs, however many others there are. */
const GROUPED = ['failed', 'review'] as const

/** Past this many runs the look stops and says so: the newest tell what is wrong now. */
const LOOKED_MAX = 50_000

/** Fingerprints are few; a flood of new ones must not fill the memory. */
const GROUPS_MAX = 1_000

/** Ids that a group names. */
const IDS_MAX = 5

export interface RunGroup {
  readonly task: string
  readonly fingerprint: string
  readonly kind: Kind
  readonly code: string
  readonly advice: string
  /** Of the newest of them. */
  readonly message: string
  readonly failed: number
  readonly review: number
  /** When the first and the last of them ended; those with a person count from their submit. */
  readonly firstAt: number
  readonly lastAt: number
  /** The newest of them, at most five. */
  readonly ids: readonly string[]
}

export interface RunGroups {
  readonly now: number
  /** The largest first. */
  readonly groups: readonly RunGroup[]
  /** Older runs were not looked at. */
  readonly partial: boolean
}

type Counted = { -readonly [Name in keyof RunGroup]: RunGroup[Name] } & { ids: string[] }

export async function groupFailures(store: Store, filter: RunFilter): Promise<RunGroups> {
  const { now } = await store.find({ limit: 1 })
  const groups = new Map<string, Counted>()
  let looked = 0
  for (const state of statesOf(filter)) {
    for await (const run of matchingRuns(store, { ...filter, query: { ...filter.query, states: [state] } })) {
      add(groups, run)
      looked += 1
      if (looked >= LOOKED_MAX) return { now, groups: sorted(groups), partial: true }
    }
  }
  return { now, groups: sorted(groups), partial: false }
}

function statesOf({ query, tokens }: RunFilter): readonly (typeof GROUPED)[number][] {
  const { states } = query
  const other = states?.find((state) => !GROUPED.some((each) => each === state))
  if (other !== undefined) {
    const written = tokens.find(({ name }) => name === 'state')?.written ?? other
    throw new RepriseError(
      'filter.invalid',
      `"${written}" is not of groups. Allowed: state:failed, state:review, or none for both.`,
    )
  }
  return states ? GROUPED.filter((state) => states.includes(state)) : GROUPED
}

function add(groups: Map<string, Counted>, { id, task, state, failure, finishedAt, submittedAt }: RunView): void {
  // Handed to a person without anything having failed: nothing is wrong with it.
  if (!failure) return
  const print = fingerprint(failure)
  const name = JSON.stringify([task, print])
  const at = finishedAt ?? submittedAt
  let group = groups.get(name)
  if (!group) {
    if (groups.size >= GROUPS_MAX) return
    const { kind, code, advice, message } = failure
    group = {
      ...{ task, fingerprint: print, kind, code, advice, message },
      ...{ failed: 0, review: 0, firstAt: at, lastAt: at, ids: [] },
    }
    groups.set(name, group)
  }
  if (state === 'failed') group.failed += 1
  else group.review += 1
  group.firstAt = Math.min(group.firstAt, at)
  group.lastAt = Math.max(group.lastAt, at)
  if (group.ids.length < IDS_MAX) group.ids.push(id)
}

const sorted = (groups: ReadonlyMap<string, Counted>): RunGroup[] =>
  [...groups.values()].sort((a, b) => b.failed + b.review - (a.failed + a.review) || b.lastAt - a.lastAt)
