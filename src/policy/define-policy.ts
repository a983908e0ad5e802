/**
 * `definePolicy`: a few fields over a base make a complete, checked and frozen policy.
 * The checks themselves are in `complete-policy.ts`, because the defaults go through them too.
 */
import { completePolicy, isPolicy, type PolicyInput } from './complete-policy.ts'
import { daemon, inCall } from './defaults.ts'
import type { Policy } from './policy.ts'

/**
 * Checks and completes a policy. Without a base it stands on `inCall` when `scale` is `call`, else on `daemon`.
 * @example definePolicy({ name: 'patient', kinds: { transient: { backoff: exponential({ base: '5m', cap: '6h' }) } } })
 */
export function definePolicy(input: PolicyInput, base?: Policy | PolicyInput): Policy {
  if (base === undefined) return completePolicy(input, input?.scale === 'call' ? inCall : daemon)
  return completePolicy(input, isPolicy(base) ? base : definePolicy(base))
}
