/**
 * Signs that a text may hold a credential, found in one cheap loop, so that most texts never meet a masking pattern.
 * A sign may be wrong where there is no secret, never missing where a pattern of `maskSecrets` would match.
 */

import { asciiOf, FOREIGN } from './ascii.ts'
import { MESSAGE_MAX } from './bounds.ts'

/** What was seen in a text, as a bit set. */
export const SEEN = {
  at: 2,
  /** A `:` or `=` after the name of a credential. */
  pair: 4,
  control: 8,
  /** A word that ends as an authorization scheme does. */
  scheme: 32,
  /** A run long enough for the head of a private key. */
  dashes: 64,
  /** The first characters of a vendor's key, with room for the rest. */
  keyHead: 128,
} as const

/** The shortest key that is known by its shape alone. */
const KEY_MIN = 11
export const PRIVATE_KEY_HEAD = '-----BEGIN'
/** The shortest run that is looked into. */
const RUN_MIN = Math.min(KEY_MIN, PRIVATE_KEY_HEAD.length)

/** Vendors' key shapes, recognisable anywhere by their prefix; before each, the two characters that it can start with. */
export const KEY_SHAPES: ReadonlyArray<readonly [heads: string, shape: string]> = [
  ['sk', 'sk[-_][A-Za-z0-9_*-]{8,400}'],
  ['pk rk', '(?:pk|rk)_(?:live|test)_[A-Za-z0-9]{8,200}'],
  ['AI', 'AIza[0-9A-Za-z_-]{16,100}'],
  ['ya', 'ya29\\.[0-9A-Za-z_.-]{10,400}'],
  ['1/', '1//0[0-9A-Za-z_-]{20,200}'],
  ['gh', 'gh[pousr]_[A-Za-z0-9]{16,255}'],
  ['gi', 'github_pat_[A-Za-z0-9_]{16,255}'],
  ['gl', 'glpat-[A-Za-z0-9_-]{16,100}'],
  ['AK AS AR AI', '(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,32}'],
  ['xo', 'xox[abeoprs]-[A-Za-z0-9-]{8,255}'],
  ['xa', 'xapp-[A-Za-z0-9-]{8,255}'],
  [
    'gs hf r8 np do sh tv nv fw pp xa ls',
    '(?:gsk|hf|r8|npm|dop_v1|shpat|tvly|nvapi|fw|pplx|xai|lsv2_pt|lsv2_sk)[_-][A-Za-z0-9_-]{16,255}',
  ],
  ['SG', 'SG\\.[A-Za-z0-9_-]{16,64}\\.[A-Za-z0-9_-]{16,64}'],
  ['ey', 'eyJ[A-Za-z0-9_-]{8,600}\\.[A-Za-z0-9_-]{4,4000}(?:\\.[A-Za-z0-9_-]{0,4000})?'],
  ['ho', 'hooks\\.slack\\.com/services/[A-Za-z0-9/]{8,100}'],
]

const pairOf = (first: number, second: number): number => first * 128 + second
const KEY_HEADS = new Uint8Array(pairOf(128, 0))
for (const [heads] of KEY_SHAPES)
  for (const head of heads.split(' ')) KEY_HEADS[pairOf(head.charCodeAt(0), head.charCodeAt(1))] = 1

/** Of what runs are made. Bits, so that a run's makings add up. */
const LETTER = 1
const DIGIT = 2
/** Joins the parts of names and paths. */
const JOINT = 4
/** Joins the parts of keys: without one of these or a digit, a run is a word. */
const DASH = 8
const IN_RUN_MAX = 15
/** What ends a run. */
const OTHER = 16
const SPACE = 17
const AT = 18
const PAIRS = 19
const CONTROL = 20

const CLASS = new Uint8Array(256).fill(OTHER)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[A-Za-z]/.test(char)) CLASS[code] = LETTER
  else if (/[0-9]/.test(char)) CLASS[code] = DIGIT
  else if (/[*+./]/.test(char)) CLASS[code] = JOINT
  else if (/[-_]/.test(char)) CLASS[code] = DASH
  else if (char === ' ') CLASS[code] = SPACE
  else if (char === '@') CLASS[code] = AT
  else if (/[:=]/.test(char)) CLASS[code] = PAIRS
  else if (code < 32 || code === 127) CLASS[code] = CONTROL
}

/** Shared by all calls, safe because `look` calls nothing that looks again. */
const buffer = new Uint8Array(MESSAGE_MAX * 2 + 64)

