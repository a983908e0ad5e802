/**
 * Limits as users write them, checked once and turned into what a claim carries.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Limit } from '../ports/store.ts'
import { type HoldTarget, isHoldTarget } from '../run/hold.ts'
import { isObject, strangeField } from './strange-field.ts'

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

const FIELDS: readonly string[] = Object.keys({
  concurrency: true,
  perSecond: true,
  perMinute: true,
} satisfies Record<keyof LimitOptions, true>)

export function limitsOf(given: WorkLimits): readonly Limit[] {
  if (!isObject(given)) refuse('limits', given, 'limits by name, such as { "gemini:flash": { concurrency: 8 } }')
  return Object.entries(given).flatMap(([name, limit]) => {
    checkLimit(name, limit)
    const { concurrency, perSecond, perMinute } = limit
    const what: HoldTarget = isHoldTarget(name) ? name : `resource:${name}`
    const checked = (field: string, value: number | undefined) => value !== undefined && isAllowed(name, field, value)
    return [
      ...(checked('concurrency', concurrency) ? [{ what, running: concurrency as number }] : []),
      ...(checked('perSecond', perSecond) ? [{ what, rate: { max: perSecond as number, perMs: 1_000 } }] : []),
      ...(checked('perMinute', perMinute) ? [{ what, rate: { max: perMinute as number, perMs: 60_000 } }] : []),
    ]
  })
}

function checkLimit(name: string, limit: unknown): void {
  if (name === '' || /^(?:task|category|resource):$/.test(name))
    refuse(`limits["${name}"]`, name, 'the name of a resource, or task:<name>, category:<name>, resource:<name>')
  if (!isObject(limit)) refuse(`limits["${name}"]`, limit, `an object of ${FIELDS.join(', ')}`)
  const strange = strangeField(limit, FIELDS)
  if (strange !== undefined) refuse(`limits["${name}"]`, `an object with ${strange}`, `the fields ${FIELDS.join(', ')}`)
}

function isAllowed(name: string, field: string, value: number): true {
  if (Number.isInteger(value) && value >= 1 && value <= MAX) return true
  return refuse(`limits["${name}"].${field}`, value, `a whole number from 1 to ${MAX}`)
}

function refuse(field: string, found: unknown, allowed: string): never {
  const shown = typeof found === 'string' ? found : JSON.stringify(found)
  throw new RepriseError('limits.invalid', `${field} is ${shown}. Allowed: ${allowed}.`)
}
