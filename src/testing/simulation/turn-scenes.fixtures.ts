/**
 * Histories of whose turn it is: the order of a lane, concurrency keys, quotas, and runs that an answer brings forward. Each is told
 * rightly, or wrongly in one way that its law must see.
 */
import { API, type Book, PLAIN, type Scene, wrongly } from './book.fixtures.ts'
import type { History } from './history.ts'

type Three = [string, string, string]

const told = { what: 'resource:api', why: 'busy', by: 'http.429', probe: true } as const
const why = { code: 'run.again', params: { by: 'ops', generation: 1 } } as const

function move(book: Book, run: string, where: { readonly priority?: number; readonly dueAt?: number }): void {
  const expect = { generation: 1, states: ['ready', 'waiting'] as const }
  book.does({ verb: 'reorder', move: { run, by: 'ops', why, expect, ...where }, answer: 'ok' }, 'client')
}

/** Three runs of a lane; the first has the lowest priority, and the last is moved to the front. */
const inTurn: Scene<
  'a newer one first' | 'a lower priority first' | 'one that caught up is passed over' | 'not moved'
> = (book, wrong) => {
  const [low] = book.create({ priority: 2 }) as [string]
  book.at += 100
  const [first, second] = book.create({}, {}) as [string, string]
  if (wrong === 'one that caught up is passed over') {
    // Its two steps of priority are worth a hundred milliseconds of waiting, and it has waited for as long.
    book.at += 10
    book.claim(first)
    return book.history({ ageingMs: 10 })
  }
  book.pass(10)
  if (wrong === 'a lower priority first') book.claim(low)
  else if (wrong === 'a newer one first') book.claim(second)
  move(book, second, { priority: -1 })
  book.claim(wrong === 'not moved' ? first : second)
  book.claim(first, low)
  return book.history()
}

/** Three runs of one key, of which one may be out at a time. */
const keptApart: Scene<'two of a key' | 'one more of a key' | 'before the other ended'> = (book, wrong) => {
  const concurrency = { key: 'k', max: 1 }
  const [a, b, c] = book.create({ concurrency }, { concurrency }, { concurrency }) as Three
  const [other] = book.create({ concurrency: { key: 'l', max: 1 } }) as [string]
  book.pass(10)
  if (wrong === 'two of a key') book.claim(a, b)
  else book.claim(a, other)
  if (wrong === 'one more of a key') book.claim(c)
  book.pass(10)
  if (wrong !== 'before the other ended') book.end(a)
  if (wrong !== 'two of a key') book.claim(b)
  return book.history()
}

/** An answer says that two more may be asked in the next ten seconds, and one other run is out. */
const spared: Scene<'not held' | 'held too short' | 'claimed all the same'> = (book, wrong) => {
  const [a, b, c] = book.create({ lane: API }, { lane: API }, { lane: API }) as Three
  book.pass(10).claim(a, b)
  book.pass(10)
  const quotas = [{ resource: 'api', by: 'x', unit: 'requests', remaining: 2, resetAt: book.at + 10_000 }] as const
  const untilMs = wrong === 'held too short' ? 4_000 : 5_000
  const hold = { ...told, until: book.at + untilMs, probe: false }
  const change = { type: 'answer', run: a, token: book.tokenOf(a), generation: 1, name: 'ask', inputHash: '' } as const
  book.does({
    ...{ verb: 'commit', change: { ...change, quotas }, answer: 'ok' },
    ...(wrong === 'not held' ? {} : { hold }),
  })
  book.at += wrong === 'claimed all the same' ? 1_000 : 6_000
  book.claim(c)
  return book.history()
}

/** A run was told to wait for long; its resource answers another one, and it is claimed before its time. */
export const forward: Scene<'another resource answered' | 'told after the answer' | 'its time is an operator’s'> = (
  book,
  wrong,
) => {
  const [a, b, c] = book.create({ lane: API }, { lane: API }, { lane: API }) as Three
  const [plain] = book.create({ lane: PLAIN }) as [string]
  const waits = { state: 'waiting', again: true } as const
  book.pass(10).claim(a)
  book.end(a, { ...waits, dueAt: book.at + 90_000, hold: { ...told, until: book.at + 1_000 } })
  if (wrong === 'its time is an operator’s') move(book, a, { dueAt: book.at + 80_000 })
  book.at += 1_000
  if (wrong === 'another resource answered') {
    book.claim(plain)
    book.end(plain)
    book.claim(a)
    return book.history()
  }
  book.claim(b)
  book.pass(10).end(b)
  if (wrong === 'told after the answer') {
    book.claim(c)
    book.end(c, { ...waits, dueAt: book.at + 90_000 })
    book.at += 5_000
    book.claim(c)
    return book.history()
  }
  book.at += 1_000
  book.claim(a)
  return book.history()
}

/** A hold is released while a run waits to try again what it held: it need not wait any longer. */
export const released: Scene = (book) => {
  const [a] = book.create({ lane: API }) as [string]
  book.pass(10).claim(a)
  book.end(a, { state: 'waiting', again: true, dueAt: book.at + 90_000, hold: { ...told, until: book.at + 60_000 } })
  book.pass(10).does({ verb: 'release', what: 'resource:api', answer: 'ok' }, 'client')
  book.pass(10).claim(a)
  return book.history()
}

/** Its resource answers again, and nobody comes for the run that waited for it. */
export function leftBehind(book: Book): History {
  const [a, b] = book.create({ lane: API }, { lane: API }) as [string, string]
  const from = book.at
  book.pass(10).claim(a)
  book.end(a, { state: 'waiting', again: true, dueAt: from + 500_000, hold: { ...told, until: book.at + 1_000 } })
  book.at += 1_000
  book.claim(b)
  book.pass(10).end(b)
  book.claim()
  book.at += 200_000
  book.claim(a)
  return { ...book.history(), quietFrom: from }
}

export const TURN_SCENES = { turn: inTurn, keys: keptApart, quota: spared, forward, released } as const

export const BAD_TURNS = {
  turn: wrongly(
    inTurn,
    'a newer one first',
    'a lower priority first',
    'one that caught up is passed over',
    'not moved',
  ),
  keys: wrongly(keptApart, 'two of a key', 'one more of a key', 'before the other ended'),
} as const

/** By the law that must see them. */
export const BAD_QUOTAS = wrongly(spared, 'not held', 'held too short', 'claimed all the same')

export const BAD_FORWARDS = wrongly(
  forward,
  'another resource answered',
  'told after the answer',
  'its time is an operator’s',
)
