/**
 * Takes secrets out of whatever is about to leave: by their shape, by the name of their field, and by known value.
 * It makes bounded plain copies, changes nothing in place, and never throws.
 */
import { maskSecrets } from '../failure/mask-secrets.ts'

const MASK = '***'

/** Deeper or longer than this is cut: an event is a line to read, and user data must not hang a logger. */
const DEPTH_MAX = 6
const ENTRIES_MAX = 100
const TEXT_MAX = 8_192
/** In all: a small graph that points at itself from everywhere unfolds into billions. */
const MEMBERS_MAX = 2_000

/** How many short texts are remembered with their clean form, and how long they may be. */
const REMEMBERED_MAX = 1_000
const REMEMBERED_TEXT_MAX = 64

/** Shorter values are ordinary words too often: masking every `admin` would hide more than it protects. */
const KNOWN_MIN = 6

/** A field of this name is masked whatever it holds. */
const SECRET_NAME =
  /^(?:.*[-_.])?(?:authorization|proxy-?authorization|cookies?|set-?cookie|password|passwd|passphrase|pwd|secrets?|token|api-?_?key|apikey|access-?_?key|private-?_?key|client-?_?secret|credentials?|signature|session-?_?id|dsn)$|(?:password|secret|token|apikey|accesskey|privatekey)$/i

/** Environment variables whose values are secrets, as far as a name can tell. */
const SECRET_VARIABLE =
  /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|AUTH|DSN|COOKIE|SIGNATURE|SALT)(?:_\d+)?$/i

/** Their names look like secrets and their values are none. */
const HARMLESS_VARIABLE = /^(?:PWD|OLDPWD|SSH_AUTH_SOCK|SSH_ASKPASS|GPG_KEY|.*_(?:FILE|PATH))$/i

export type Environment = Readonly<Record<string, string | undefined>>

export interface RedactOptions {
  /**
   * Its secrets are known values: anything a variable with a telling name holds, and passwords inside URLs.
   * The environment of this process unless given.
   */
  readonly env?: Environment
  /** Secrets that came another way: a token given by flag, a store's URL. */
  readonly values?: Iterable<string>
}

export interface Redact {
  <Value>(value: Value): Value
  /** One more value that must not leave. */
  know(value: string): void
}

let shared: Redact | undefined

/** The redactor of this process: what one door learns, all know. */
export function processRedactor(): Redact {
  shared ??= redactor()
  return shared
}

/** A function that gives a clean copy of any value. */
export function redactor(options: RedactOptions = {}): Redact {
  const known = new Set<string>()
  // Longest first, so that a secret that contains another one is masked whole.
  let ordered: readonly string[] = []
  // Names of fields, tasks and workers come again and again; most texts are looked at once.
  const remembered = new Map<string, string>()

  const know = (value: string) => {
    for (const secret of secretsIn(value)) known.add(secret)
    ordered = [...known].sort((a, b) => b.length - a.length)
    remembered.clear()
  }
  for (const value of options.values ?? []) know(value)
  for (const [name, value] of Object.entries(options.env ?? process.env)) {
    if (!value) continue
    if (SECRET_VARIABLE.test(name) && !HARMLESS_VARIABLE.test(name)) know(value)
    else for (const part of passwordsIn(value)) know(part)
  }

  const maskText = (text: string): string => {
    let clean = text.length > TEXT_MAX ? wholeWords(text) : text
    for (const secret of ordered) if (clean.includes(secret)) clean = clean.replaceAll(secret, MASK)
    clean = maskSecrets(clean)
    return clean.length > TEXT_MAX ? `${clean.slice(0, TEXT_MAX)}…` : clean
  }

  const cleanText = (text: string): string => {
    if (text.length > REMEMBERED_TEXT_MAX) return maskText(text)
    const known = remembered.get(text)
    if (known !== undefined) return known
    if (remembered.size >= REMEMBERED_MAX) remembered.clear()
    const masked = maskText(text)
    remembered.set(text, masked)
    return masked
  }

  /** Members that this copy may still take. */
  let left = MEMBERS_MAX

  const clean = (value: unknown, depth: number, seen: readonly object[]): unknown => {
    if (typeof value === 'string') return cleanText(value)
    if (typeof value === 'bigint') return cleanText(String(value))
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value
    if (typeof value === 'function') return '[function]'
    if (seen.includes(value)) return '[circular]'
    if (depth >= DEPTH_MAX) return '[deeper]'
    if (left <= 0) return '[more]'
    const within = [...seen, value]
    if (Array.isArray(value)) {
      left -= value.length
      const items = value.slice(0, ENTRIES_MAX).map((item) => clean(item, depth + 1, within))
      return value.length > ENTRIES_MAX ? [...items, `[${value.length - ENTRIES_MAX} more]`] : items
    }
    const copy: Record<string, unknown> = {}
    const entries = entriesOf(value)
    if (!entries) return cleanText(value instanceof Date ? instantText(value) : String(value))
    left -= entries.length
    for (const [name, member] of entries.slice(0, ENTRIES_MAX)) {
      setField(copy, cleanText(name), isSecret(name, member) ? MASK : clean(member, depth + 1, within))
    }
    return copy
  }

  // An event passes several doors on its way out; each copy is made once.
  const done = new WeakSet<object>()

  const redact = <Value>(value: Value): Value => {
    if (typeof value === 'object' && value !== null && done.has(value)) return value
    left = MEMBERS_MAX
    try {
      const copy = clean(value, 0, [])
      if (typeof copy === 'object' && copy !== null) done.add(copy)
      return copy as Value
    } catch {
      // A hostile getter or proxy: what cannot be read cannot be told.
      return '[unreadable]' as Value
    }
  }
  return Object.assign(redact, { know })
}