/** What could be in the text, as bits of SEEN. Few branches per word: which way a word takes them is anyone's guess, and a wrong guess costs more than a look into a table. */
export function look(text: string): number {
  const { length } = text
  let seen = 0
  let start = 0
  let makings = 0
  const bytes = asciiOf(text, buffer)
  for (let i = 0; i < length; i++) {
    const kind = CLASS[bytes[i] as number] as number
    if (kind <= IN_RUN_MAX) {
      makings |= kind
      continue
    }
    if (i > 3) seen |= lookAtTail(bytes, i)
    if (i - start >= RUN_MIN) seen |= lookAtRun(bytes, start, i, makings)
    start = i + 1
    makings = 0
    if (kind === PAIRS) {
      if ((seen & SEEN.pair) === 0 && namesSecret(text, bytes, i)) seen |= SEEN.pair
    } else if (kind === AT) seen |= SEEN.at
    else if (kind === CONTROL) seen |= SEEN.control
  }
  return length - start >= RUN_MIN ? seen | lookAtRun(bytes, start, length, makings) : seen
}

/** The last and the fourth letter from the end of bearer, basic, digest and negotiate, one bit each: few other words share both. */
const SCHEMES = ['bearer', 'basic', 'digest', 'negotiate']
const LAST = new Uint8Array(256)
const FOURTH = new Uint8Array(256)
SCHEMES.forEach((scheme, i) => {
  for (const word of [scheme, scheme.toUpperCase()]) {
    LAST[word.charCodeAt(word.length - 1)]! |= 1 << i
    FOURTH[word.charCodeAt(word.length - 4)]! |= 1 << i
  }
})

function lookAtTail(bytes: Uint8Array, end: number): number {
  const bits = (LAST[bytes[end - 1] as number] as number) & (FOURTH[bytes[end - 4] as number] as number)
  if (bits === 0) return 0
  for (const scheme of SCHEMES) if (endsWith(bytes, end, scheme)) return SEEN.scheme
  return 0
}

function lookAtRun(bytes: Uint8Array, start: number, end: number, makings: number): number {
  const length = end - start
  const marked = (makings & (DIGIT | DASH)) !== 0
  const seen = marked ? SEEN.dashes : 0
  if (length < KEY_MIN) return seen
  return holdsKeyHead(bytes, start, end) ? seen | SEEN.keyHead : seen
}

/** Keys start where no letter or digit stands before. */
function holdsKeyHead(bytes: Uint8Array, start: number, end: number): boolean {
  let inWord = false
  for (let i = start; i + 1 < end; i++) {
    const code = bytes[i] as number
    const wasInWord = inWord
    inWord = ((CLASS[code] as number) & (LETTER | DIGIT)) !== 0
    if (inWord && !wasInWord && KEY_HEADS[pairOf(code, bytes[i + 1] as number)] === 1) return true
  }
  return false
}

/** Does the text before `end` end with this lower-case word, in any case? */
function endsWith(bytes: Uint8Array, end: number, word: string): boolean {
  let at = end - word.length
  if (at < 0) return false
  for (let i = 0; i < word.length; i++, at++) {
    const wanted = word.charCodeAt(i)
    const code = bytes[at] as number
    if (code !== wanted && !(CLASS[code] === LETTER && (code | 32) === wanted)) return false
  }
  return true
}

/** What stands before the `:` or `=` of a credential, by its last letter. */
const SECRET_NAMES: readonly string[][] = Array.from({ length: 256 }, () => [])
for (const name of [
  ...['password', 'passwd', 'passphrase', 'pwd', 'secret', 'token', 'authorization', 'cookie', 'signature', 'sig'],
  ...['credential', 'code', 'key', 'keyid', 'key_id', 'key-id', 'key provided', 'key used', 'key is', 'key was'],
])
  SECRET_NAMES[name.charCodeAt(name.length - 1)]?.push(name)

/** Quotes, backslashes and spaces between a name and its `:` or `=`. */
const GAP_MAX = 4

function isGap(text: string, bytes: Uint8Array, at: number): boolean {
  const code = bytes[at] as number
  if (code === 32 || code === 34 || code === 39 || code === 92) return true
  return (code < 32 || code === FOREIGN) && /\s/.test(text.charAt(at))
}

function namesSecret(text: string, bytes: Uint8Array, at: number): boolean {
  let end = at
  while (end > 0 && at - end < GAP_MAX && isGap(text, bytes, end - 1)) end--
  if (end === 0) return false
  const names = SECRET_NAMES[(bytes[end - 1] as number) | 32] as readonly string[]
  for (const name of names) if (endsWith(bytes, end, name)) return true
  return false
}
