/**
 * Signatures of webhooks, as the Standard Webhooks specification has them: HMAC-SHA256 over id, time and body, so that a receiver knows
 * who sent it, that nothing was changed, and that it is not an old one sent again.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

export const HEADERS = { id: 'webhook-id', timestamp: 'webhook-timestamp', signature: 'webhook-signature' } as const

export interface SignedParts {
  readonly id: string
  /** Seconds since 1970. */
  readonly timestamp: number
  /** As it was sent, byte by byte. */
  readonly body: string
}

/** `v1,` and the signature in base64. */
export function sign(secret: string, { id, timestamp, body }: SignedParts): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}

/** A delivery may be repeated for hours, but each is signed when it is sent; five minutes are for clocks that differ. */
const TOLERANCE_S = 300

/**
 * For receivers. In constant time, so that a signature cannot be guessed byte by byte; old ones are refused. The header may hold several
 * signatures with spaces between, of which one must fit: so a secret can be changed without losing a message.
 * @example verify(secret, { id, timestamp, body, signature: headers['webhook-signature'], now: Math.floor(Date.now() / 1000) })
 */
export function verify(
  secret: string,
  { signature, now, ...parts }: SignedParts & { readonly signature: string; readonly now: number },
): boolean {
  if (!Number.isSafeInteger(parts.timestamp) || Math.abs(now - parts.timestamp) > TOLERANCE_S) return false
  const expected = Buffer.from(sign(secret, parts))
  return signature.split(' ').some((each) => {
    const given = Buffer.from(each)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}

/** `whsec_…` is base64, as libraries of the specification make it; anything else is taken as it is written. */
const keyOf = (secret: string): Buffer =>
  secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
