/**
 * Limits as users write them, checked once and turned into what a claim carries.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Limit } from '../ports/store.ts'
import { type HoldTarget, isHoldTarget } from '../run/hold.ts'

export interface LimitOptions {
  /** Runs at a time, over all workers. */
  readonly concurrency?: number
  /** Runs started in any second, over all workers. */
  readonly perSecond?: number
  readonly perMinute?: number
}

/** By resource, `gemini:flash`; or by `task:<name>`, `category:<name>`, `resource:<name>`. */
export type WorkLimits = Readonly<Record<string, LimitOptions>>

const MAX = 1_000_000

export function limitsOf(given: WorkLimits): readonly Limit[] {
  return Object.entries(given).flatMap(([name, { concurrency, perSecond, perMinute }]) => {
    const what: HoldTarget = isHoldTarget(name) ? name : `resource:${name}`
    const checked = (field: string, value: number | undefined) => value !== undefined && isAllowed(name, field, value)
    return [
      ...(checked('concurrency', concurrency) ? [{ what, running: concurrency as number }] : []),
      ...(checked('perSecond', perSecond) ? [{ what, rate: { max: perSecond as number, perMs: 1_000 } }] : []),
      ...(checked('perMinute', perMinute) ? [{ what, rate: { max: perMinute as number, perMs: 60_000 } }] : []),
    ]
  })
}

function isAllowed(name: string, field: string, value: number): true {
  if (Number.isInteger(value) && value >= 1 && value <= MAX) return true
  throw new RepriseError(
    'limits.invalid',
    `limits["${name}"].${field} is ${value}. Allowed: a whole number from 1 to ${MAX}.`,
  )
}
