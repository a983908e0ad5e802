/**
 * Failed documents by the fingerprint of their failure: read as a stream of small projections and counted here, so that it needs nothing
 * of the server that some of them lack.
 */
import type { Collection as MongoCollection } from 'mongodb'
import type { CollectionShape, FailureGroup } from '../../ports/source.ts'
import { documentOf } from './codec.ts'

/** Groups kept at a time: fingerprints are few, and a flood of new ones must not fill the memory. */
const GROUPS_MAX = 1_000

/** Ids that a group names. */
const IDS_MAX = 5

type Counted = { -readonly [Name in keyof FailureGroup]: FailureGroup[Name] } & { ids: string[] }

export async function groupsOf(collection: MongoCollection, shape: CollectionShape): Promise<readonly FailureGroup[]> {
  const { idField, statusField, marksField, status } = shape
  const groups = new Map<string, Counted>()
  const cursor = collection
    .find({
      [`${marksField}.failure.at`]: { $gt: new Date(0) },
      [statusField]: { $in: [status.failed, ...status.open] },
    })
    .project({ [idField]: 1, [statusField]: 1, [`${marksField}.failure`]: 1 })
  for await (const raw of cursor) {
    const { id, status: state, marks } = documentOf(raw, shape)
    const { failure } = marks
    if (!failure) continue
    const { fingerprint, kind, code, advice, message, at } = failure
    let group = groups.get(fingerprint)
    if (!group) {
      if (groups.size >= GROUPS_MAX) continue
      group = { fingerprint, kind, code, advice, message, failed: 0, waiting: 0, firstAt: at, lastAt: at, ids: [] }
      groups.set(fingerprint, group)
    }
    if (state === status.failed) group.failed += 1
    else group.waiting += 1
    group.firstAt = Math.min(group.firstAt, at)
    group.lastAt = Math.max(group.lastAt, at)
    if (group.ids.length < IDS_MAX) group.ids.push(id)
  }
  return [...groups.values()].sort((a, b) => b.failed + b.waiting - (a.failed + a.waiting))
}
