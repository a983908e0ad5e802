/**
 * Finds thousands of phrases in a text in one pass: words are hashed as they are read and looked up, never backtracked over.
 * It knows nothing of errors; a phrase carries a payload and that is handed back.
 */

import { APOSTROPHE, asciiOf } from './ascii.ts'
import { TEXT_MAX } from './bounds.ts'

/** A phrase's gap `..` spans at most this many words, which bounds the work per word. */
const GAP_MAX = 6
const GAP = 0
const ANY = 1
/** One word needs at least one character and one separator. */
const WORDS_MAX = 8_192

interface Phrase<T> {
  /** Words with single spaces between them. */
  readonly text: string
  /** Compared as written, letter case included. */
  readonly exact: boolean
  readonly payload: T
  readonly wild: Wild | undefined
}

/** A phrase with wildcards, word by word. GAP and ANY stand for the two of them. */
interface Wild {
  readonly hashes: readonly number[]
  readonly words: readonly string[]
}

/** A phrase may go on from here with one of its known words. */
const GOES_ON = 1

/** What to know of a phrase before its letters are read, under the place of its letters. */
const EXACT = 1
const WILD = 2
/** The last phrase of its beginning. */
const LAST = 4
const TRAIT_BITS = 3

/**
 * Flat arrays of numbers, because a text jumps all over the book: a tree of objects costs a cache miss per step,
 * and most candidates are turned down without an object being touched.
 */
export interface PhraseBook<T> {
  /**
   * Every beginning of a phrase, known by the joint hash of its words, in an open-addressed table of pairs: the hash, then
   * its first phrase's number from 1 (0 for none) times two, plus GOES_ON. Beginnings that share a hash share a slot,
   * which the comparison letter by letter makes harmless.
   */
  readonly slots: Int32Array
  /** By number: traits, and from which place on the letters stand. A beginning's phrases that end there come before those that go on with a wildcard. */
  readonly traits: Int32Array
  /** All phrases letter by letter, each ended by 0. */
  readonly letters: Uint8Array
  readonly wilds: ReadonlyMap<number, Wild>
  readonly payloads: readonly T[]
}

/** Words of the text last read. Shared by all calls, safe because nothing is awaited or called back between reading and matching. */
const hashOf = new Int32Array(WORDS_MAX)
const startOf = new Int32Array(WORDS_MAX)
const endOf = new Int32Array(WORDS_MAX)
const buffer = new Uint8Array(TEXT_MAX + 64)
let bytes: Uint8Array = buffer

/** Lower-cased character classes: the folded code of a word character, 0 for a separator. */
const FOLD = new Uint8Array(256)
for (let code = 0; code < 128; code++) {
  const char = String.fromCharCode(code)
  if (/[a-z0-9_']/.test(char)) FOLD[code] = code
  else if (/[A-Z]/.test(char)) FOLD[code] = code + 32
}
FOLD[APOSTROPHE] = 39

const SEED = 0x811c9dc5 | 0
const settle = (hash: number): number => (hash === GAP || hash === ANY ? hash + 2 : hash)

function hashWord(word: string): number {
  let hash = SEED
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ (FOLD[word.charCodeAt(i)] ?? 0), 0x01000193)
  return settle(hash)
}

/** Split into words; returns how many. Typographic apostrophes read as plain ones, other non-ASCII characters separate. */
function readWords(text: string): number {
  const { length } = text
  let count = 0
  const letters = asciiOf(text, buffer)
  bytes = letters
  for (let i = 0; i < length && count < WORDS_MAX; i++) {
    let folded = FOLD[letters[i] as number] as number
    if (folded === 0) continue
    let hash = SEED
    startOf[count] = i
    do {
      hash = Math.imul(hash ^ folded, 0x01000193)
      folded = ++i < length ? (FOLD[letters[i] as number] as number) : 0
    } while (folded !== 0)
    hashOf[count] = settle(hash)
    endOf[count++] = i
  }
  return count
}

/** The hash of a beginning that is one word longer. */
const join = (path: number, hash: number): number => settle(Math.imul(path ^ hash, 0x01000193))
/** Multiplication leaves the low bits weak; the high ones are folded in. */
const homeOf = (path: number): number => path ^ (path >>> 15)

interface Beginning<T> {
  /** Phrases that end here or go on with a wildcard. Most beginnings have none. */
  phrases: Phrase<T>[] | undefined
  goesOn: boolean
}

function add<T>(here: Beginning<T> | undefined, phrase: Phrase<T>): void {
  if (here === undefined) return
  if (here.phrases === undefined) here.phrases = [phrase]
  else here.phrases.push(phrase)
}

export function phraseBook<T>(phrases: Iterable<readonly [phrase: string, payload: T, exact: boolean]>): PhraseBook<T> {
  const beginnings = new Map<number, Beginning<T>>()
  for (const [text, payload, exact] of phrases) {
    const words = text.split(' ')
    const hashes = words.map((word) => (word === '..' ? GAP : word === '*' ? ANY : hashWord(word)))
    const first = hashes[0] ?? GAP
    if (!isClean(text) || first === GAP || first === ANY)
      throw new Error(`phrase "${text}": must be plain words and start with one`)
    const wild = hashes.includes(GAP) || hashes.includes(ANY) ? { hashes, words } : undefined
    place(beginnings, hashes, { text, exact, payload, wild })
  }
  return table(beginnings)
}

/** Plain words and wildcards with single spaces between them. */
const isClean = (text: string): boolean => /^(?:[A-Za-z0-9_']+|\.\.|\*)(?: (?:[A-Za-z0-9_']+|\.\.|\*))*$/.test(text)

