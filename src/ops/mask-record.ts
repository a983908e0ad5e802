/**
 * Copies of stored data without credentials: by the shape of values, and whole values of fields whose name says secret.
 * Unlike a log's redaction it cuts nothing, because an export must hold all that is not secret.
 */
import { maskSecrets } from '../failure/mask-secrets.ts'

const MASK = '***'

/** Deeper than this is not data that anybody wrote. */
const DEPTH_MAX = 64

export function maskRecord<T>(value: T): T {
  return masked(value, 0) as T
}

function masked(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return maskSecrets(value)
  if (typeof value !== 'object' || value === null) return value
  if (depth >= DEPTH_MAX) return '[deeper]'
  if (Array.isArray(value)) return value.map((item) => masked(item, depth + 1))
  const copy: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const isSecret = member !== null && typeof member !== 'boolean' && typeof member !== 'number' && hasSecretName(name)
    // Defined and not assigned: a field named `__proto__` stays a field.
    Object.defineProperty(copy, name, {
      value: isSecret ? MASK : masked(member, depth + 1),
      enumerable: true,
      writable: true,
      configurable: true,
    })
  }
  return copy
}

/** What the masking of texts takes for a credential's name is one here too, and every kind of token and secret besides. */
const SECRET = /(?:^|[-_.])(?:token|secrets?|credentials?|signature|session-?id|dsn)$|(?:Token|Secret)$/i

function hasSecretName(name: string): boolean {
  return SECRET.test(name) || maskSecrets(`${name}: placeholder`).endsWith(MASK)
}
