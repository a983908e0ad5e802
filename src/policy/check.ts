/**
 * How values are refused at the door: one wording for all, with the field, the value and what is allowed.
 * It knows no policy field by name.
 */

/** Throws the one kind of error that bad policy data causes. */
export function refuse(field: string, value: unknown, allowed: string): never {
  throw new RangeError(`${field}: ${shown(value)} is not allowed; allowed are ${allowed}`)
}

export function oneOf<T extends string>(value: unknown, allowed: readonly T[], field: string): asserts value is T {
  if (!allowed.some((one) => one === value)) refuse(field, value, allowed.map((one) => `"${one}"`).join(', '))
}

export function wholeNumber(value: unknown, min: number, max: number, field: string): asserts value is number {
  if (!(Number.isInteger(value) && (value as number) >= min && (value as number) <= max)) {
    refuse(field, value, `whole numbers from ${min} to ${max}`)
  }
}

/** A plain object with known fields only, so that a slip of the pen and a poisoned prototype are both refused. */
export function plainFields(value: unknown, known: readonly string[], field: string): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) refuse(field, value, 'objects')
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) refuse(field, value, 'plain objects')
  for (const key of Reflect.ownKeys(value)) {
    if (typeof key === 'symbol' || !known.includes(key)) {
      throw new RangeError(`${field}: ${String(key)} is not a field; allowed are ${known.join(', ')}`)
    }
  }
}

const SHOWN_MAX = 80

function shown(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value)
  }
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
