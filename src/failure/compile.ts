/**
 * Turns the catalogues into indexes, once: exact words and statuses into maps, phrases into one phrase book.
 * It checks the catalogues as it goes; it classifies nothing.
 */
import { type PhraseBook, phraseBook } from './phrases.ts'
import { type Case, type CodeEntry, type Family, layerOf, RANK, type Speaker, speakerBit } from './rule.ts'

export interface Match {
  readonly entry: CodeEntry
  readonly rule: string
  readonly rank: number
  /** Bit sets of speakers; 0 means no condition. */
  readonly only: number
  readonly never: number
  readonly beside: readonly number[] | undefined
  readonly told: string | undefined
}

/** What a phrase shows: a case, a speaker, or both. */
export interface Shown {
  readonly match: Match | undefined
  readonly speakers: number
  readonly phrase: string
}

export interface Index {
  readonly words: ReadonlyMap<string, readonly Match[]>
  readonly statuses: ReadonlyMap<number, readonly Match[]>
  readonly book: PhraseBook<Shown>
  readonly wordSpeakers: ReadonlyMap<string, number>
  /** By the prefix's first character, so that most words compare nothing. */
  readonly prefixSpeakers: ReadonlyMap<number, ReadonlyArray<readonly [string, number]>>
  readonly entries: ReadonlyMap<string, CodeEntry>
}

/** A word that is only ever an identifier can be looked for in prose: `rateLimitExceeded`, `SQLITE_BUSY`, `ECONNRESET`. */
function isDistinctive(word: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_]{4,}$/.test(word)) return false
  return (
    word.includes('_') || /[a-z][A-Z]/.test(word) || /^[A-Z][A-Z0-9]{6,}$/.test(word) || /^E[A-Z0-9]{4,}$/.test(word)
  )
}

/** A code found as a word in a sentence is a little weaker than in its field, a name a little weaker than a name. */
const PROSE_CODE = RANK.says + 4
const PROSE_NAME = RANK.name - 4

function bits(speakers: readonly Speaker[] | undefined): number {
  return (speakers ?? []).reduce((set, speaker) => set | speakerBit(speaker), 0)
}

/** Marks texts in which a delay may be told, so that others are not searched for one. */
export const TELLS_DELAY = 1 << 30
const DELAY_WORDS = [
  'again',
  'retry',
  'retrying',
  'wait',
  'reset',
  'resets',
  'retry_after',
  'retryafter',
  'retryafterms',
  'retry_after_ms',
  'retryafterseconds',
  'available',
  'until',
  'regain',
  'request this after',
  'back',
]

export function compile(families: readonly Family[]): Index {
  const words = new Map<string, Match[]>()
  const statuses = new Map<number, Match[]>()
  const phrases: [string, Shown, boolean][] = []
  const wordSpeakers = new Map<string, number>()
  const prefixSpeakers: [string, number][] = []
  const entries = new Map<string, CodeEntry>()

  const say = (phrase: string, match: Match | undefined, speakers: number, exact = /[A-Z]/.test(phrase)): void => {
    phrases.push([phrase, { match, speakers, phrase }, exact])
  }
  for (const family of families) collectMarks(family, wordSpeakers, prefixSpeakers, say)
  const prefixes = byFirstCharacter(prefixSpeakers)
  /** A class name or code in a sentence shows its speaker just as it does in a field. */
  const spokenBy = (word: string): number =>
    (prefixes.get(word.charCodeAt(0)) ?? []).reduce(
      (set, [prefix, bit]) => (word.startsWith(prefix) ? set | bit : set),
      wordSpeakers.get(word) ?? 0,
    )
  for (const word of DELAY_WORDS) say(word, undefined, TELLS_DELAY)
  for (const family of families) {
    for (const one of family.cases) {
      const entry = register(entries, family, one)
      const base = toMatch(entry, family, one)
      const at = (rank: number): Match => ({ ...base, rank: one.rank ?? rank })
      for (const token of one.tokens ?? []) {
        push(words, token, at(RANK.code))
        if (isDistinctive(token))
          say(token, { ...base, rank: Math.min(one.rank ?? PROSE_CODE, PROSE_CODE) }, spokenBy(token), true)
      }
      for (const token of one.fields ?? []) push(words, token, at(RANK.code))
      for (const name of one.names ?? []) {
        push(words, name, at(RANK.name))
        if (isDistinctive(name))
          say(name, { ...base, rank: Math.min(one.rank ?? PROSE_NAME, PROSE_NAME) }, spokenBy(name), true)
      }
      for (const status of one.statuses ?? []) push(statuses, status, at(RANK.status))
      for (const phrase of one.says ?? []) say(phrase, at(RANK.says), 0)
      for (const phrase of one.hints ?? []) say(phrase, at(RANK.hint), 0)
    }
  }
  return {
    words,
    statuses,
    book: phraseBook(phrases),
    wordSpeakers,
    prefixSpeakers: prefixes,
    entries,
  }
}

function byFirstCharacter(prefixes: readonly [string, number][]): Map<number, [string, number][]> {
  const index = new Map<number, [string, number][]>()
  for (const one of prefixes) {
    const first = one[0].charCodeAt(0)
    index.set(first, [...(index.get(first) ?? []), one])
  }
  return index
}

function collectMarks(
  family: Family,
  wordSpeakers: Map<string, number>,
  prefixSpeakers: [string, number][],
  say: (phrase: string, match: undefined, speakers: number) => void,
): void {
  for (const [speaker, marks] of Object.entries(family.marks ?? {}) as [Speaker, readonly string[]][]) {
    const bit = speakerBit(speaker)
    for (const mark of marks) {
      if (mark.endsWith('*')) prefixSpeakers.push([mark.slice(0, -1), bit])
      else if (mark.startsWith('=')) wordSpeakers.set(mark.slice(1), (wordSpeakers.get(mark.slice(1)) ?? 0) | bit)
      else say(mark, undefined, bit)
    }
  }
}

function push<K>(map: Map<K, Match[]>, key: K, match: Match): void {
  const list = map.get(key)
  if (list) list.push(match)
  else map.set(key, [match])
}

function toMatch(entry: CodeEntry, family: Family, one: Case): Match {
  const name = one.name ?? one.code.slice(one.code.indexOf('.') + 1)
  return {
    entry,
    rule: `${family.name}/${name}`,
    rank: 0,
    only: bits(one.only),
    never: bits(one.never),
    beside: one.beside,
    told: one.told,
  }
}

/** The first case of a code gives its entry; later ones must agree in kind, or the code would mean two things. */
function register(entries: Map<string, CodeEntry>, family: Family, one: Case): CodeEntry {
  const known = entries.get(one.code)
  if (known !== undefined) {
    if (known.kind !== one.kind)
      throw new Error(`code ${one.code}: ${known.kind} in ${known.family}, ${one.kind} in ${family.name}`)
    return known
  }
  const entry: CodeEntry = {
    code: one.code,
    kind: one.kind,
    layer: one.layer ?? layerOf(one.kind),
    advice: one.advice,
    storable: one.kind !== 'conflict',
    family: family.name,
  }
  entries.set(one.code, entry)
  return entry
}
