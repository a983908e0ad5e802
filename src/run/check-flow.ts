/**
 * What every store checks of a flow and of a join before it writes anything, in the same words.
 * The engine has said it better before; this keeps a store sound whoever calls it.
 */
import { CHILDREN_MAX, STEPS_MAX } from './need.ts'

interface Flow {
  readonly key?: string
  readonly fingerprint?: string
  readonly steps: readonly { readonly step: string; readonly needs: readonly string[] }[]
}

export function checkFlow({ key, fingerprint, steps }: Flow): void {
  if (key !== undefined && fingerprint === undefined) {
    throw new RangeError('fingerprint: undefined; a flow with a key needs the fingerprint of its steps')
  }
  if (steps.length < 1 || steps.length > STEPS_MAX) {
    throw new RangeError(`steps: ${steps.length}; allowed are 1 to ${STEPS_MAX}`)
  }
  const earlier = new Set<string>()
  for (const { step, needs } of steps) {
    if (earlier.has(step)) throw new RangeError(`steps: ${JSON.stringify(step)} twice; allowed is each name once`)
    const unknown = needs.find((need) => !earlier.has(need))
    if (unknown !== undefined) {
      throw new RangeError(`needs of ${step}: ${JSON.stringify(unknown)}; allowed are steps before it`)
    }
    if (new Set(needs).size !== needs.length) throw new RangeError(`needs of ${step}: a name twice`)
    earlier.add(step)
  }
}

interface End {
  readonly state: string
  readonly join?: { readonly children: readonly { readonly key?: string }[] }
}

export function checkJoin({ state, join }: End): void {
  if ((state === 'blocked') !== (join !== undefined)) {
    throw new RangeError(`state: ${state}; an end is blocked exactly when it has a join`)
  }
  const { length = 1 } = join?.children ?? {}
  if (length < 1 || length > CHILDREN_MAX) {
    throw new RangeError(`join.children: ${length}; allowed are 1 to ${CHILDREN_MAX}`)
  }
  if (join?.children.some(({ key }) => key !== undefined)) {
    throw new RangeError('join.children: a key; children of a join are known by their place in it')
  }
}
