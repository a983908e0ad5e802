/**
 * The model rungs of the policy that a run was last decided under: where a run without a question may be sent back to.
 */
import type { Policy } from '../policy/policy.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { Lane } from '../run/run.ts'

export interface PolicyRung {
  readonly name: string
  readonly index: number
  /** Where the run waits for it. */
  readonly lane: Lane
}

export async function policyRungs(store: Store, run: RunView): Promise<readonly PolicyRung[]> {
  const hash = (await store.attempts(run.id)).findLast(({ policy }) => policy !== undefined)?.policy
  const text = hash === undefined ? undefined : await store.policy(hash)
  const { ladder = [] } = text === undefined ? {} : (JSON.parse(text) as Policy)
  const { task, category } = run
  return ladder.flatMap(({ type, name }, index) =>
    type === 'model'
      ? [{ name, index, lane: { task, ...(category === undefined ? {} : { category }), resource: name } }]
      : [],
  )
}