function place<T>(beginnings: Map<number, Beginning<T>>, hashes: readonly number[], phrase: Phrase<T>): void {
  let path = 0
  let here: Beginning<T> | undefined
  for (const hash of hashes) {
    if (hash === GAP || hash === ANY) {
      add(here, phrase)
      return
    }
    if (here !== undefined) here.goesOn = true
    path = here === undefined ? hash : join(path, hash)
    here = beginnings.get(path)
    if (here === undefined) {
      here = { phrases: undefined, goesOn: false }
      beginnings.set(path, here)
    }
  }
  add(here, phrase)
}

/** Twice as many slots as beginnings keeps probes short; empty slots hold 0, which is no word's hash. */
function table<T>(beginnings: ReadonlyMap<number, Beginning<T>>): PhraseBook<T> {
  const size = 2 ** Math.ceil(Math.log2(Math.max(2, beginnings.size * 2)))
  const slots = new Int32Array(size * 2)
  const traits: number[] = []
  const payloads: T[] = []
  const wilds = new Map<number, Wild>()
  let letters = ''
  for (const [path, { phrases, goesOn }] of beginnings) {
    let slot = homeOf(path) & (size - 1)
    while (slots[slot * 2] !== 0) slot = (slot + 1) & (size - 1)
    slots[slot * 2] = path
    slots[slot * 2 + 1] = (phrases === undefined ? 0 : payloads.length + 1) * 2 + (goesOn ? GOES_ON : 0)
    if (phrases === undefined) continue
    phrases.sort((a, b) => Number(a.wild !== undefined) - Number(b.wild !== undefined))
    phrases.forEach((phrase, i) => {
      if (phrase.wild !== undefined) wilds.set(payloads.length, phrase.wild)
      const last = i === phrases.length - 1 ? LAST : 0
      const kind = (phrase.exact ? EXACT : 0) | (phrase.wild === undefined ? 0 : WILD)
      traits.push((letters.length << TRAIT_BITS) | kind | last)
      payloads.push(phrase.payload)
      letters += `${phrase.text}\0`
    })
  }
  return { slots, traits: Int32Array.from(traits), letters: new TextEncoder().encode(letters), wilds, payloads }
}

/** What the table holds for a beginning, or -1. */
function find(slots: Int32Array, path: number): number {
  const last = slots.length - 2
  for (let at = (homeOf(path) << 1) & last; ; at = (at + 2) & last) {
    const held = slots[at]
    if (held === path) return slots[at + 1] as number
    if (held === 0) return -1
  }
}

/** True when the word at `index` is the phrase's word, letter by letter: hashes only propose. */
function sameWord(index: number, word: string, exact: boolean): boolean {
  const start = startOf[index] as number
  if ((endOf[index] as number) - start !== word.length) return false
  for (let i = 0; i < word.length; i++) {
    const code = bytes[start + i] as number
    const wanted = word.charCodeAt(i)
    if (code !== wanted && !sameLetter(code, wanted, exact)) return false
  }
  return true
}

/** Do the words from `at` on spell the phrase whose letters start at `place`? */
function spells(letters: Uint8Array, place: number, exact: boolean, at: number, count: number): boolean {
  let next = place
  for (let word = at; word < count; word++, next++) {
    const end = endOf[word] as number
    for (let i = startOf[word] as number; i < end; i++, next++) {
      const code = bytes[i] as number
      const wanted = letters[next] as number
      if (code !== wanted && !sameLetter(code, wanted, exact)) return false
    }
    const after = letters[next]
    if (after === 0) return true
    if (after !== 32) return false
  }
  return false
}

function sameLetter(code: number, wanted: number, exact: boolean): boolean {
  return exact ? code === APOSTROPHE && wanted === 39 : FOLD[code] === FOLD[wanted]
}

function matchesWild(phrase: Wild, exact: boolean, at: number, count: number): boolean {
  const { hashes, words } = phrase
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
      if (hash === ANY || (hashOf[word] === hash && sameWord(word, words[i] as string, exact))) {
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

/** Report those of a beginning's phrases that the words from `at` on spell. */
function report<T>(
  book: PhraseBook<T>,
  first: number,
  at: number,
  count: number,
  onPhrase: (payload: T) => void,
): void {
  for (let i = first; ; i++) {
    const trait = book.traits[i] as number
    const exact = (trait & EXACT) !== 0
    const found =
      (trait & WILD) === 0
        ? spells(book.letters, trait >> TRAIT_BITS, exact, at, count)
        : matchesWild(book.wilds.get(i) as Wild, exact, at, count)
    if (found) onPhrase(book.payloads[i] as T)
    if ((trait & LAST) !== 0) return
  }
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
  is: (index: number, word: string): boolean => index >= 0 && index < view.count && sameWord(index, word, false),
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
  const { slots } = book
  view.text = text
  view.count = count
  for (let i = 0; i < count; i++) {
    const code = bytes[startOf[i] as number] as number
    if (code >= 48 && code <= 57) onNumber(i, view)
    let path = hashOf[i] as number
    for (let word = i + 1; ; word++) {
      const found = find(slots, path)
      if (found > GOES_ON) report(book, (found >> 1) - 1, i, count, onPhrase)
      if (found < 0 || (found & GOES_ON) === 0 || word >= count) break
      path = join(path, hashOf[word] as number)
    }
  }
}
