/**
 * The filter language of lists and verbs: `task:invoice.* state:waiting,review since:2h "kestrel"`, checked token by token.
 * Pure: it turns words into a query and asks no store; time and zone are handed in.
 */
import { KINDS } from '../failure/failure.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { RunCriteria } from '../ports/store.ts'
import { STATE_WORDS } from '../run/run.ts'
import { parseDuration } from '../time/duration.ts'
import { windowOf } from '../time/window.ts'

export const FILTER_NAMES = ['task', 'state', 'kind', 'code', 'category', 'key', 'since', 'before'] as const

export type FilterName = (typeof FILTER_NAMES)[number]

export interface FilterToken {
  /** As it was written. */
  readonly written: string
  /** Absent for a text to look for. */
  readonly name?: FilterName
  readonly value: string
}

export interface RunFilter {
  /** What a store can answer by itself. */
  readonly query: RunCriteria
  /** Tasks by prefix (`invoice.*`), to be looked up among the tasks that there are. */
  readonly taskPrefixes: readonly string[]
  /** All of them must occur in the run: its id, key, task, input, or failure. Lower case. */
  readonly texts: readonly string[]
  readonly tokens: readonly FilterToken[]
}

export interface FilterOptions {
  /** Store time, for `since:2h` and `since:12:00`. */
  readonly now: number
  /** IANA zone of clock times; UTC when absent. */
  readonly zone?: string
}

/** More is a list, and lists are for `--json` and a script. */
const TOKENS_MAX = 50
const VALUES_MAX = 100

/** One text as typed into a query bar, or words as a shell hands them over. Throws a RepriseError that names the bad token. */
export function parseFilter(words: string | readonly string[], options: FilterOptions): RunFilter {
  return filterOf(tokensOf(words), options)
}

/** The same filter without one of its tokens, to say what would match without it. */
export function withoutToken(filter: RunFilter, token: FilterToken, options: FilterOptions): RunFilter {
  return filterOf(
    filter.tokens.filter((each) => each !== token),
    options,
  )
}

/** A quoted text, a filter with a quoted value, or a run of anything but spaces. */
const WORD = /"((?:[^"\\]|\\.)*)"|([a-z]+):"((?:[^"\\]|\\.)*)"|(\S+)/gi

export function tokensOf(words: string | readonly string[]): FilterToken[] {
  // A shell has taken the quotes off, so a word of several parts without a filter is a text to look for.
  const parts =
    typeof words === 'string' ? [words] : words.map((word) => (isPhrase(word) ? JSON.stringify(word) : word))
  const tokens = parts.flatMap((part) => [...part.matchAll(WORD)].map(tokenOf))
  if (tokens.length > TOKENS_MAX) refuse(`${tokens.length} tokens`, `${TOKENS_MAX} at most`)
  return tokens
}

const isPhrase = (word: string) => /\s/.test(word) && !word.includes('"') && !/(^|\s)[a-z]+:\S/i.test(word)

function tokenOf([written, text, quotedName, quotedValue, bare]: RegExpMatchArray): FilterToken {
  if (text !== undefined) return { written, value: unquoted(text) }
  if (quotedName !== undefined)
    return { written, name: nameOf(quotedName, written), value: unquoted(quotedValue ?? '') }
  const word = bare ?? ''
  const colon = word.indexOf(':')
  if (colon < 0) return { written, value: word }
  const value = word.slice(colon + 1)
  const name = nameOf(word.slice(0, colon), written)
  if (value === '') refuse(`"${written}"`, `${name}:<value>`)
  return { written, name, value }
}

const unquoted = (text: string) => text.replace(/\\(.)/g, '$1')

function nameOf(word: string, written: string): FilterName {
  const found = FILTER_NAMES.find((name) => name === word.toLowerCase())
  if (found) return found
  return refuse(`"${written}"`, `the filters ${FILTER_NAMES.join(', ')}; a text with a colon goes between quotes`)
}

function filterOf(tokens: readonly FilterToken[], options: FilterOptions): RunFilter {
  const given = new Map<FilterName, FilterToken>()
  for (const token of tokens) {
    if (token.name === undefined) continue
    if (given.has(token.name))
      refuse(`"${token.written}"`, `each filter once; several values are joined by commas: ${token.name}:a,b`)
    given.set(token.name, token)
  }
  const list = (name: FilterName) => listOf(given.get(name))
  const among = <Word extends string>(name: FilterName, allowed: readonly Word[]) =>
    list(name)?.map((value) => oneOf(value, allowed, given.get(name)))
  const tasks = list('task')
  const exact = tasks?.filter((task) => !task.endsWith('*'))
  const since = given.get('since')
  const before = given.get('before')
  const [code, secondCode] = list('code') ?? []
  if (secondCode !== undefined) refuse(`"${given.get('code')?.written}"`, 'one code, or a prefix such as code:gate.*')
  const key = given.get('key')?.value
  return {
    query: defined({
      tasks: exact && exact.length > 0 ? exact : undefined,
      states: among('state', STATE_WORDS),
      kinds: among('kind', KINDS),
      categories: list('category'),
      code,
      key,
      // The store's bound is exclusive, and what was submitted in that very millisecond belongs to it.
      submittedAfter: since && instantOf(since, options) - 1,
      submittedBefore: before && instantOf(before, options),
    }),
    taskPrefixes: (tasks ?? []).filter((task) => task.endsWith('*')).map((task) => task.slice(0, -1)),
    texts: tokens.filter(({ name }) => name === undefined).map(({ value }) => value.toLowerCase()),
    tokens,
  }
}

function listOf(token: FilterToken | undefined): string[] | undefined {
  if (!token) return undefined
  const values = token.value.split(',').filter((value) => value !== '')
  if (values.length === 0 || values.length > VALUES_MAX) refuse(`"${token.written}"`, `1 to ${VALUES_MAX} values`)
  return values
}

function oneOf<Word extends string>(value: string, allowed: readonly Word[], token: FilterToken | undefined): Word {
  const found = allowed.find((word) => word === value)
  return found ?? refuse(`"${value}" in "${token?.written}"`, allowed.join(', '))
}

const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?$/
const ISO = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** A duration back from now, a clock time (today's, or yesterday's if that is still to come), or an instant. */
function instantOf({ value, written }: FilterToken, { now, zone = 'UTC' }: FilterOptions): number {
  const clock = CLOCK.exec(value)
  if (clock) {
    const [hours = 0, minutes = 0, seconds = 0] = clock.slice(1).map((part) => Number(part ?? 0))
    const sinceMidnightMs = ((hours * 60 + minutes) * 60 + seconds) * 1_000
    const today = windowOf('day', now, zone)
    const at = today.startsAt + sinceMidnightMs
    return at <= now ? at : windowOf('day', today.startsAt - 1, zone).startsAt + sinceMidnightMs
  }
  if (ISO.test(value) && !Number.isNaN(Date.parse(value))) return Date.parse(value)
  if (/^\d{12,16}$/.test(value)) return Number(value)
  try {
    return now - parseDuration(value)
  } catch {
    return refuse(
      `"${written}"`,
      'a duration back from now (2h, 30m, 7d), a clock time (12:00), or an instant (2026-11-15T14:02:10Z)',
    )
  }
}

function defined<T extends object>(fields: T): { [Field in keyof T]?: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]?: Exclude<T[Field], undefined>
  }
}

function refuse(what: string, allowed: string): never {
  throw new RepriseError('filter.invalid', `${what} is not understood. Allowed: ${allowed}.`)
}
