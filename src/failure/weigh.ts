/**
 * Weighs evidence against the indexed catalogues: the most telling piece wins, the outermost and first among equals.
 * It judges evidence only; how evidence was found and what is done about the verdict is not its affair.
 */
import { type Index, type Match, type Shown, TELLS_DELAY } from './compile.ts'
import { chooseDelay, delayInProse, type Told } from './delay.ts'
import type { Evidence } from './evidence.ts'
import { scan, type WordView } from './phrases.ts'
import { addToken } from './read-property.ts'
import { type CodeEntry, RANK, speakerBit } from './rule.ts'

/** A piece of evidence that speaks for a case. */
export interface Hit {
  readonly match: Match
  /** Taken off the match's rank: prose is a little weaker than a field. */
  readonly off: number
  /** What it stood on, for `explain` and facts: `status 429`, `code "insufficient_quota"`, `phrase "rate limit"`. */
  readonly where: 'status' | 'token' | 'phrase' | 'flag'
  readonly on: string | number
  /** The text it was found in, -1 for fields. */
  readonly text: number
}

export interface Verdict {
  readonly winner: Hit | undefined
  readonly entry: CodeEntry | undefined
  readonly told: Told | undefined
  /** Every hit, only kept for `explain`. */
  readonly hits: readonly Hit[]
  /** True when a told delay turned a billing word into a rate limit. */
  readonly overruled: boolean
}

/** A number in a sentence is weaker than the same number in a field. */
const PROSE_STATUS_OFF = 5
/** Statuses behind which a rate limit may hide. */
const AMBIGUOUS: ReadonlySet<number> = new Set([200, 400, 402, 403, 409, 410, 422])
/** Those who speak in SQLSTATEs. */
const SQL = speakerBit('postgres') | speakerBit('mysql') | speakerBit('mssql')

const STATUS_BEFORE = [
  'status',
  'code',
  'http',
  'error',
  'statuscode',
  'status_code',
  'httperror',
  'returned',
  'response',
  'got',
  'received',
  'https',
]
const STATUS_AFTER = [
  'too',
  'not',
  'bad',
  'gateway',
  'internal',
  'service',
  'unauthorized',
  'forbidden',
  'request',
  'payload',
  'conflict',
  'unprocessable',
  'client',
  'server',
  'method',
  'precondition',
  'gone',
  'payment',
  'site',
] as const

/** Is the three-digit number at `index` called a status by the words around it? */
function isStatusInProse(words: WordView, index: number): boolean {
  const start = words.start(index)
  if (start === 0) return true
  const before = words.text.charCodeAt(start - 1)
  if (before === 91 || before === 40) return true
  for (const word of STATUS_BEFORE) if (words.is(index - 1, word)) return true
  // `HTTP/1.1 503`, `failed with 503`.
  if (words.is(index - 2, 'failed') || words.is(index - 2, 'responded') || words.is(index - 3, 'http')) return true
  for (const word of STATUS_AFTER) if (words.is(index + 1, word)) return true
  return false
}

/** The state of one scan. Module-wide so that the scan's callbacks need no closure; reset at each call. */
let hits: Hit[] = []
let current: Evidence
let currentIndex: Index
let textNumber = 0
let flags = 0

function onPhrase(shown: Shown): void {
  flags |= shown.speakers
  if (shown.match !== undefined)
    hits.push({ match: shown.match, off: 0, where: 'phrase', on: shown.phrase, text: textNumber })
}

function onNumber(index: number, words: WordView): void {
  const start = words.start(index)
  const length = words.end(index) - start
  if (length === 5 && words.is(index - 1, 'sqlstate')) addToken(current, words.text.slice(start, start + 5), 'sqlstate')
  if (length !== 3) return
  const value = Number(words.text.slice(start, start + 3))
  if (!(value >= 400 && value <= 599) || !isStatusInProse(words, index)) return
  if (current.statuses.length < 8) current.statuses.push({ value, trust: 'prose' })
  addStatusHits(value, PROSE_STATUS_OFF)
}

function addStatusHits(value: number, off: number): void {
  const matches = currentIndex.statuses.get(value)
  if (matches !== undefined)
    for (const match of matches) hits.push({ match, off, where: 'status', on: value, text: -1 })
  else if (value >= 400) addWordHits(value >= 500 ? 'status:5xx' : 'status:4xx', 'status')
}

function addWordHits(word: string, where: Hit['where']): void {
  const matches = currentIndex.words.get(word)
  if (matches !== undefined) for (const match of matches) hits.push({ match, off: 0, where, on: word, text: -1 })
}