/** A field named `__proto__` stays a field. */
function setField(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, writable: true, configurable: true })
}

/** The first part of a long text. Twice the bound and up to a space, so that no half of a secret is left at its end. */
function wholeWords(text: string): string {
  const head = text.slice(0, 2 * TEXT_MAX)
  const end = head.lastIndexOf(' ')
  return end > TEXT_MAX ? head.slice(0, end) : head
}

const instantText = (date: Date) => (Number.isNaN(date.getTime()) ? 'no known time' : date.toISOString())

/** A lease's token is a number and no secret; everything else under such a name is. */
function isSecret(name: string, value: unknown): boolean {
  if (value === undefined || value === null || typeof value === 'boolean') return false
  return hasSecretName(name) && !(name === 'token' && typeof value === 'number')
}

const secretNames = new Map<string, boolean>()

function hasSecretName(name: string): boolean {
  // What a field is called stands at its end.
  const tail = name.slice(-REMEMBERED_TEXT_MAX)
  let answer = secretNames.get(tail)
  if (answer === undefined) {
    answer = SECRET_NAME.test(tail)
    if (secretNames.size >= REMEMBERED_MAX) secretNames.clear()
    secretNames.set(tail, answer)
  }
  return answer
}

/** What an object has to tell; `undefined` for those that are best told by their text. */
function entriesOf(value: object): [string, unknown][] | undefined {
  if (value instanceof Date || value instanceof URL || value instanceof RegExp) return undefined
  if (value instanceof Error) {
    const { name, message, cause } = value
    return [
      ['name', name],
      ['message', message],
      ...Object.entries(value),
      ...(cause ? [['cause', cause] as [string, unknown]] : []),
    ]
  }
  if (value instanceof Map || value instanceof Headers) {
    return [...(value as Iterable<[unknown, unknown]>)].map(([name, member]) => [String(name), member])
  }
  if (value instanceof Set) return [...value].map((member, index) => [String(index), member])
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return [['bytes', value.byteLength]]
  return Object.entries(value)
}

/** The value itself, as it stands in a URL, and the password of a URL by itself. */
function secretsIn(value: string): string[] {
  const passwords = passwordsIn(value)
  // Of a database's URL only the password is secret; its host may be told.
  const found = passwords.length > 0 ? passwords : [value, encodeURIComponent(value), ...value.split('\n')]
  return found.map((secret) => secret.trim()).filter((secret) => secret.length >= KNOWN_MIN)
}

const URL_PASSWORD = /:\/\/[^\s/:@]{0,200}:([^\s@]{1,400})@/g

function passwordsIn(value: string): string[] {
  const found: string[] = []
  for (const [, password = ''] of value.slice(0, TEXT_MAX).matchAll(URL_PASSWORD)) {
    found.push(password)
    try {
      found.push(decodeURIComponent(password))
    } catch {
      // Not percent-encoded after all: the text itself is the password.
    }
  }
  return found
}
