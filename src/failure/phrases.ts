/**
 * Finds thousands of phrases in a text in one pass: words are hashed as they are read and looked up, never backtracked over.
 * It knows nothing of errors; a phrase carries a payload and that is handed back.
 */

/** A phrase's gap `..` spans at most this many words, which bounds the work per word. */
const GAP_MAX = 6
const GAP = 0
const ANY = 1
/** One word needs at least one character and one separator. */
const WORDS_MAX = 8_192

interface Phrase<T> {
  /** Word hashes; GAP and ANY stand for the two wildcards. */
  readonly hashes: readonly number[]
  readonly words: readonly string[]
  /** A phrase written with capitals is compared as written. */
  readonly exact: boolean
  readonly payload: T
}

export interface PhraseBook<T> {
  readonly byFirst: ReadonlyMap<number, readonly Phrase<T>[]>
  /** One bit per low 16 bits of a first word's hash: most words of a text stop here. */
  readonly filter: Uint8Array
}

/** Words of the text last read. Shared by all calls, safe because nothing is awaited or called back between reading and matching. */
const hashOf = new Int32Array(WORDS_MAX)
const startOf = new Int32Array(WORDS_MAX)
const endOf = new Int32Array(WORDS_MAX)

/** Lower-cased character classes: the folded code of a word character, 0 for a separator. */
const FOLD = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[a-z0-9_']/.test(char)) FOLD[code] = code
  else if (/[A-Z]/.test(char)) FOLD[code] = code + 32
}

const SEED = 0x811c9dc5 | 0
const settle = (hash: number): number => (hash === GAP || hash === ANY ? hash + 2 : hash)

function hashWord(word: string): number {
  let hash = SEED
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ (FOLD[word.charCodeAt(i)] ?? 0), 0x01000193)
  return settle(hash)
}

/** Split into words; returns how many. Typographic apostrophes read as plain ones, other non-ASCII characters separate. */
function readWords(text: string): number {
  let count = 0
  let hash = SEED
  let start = -1
  const length = text.length
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    const folded = code < 128 ? (FOLD[code] as number) : code === 0x2019 ? 39 : 0
    if (folded !== 0) {
      if (start < 0) {
        start = i
        hash = SEED
      }
      hash = Math.imul(hash ^ folded, 0x01000193)
    } else if (start >= 0) {
      if (count === WORDS_MAX) return count
      hashOf[count] = settle(hash)
      startOf[count] = start
      endOf[count++] = i
      start = -1
    }
  }
  if (start >= 0 && count < WORDS_MAX) {
    hashOf[count] = settle(hash)
    startOf[count] = start
    endOf[count++] = length
  }
  return count
}

export function phraseBook<T>(phrases: Iterable<readonly [phrase: string, payload: T]>): PhraseBook<T> {
  const byFirst = new Map<number, Phrase<T>[]>()
  const filter = new Uint8Array(8_192)
  for (const [text, payload] of phrases) {
    const words = text.split(' ')
    const hashes = words.map((word) => (word === '..' ? GAP : word === '*' ? ANY : hashWord(word)))
    const first = hashes[0] ?? GAP
    const clean = words.every((word) => word === '..' || word === '*' || /^[A-Za-z0-9_']+$/.test(word))
    if (!clean || first === GAP || first === ANY) throw new Error(`phrase "${text}": must be plain words and start with one`)
    filter[(first & 0xffff) >> 3]! |= 1 << (first & 7)
    const list = byFirst.get(first)
    const phrase = { hashes, words, exact: /[A-Z]/.test(text), payload }
    if (list) list.push(phrase)
    else byFirst.set(first, [phrase])
  }
  return { byFirst, filter }
}

/** True when the word at `index` is the phrase's word, letter by letter: hashes only propose. */
function sameWord(text: string, index: number, word: string, exact: boolean): boolean {
  const start = startOf[index] as number
  if ((endOf[index] as number) - start !== word.length) return false
  for (let i = 0; i < word.length; i++) {
    const code = text.charCodeAt(start + i)
    const wanted = word.charCodeAt(i)
    if (code === wanted) continue
    if (code === 0x2019 && wanted === 39) continue
    if (exact || code > 127 || FOLD[code] !== FOLD[wanted]) return false
  }
  return true
}

function matchesAt<T>(text: string, phrase: Phrase<T>, at: number, count: number): boolean {
  const { hashes, words, exact } = phrase
  let word = at
  let gap = 0
  for (let i = 0; i < hashes.length; i++) {
    const hash = hashes[i] as number
    if (hash === GAP) {
      gap = GAP_MAX
      continue
    }
    let found = false
    for (let skipped = 0; skipped <= gap && word < count; skipped++, word++) {
      if (hash === ANY || (hashOf[word] === hash && sameWord(text, word, words[i] as string, exact))) {
        found = true
        word++
        break
      }
    }
    if (!found) return false
    gap = 0
  }
  return true
}

/** A word with its place, for readers that look at numbers beside words. */
export interface WordView {
  readonly text: string
  readonly count: number
  start(index: number): number
  end(index: number): number
  /** Case-insensitive comparison with a lower-case word. */
  is(index: number, word: string): boolean
}

const view = {
  text: '',
  count: 0,
  start: (index: number): number => startOf[index] ?? 0,
  end: (index: number): number => endOf[index] ?? 0,
  is: (index: number, word: string): boolean => index >= 0 && index < view.count && sameWord(view.text, index, word, false),
}

/**
 * Report every phrase that occurs, in order of appearance, and every word that starts with a digit.
 * The callbacks must not call `scan` again: the word buffers are shared.
 */
export function scan<T>(
  text: string,
  book: PhraseBook<T>,
  onPhrase: (payload: T) => void,
  onNumber: (index: number, words: WordView) => void,
): void {
  const count = readWords(text)
  const { byFirst, filter } = book
  view.text = text
  view.count = count
  for (let i = 0; i < count; i++) {
    const hash = hashOf[i] as number
    const code = text.charCodeAt(startOf[i] as number)
    if (code >= 48 && code <= 57) onNumber(i, view)
    if (((filter[(hash & 0xffff) >> 3] as number) & (1 << (hash & 7))) === 0) continue
    const phrases = byFirst.get(hash)
    if (phrases === undefined) continue
    for (const phrase of phrases) if (matchesAt(text, phrase, i, count)) onPhrase(phrase.payload)
  }
}
