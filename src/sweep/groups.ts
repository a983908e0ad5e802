/**
 * Failed documents by what is wrong with them: the root-cause view over all collections.
 */
import type { FailureGroup } from '../ports/source.ts'
import { collectionNamed, type Sweep } from './sweep.ts'

export interface SweepGroup extends FailureGroup {
  readonly collection: string
}

/** The largest first. */
export async function sweepGroups(sweep: Sweep, collection?: string): Promise<readonly SweepGroup[]> {
  const wanted = collection === undefined ? sweep.collections : [collectionNamed(sweep.collections, collection)]
  const all = await Promise.all(
    wanted.map(async ({ shape }) =>
      (await sweep.source.groups(shape)).map((group) => ({ ...group, collection: shape.name })),
    ),
  )
  return all.flat().sort((a, b) => b.failed + b.waiting - (a.failed + a.waiting))
}