export function weigh(evidence: Evidence, index: Index): Verdict {
  hits = []
  current = evidence
  currentIndex = index
  flags = evidence.speakers
  for (const status of evidence.statuses) addStatusHits(status.value, 0)
  for (textNumber = 0; textNumber < evidence.texts.length; textNumber++) {
    const text = evidence.texts[textNumber] as string
    const before = flags
    flags &= ~TELLS_DELAY
    scan(text, index.book, onPhrase, onNumber)
    if ((flags & TELLS_DELAY) !== 0) {
      const ms = delayInProse(text, evidence.now)
      if (ms !== undefined) evidence.told.push({ ms, source: 'prose', from: 'message' })
    }
    flags |= before
  }
  for (const token of evidence.tokens) weighToken(token.value)
  evidence.speakers = flags & ~TELLS_DELAY
  weighSqlStates(evidence)
  if (evidence.retryable !== undefined) addWordHits(evidence.retryable ? 'flag:retry' : 'flag:stop', 'flag')
  if (
    evidence.told.some((told) => told.source !== 'reset') &&
    evidence.statuses.every((status) => AMBIGUOUS.has(status.value))
  )
    addWordHits('told:delay', 'flag')
  let verdict = decide(evidence, index, hits)
  if (verdict.winner === undefined || verdict.winner.match.rank - verdict.winner.off < RANK.vague) {
    spellOut(evidence)
    verdict = decide(evidence, index, hits)
  }
  hits = []
  return verdict
}

/** Fields whose words name a place or a thing, not what went wrong. */
const NAMES_A_THING = new Set(['constraint', 'domain', 'service', '@type', 'tag', '_tag'])
const ignoreNumber = (): void => {}

/**
 * Nothing known speaks: codes and class names that no catalogue lists are read as the sentences they abbreviate,
 * `TenantRateLimitHit` as "tenant rate limit hit", `invalid_image_url` as a complaint about the request.
 */
function spellOut(evidence: Evidence): void {
  textNumber = -1
  for (const { value, field } of evidence.tokens) {
    if (currentIndex.words.has(value) || NAMES_A_THING.has(field)) continue
    const spelled = value.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[^A-Za-z0-9]+/g, ' ')
    if (!spelled.includes(' ')) continue
    scan(spelled, currentIndex.book, onPhrase, ignoreNumber)
    if (/^(?:invalid|unsupported|missing|malformed|illegal|bad) /i.test(spelled)) addWordHits('shape:invalid', 'token')
  }
}

function weighToken(word: string): void {
  addWordHits(word, 'token')
  flags |= currentIndex.wordSpeakers.get(word) ?? 0
  const prefixes = currentIndex.prefixSpeakers.get(word.charCodeAt(0))
  if (prefixes !== undefined) for (const [prefix, bit] of prefixes) if (word.startsWith(prefix)) flags |= bit
}

/** A SQLSTATE or MySQL code that is not listed is judged by its class, if it is a SQL database that speaks. */
function weighSqlStates(evidence: Evidence): void {
  if ((flags & SQL) === 0) return
  for (const { value } of evidence.tokens) {
    if (currentIndex.words.has(value)) continue
    if (value.length === 5 && /^[0-9A-Z]{5}$/.test(value)) addWordHits(`pg:${value.slice(0, 2)}`, 'token')
    else if (value.startsWith('ER_')) addWordHits('mysql:er', 'token')
  }
}

/** Does the match's condition hold? The answer is a reason when it does not. */
export function unmet(match: Match, evidence: Evidence): string | undefined {
  if (match.only !== 0 && (match.only & evidence.speakers) === 0) return 'another speaker'
  if ((match.never & evidence.speakers) !== 0) return 'not from this speaker'
  if (match.beside !== undefined && !evidence.statuses.some((status) => match.beside?.includes(status.value)))
    return 'without its status'
  return undefined
}

function decide(evidence: Evidence, index: Index, all: readonly Hit[]): Verdict {
  let winner: Hit | undefined
  let best = -1
  for (const hit of all) {
    const rank = hit.match.rank - hit.off
    if (rank > best && unmet(hit.match, evidence) === undefined) {
      best = rank
      winner = hit
    }
  }
  let entry = winner?.match.entry
  const limited = entry === undefined || entry.kind === 'rate_limited' || winner?.match.told !== undefined
  const told = evidence.told.length > 0 ? chooseDelay(evidence.told, limited) : undefined
  let overruled = false
  if (told !== undefined && winner?.match.told !== undefined) {
    entry = index.entries.get(winner.match.told) ?? entry
    overruled = true
  }
  return { winner, entry, told, hits: all, overruled }
}
