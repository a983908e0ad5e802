/**
 * A refused value as it may be shown in an error: short, on one line, without secrets.
 */
import { maskSecrets } from '../failure/mask-secrets.ts'

const SHOWN_MAX = 80

export function shown(value: unknown): string {
  if (typeof value === 'string') {
    const masked = maskSecrets(value)
    return JSON.stringify(masked.length > SHOWN_MAX ? `${masked.slice(0, SHOWN_MAX)}…` : masked)
  }
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return typeof value === 'function' ? 'a function' : String(value)
}
