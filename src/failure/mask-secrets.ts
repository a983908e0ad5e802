/**
 * Masks credentials in texts that are stored, logged or shown. Better to mask a harmless string than to keep a key.
 * It knows the shapes of secrets and nothing of errors; every pattern is linear-time.
 */

import { cut } from './bounds.ts'
import { KEY_SHAPES, look, PRIVATE_KEY_HEAD, SEEN } from './secret-signs.ts'

const MASK = '***'

/** Keys that touch are masked as one; nothing follows the repetition, so it never backtracks. */
const KEYS = new RegExp(`(?<![A-Za-z0-9])(?:${KEY_SHAPES.map(([, shape]) => shape).join('|')})+`, 'g')

const PRIVATE_KEY =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,8000}(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?/g
const SCHEME =
  /\b(bearer|basic|digest|negotiate)\s{1,4}(?!auth|realm|error|token\b|scheme|key\b|credential)[A-Za-z0-9._~+/=-]{6,4000}/gi
const URL_USER = /(:\/\/)[^\s/:@]{0,200}:[^\s@]{2,400}@/g
const QUERY =
  /([?&;](?:api[_-]?key|key|access[_-]?token|refresh[_-]?token|id[_-]?token|auth[_-]?token|token|sig|signature|secret|client[_-]?secret|password|pwd|code|x-amz-signature|x-amz-credential|x-amz-security-token|x-goog-signature|x-goog-credential|awsaccesskeyid|sv?ignature)=)[^\s&#"'<>)]{3,4000}/gi
const PAIR =
  /((?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key(?:[_-]?id)?|secret[_-]?(?:access[_-]?)?key|client[_-]?secret|private[_-]?key|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|authorization|x-api-key|x-goog-api-key|cookie|sharedaccesskey|sharedaccesssignature)\\?["']?\s{0,2}[:=]\s{0,2}\\?["']?)(?:bearer |basic )?[^\s"'`,;&}\])\\…]{3,4000}/gi
const PROVIDED = /(\bkey (?:provided|used|is|was)?\s{0,2}:\s{0,2}["']?)[^\s"'`,;&}\])…]{6,400}/gi

function maskOnce(text: string, seen: number): string {
  let masked = text
  if ((seen & SEEN.at) !== 0) masked = masked.replace(URL_USER, `$1${MASK}@`)
  if ((seen & SEEN.keyHead) !== 0) masked = masked.replace(KEYS, MASK)
  if ((seen & SEEN.dashes) !== 0 && masked.includes(PRIVATE_KEY_HEAD)) masked = masked.replace(PRIVATE_KEY, MASK)
  if ((seen & SEEN.scheme) !== 0) masked = masked.replace(SCHEME, `$1 ${MASK}`)
  if ((seen & SEEN.pair) !== 0) {
    if (masked.includes('=')) masked = masked.replace(QUERY, `$1${MASK}`)
    masked = masked.replace(PAIR, `$1${MASK}`).replace(PROVIDED, `$1${MASK}`)
  }
  return masked
}

/** A mask can put a name next to another value; repeated until nothing changes, which secrets alone ever need. */
const ROUNDS_MAX = 8

function mask(text: string, seen: number): string {
  let masked = maskOnce(text, seen)
  for (let round = 1, before = text; masked !== before && round < ROUNDS_MAX; round++) {
    before = masked
    masked = maskOnce(masked, look(masked))
  }
  return masked
}

/** Replace every credential in `text` by `***`. Masking a masked text changes nothing, and no text grows by it. */
export function maskSecrets(text: string): string {
  return mask(text, look(text))
}

/** Spaces and control characters, except for a single plain space: replacing that by itself is most of the work. */
const UNEVEN = /[\s\u0000-\u001f\u007f]{2,}|[^\S ]|[\u0000-\u001f\u007f]/g

/** Masked, bounded and without control characters: safe to store, log and show on one line. */
export function safeText(text: string, max: number): string {
  // Cut first, with room for masks to shrink it, so that a megabyte is never masked.
  let bounded = text.length > max * 2 ? cut(text, max * 2) : text
  let seen = look(bounded)
  if ((seen & SEEN.control) !== 0) {
    // Before masking: a name and its value may stand on two lines.
    bounded = bounded.replace(UNEVEN, ' ').trim()
    seen = look(bounded)
  }
  const safe = mask(bounded, seen)
  return safe.length <= max ? safe : maskSecrets(cut(safe, max))
}
