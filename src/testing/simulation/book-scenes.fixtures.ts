/**
 * Histories of flows, joins, retention, holds, buckets and limits, each told rightly, or wrongly in one way that its law must see.
 */
import type { HoldOrder } from '../../run/hold.ts'
import { API, Book, type Scene, wrongly } from './book.fixtures.ts'
import type { History } from './history.ts'
import { BAD_QUOTAS, BAD_TURNS, TURN_SCENES } from './turn-scenes.fixtures.ts'

const failed = { state: 'failed' } as const

/** A step that needs two others, which end one after the other. */
const fanIn: Scene<
  | 'unblocked by its first need'
  | 'unblocked twice'
  | 'never unblocked'
  | 'told before it was stored'
  | 'begun too early'
  | 'given other outputs'
  | 'another link'
> = (book, wrong) => {
  const [a, b, c] = book.create({ step: 'a' }, { step: 'b' }, { step: 'c', needs: ['a', 'b'] }) as [
    string,
    string,
    string,
  ]
  const ready = [{ run: c, generation: 1, state: 'ready' }] as const
  book.pass(10).claim(a, b)
  book
    .pass(10)
    .end(
      a,
      { output: '1' },
      wrong === 'unblocked by its first need' || wrong === 'unblocked twice' ? { moved: ready } : {},
    )
  if (wrong === 'begun too early') {
    book.claim(c)
    book.begin(c, { a: 1 })
  }
  const tell = () =>
    book.note({
      log: 'event',
      process: 'w1',
      event: { name: 'run.unblocked', at: book.at, run: c, task: 'plain', generation: 1, after: b },
    })
  if (wrong === 'told before it was stored') tell()
  const right = wrong !== 'never unblocked' && wrong !== 'unblocked by its first need'
  book.pass(10).end(b, { output: '2' }, right ? { moved: ready } : {})
  if (wrong !== 'told before it was stored') tell()
  book.pass(10).claim(c)
  book.begin(c, { a: 1, b: wrong === 'given other outputs' ? 3 : 2 })
  const links = { [c]: { needs: [], dependents: [] } }
  return book.history({}, wrong === 'another link' ? { links } : {})
}

/** A step fails and takes another along; both begin again with its retry. */
const beganAgain: Scene<'left behind' | 'begun without a reason' | 'not blocked again' | 'two generations'> = (
  book,
  wrong,
) => {
  const [a, b, c] = book.create(
    { step: 'a' },
    { step: 'b', needs: ['a'], onNeedFailed: 'fail' },
    { step: 'c', needs: ['a'], onNeedFailed: 'wait' },
  ) as [string, string, string]
  book.pass(10).claim(a)
  book.pass(10).end(a, failed, { moved: [{ run: b, generation: 1, state: 'failed' }] })
  const again = {
    run: b,
    generation: wrong === 'two generations' ? 3 : 2,
    state: wrong === 'not blocked again' ? 'ready' : 'blocked',
  } as const
  const more = wrong === 'begun without a reason' ? [{ run: c, generation: 2, state: 'blocked' } as const] : []
  book.pass(10).retry(a, wrong === 'left behind' ? {} : { moved: [again, ...more] })
  return book.history()
}

/** A parent joins two children, one of which fails, and is given what came of them. */
const joined: Scene<
  | 'a child too few'
  | 'joined twice'
  | 'results in another order'
  | 'a result too many'
  | 'a run is begun without success'
  | 'a run that should begin is forgotten'
> = (book, wrong) => {
  const [parent] = book.create({}) as [string]
  book.pass(10).claim(parent)
  const child = (index: number) => ({ task: 'part', input: `{"item":1,"child":${index}}`, priority: 0 })
  const join = { name: 'parts', children: [child(0), child(1)] }
  const created = ['r101', 'r102'].map((id) => ({ id, created: true, generation: 1 }))
  book.end(parent, { state: 'blocked', join }, { created: wrong === 'a child too few' ? created.slice(1) : created })
  book.pass(10).claim('r101', 'r102')
  book.pass(10).end('r101', { output: '"one"' })
  book.pass(10).end('r102', failed, { moved: [{ run: parent, generation: 1, state: 'ready' }] })
  book.pass(10).claim(parent)
  if (wrong === 'joined twice') {
    book.end(
      parent,
      { state: 'blocked', join },
      { created: ['r103', 'r104'].map((id) => ({ id, created: true, generation: 1 })) },
    )
    return book.history()
  }
  const results: unknown[] = [
    { ok: true, value: 'one' },
    { ok: false, failure: {} },
  ]
  if (wrong === 'results in another order') results.reverse()
  if (wrong === 'a result too many') results.push({ ok: true })
  const told = { log: 'children', process: 'w1', run: parent, generation: 1, token: book.tokenOf(parent) } as const
  book.note({ ...told, joined: { name: 'parts', onFailure: 'collect', results: JSON.stringify(results) } })
  book.note(told)
  book.returns(parent)
  const ends = wrong === 'a run is begun without success' ? failed : {}
  const begun = wrong === 'a run that should begin is forgotten' ? [] : [{ id: 'r105', created: true, generation: 1 }]
  book.pass(10).end(parent, { ...ends, children: [child(2)] }, { created: begun })
  return book.history()
}

/** A flow of two and a run by itself end; what is old goes. */
const pruned: Scene<'a flow in parts' | 'too young' | 'not ended' | 'still there' | 'never made'> = (book, wrong) => {
  const [a, b] = book.create({ step: 'a' }, { step: 'b', needs: ['a'] }) as [string, string]
  const [alone] = book.create({}) as [string]
  book.pass(10).claim(a, alone)
  book.end(a, {}, { moved: [{ run: b, generation: 1, state: 'ready' }] })
  if (wrong !== 'not ended') book.end(alone)
  book.pass(10).claim(b)
  book.end(b)
  book.at += 5_000
  const gone = wrong === 'a flow in parts' ? [a, alone] : [a, b, alone]
  book.prune(wrong === 'too young' ? 60_000 : 5_000, ...gone, ...(wrong === 'never made' ? ['r77'] : []))
  return book.history({}, wrong === 'still there' ? { gone: [a, b] } : {})
}

const order: HoldOrder = { what: 'resource:api', why: 'busy', by: 'http.429', probe: true }

/** A resource is held by an answer; one run goes first, then the others along the ramp. */
const held: Scene<
  | 'claimed while held'
  | 'two probes'
  | 'a second probe'
  | 'all at once'
  | 'a new hold is not heeded'
  | 'a task that is held'
  | 'let in without an answer'
> = (book, wrong) => {
  const ids = book.create(...Array.from({ length: 6 }, () => ({ lane: API }))) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const [a, b, c, d, e, f] = ids
  book.pass(10).claim(a)
  book.pass(10).end(a, { state: 'waiting', dueAt: book.at + 90_000, hold: { ...order, until: book.at + 5_000 } })
  book.at += 1_000
  if (wrong === 'claimed while held') book.claim(b)
  if (wrong === 'a task that is held') {
    book.does({ verb: 'hold', order: { ...order, what: 'task:metered', probe: false }, answer: 'ok' }, 'client')
    book.at += 10_000
    book.claim(b)
  }
  book.at += 4_000
  book.pass(10)
  if (wrong === 'two probes') book.claim(b, c)
  else book.claim(b)
  book.pass(100)
  if (wrong === 'a second probe') book.claim(c)
  if (wrong === 'a new hold is not heeded')
    book.end(b, { state: 'waiting', dueAt: book.at + 90_000, hold: { ...order, until: book.at + 30_000 } })
  else if (wrong === 'let in without an answer')
    book.end(b, { state: 'waiting', dueAt: book.at + 90_000, suspensions: 1 })
  else book.end(b, {})
  if (wrong === 'let in without an answer') book.claim(c, d)
  else if (wrong === 'all at once') book.claim(c, d, e, f)
  else book.claim(c)
  book.at += 1_000
  if (wrong === undefined) book.claim(d, e)
  return book.history()
}

/** A resource fails for everybody; its retries come one a second. */
const failing: Scene<
  'all retries at once' | 'two retries a second' | 'a retry in the first instant' | 'first tries pay for too much'
> = (book, wrong) => {
  const ids = book.create(...Array.from({ length: 30 }, () => ({ lane: API })))
  const tried = ids.slice(0, 16)
  book.pass(10).claim(...tried)
  for (const run of tried) book.pass(5).end(run, { state: 'ready', trouble: 'api' })
  const next = () => tried.shift() as string
  if (wrong === 'all retries at once') book.claim(next(), next(), next(), next())
  if (wrong === 'a retry in the first instant') book.claim(next())
  if (wrong === 'first tries pay for too much') {
    book.claim(...ids.slice(16, 26))
    book.at += 10
    book.claim(next(), next(), next())
  }
  for (let each = 0; each < 12; each += 1) {
    book.at += wrong === 'two retries a second' ? 500 : 1_000
    book.claim(next())
  }
  return book.history()
}

const limit = { what: 'resource:api', running: 2 } as const
const rate = { what: 'resource:api', rate: { max: 2, perMs: 1_000 } } as const

/** Two at a time, and two in a second. */
const limited: Scene<'three at a time' | 'three in two claims' | 'three in a second'> = (book, wrong) => {
  const [a, b, c, d] = book.create(...Array.from({ length: 4 }, () => ({ lane: API }))) as [
    string,
    string,
    string,
    string,
  ]
  book.pass(10)
  if (wrong === 'three at a time') book.claim(a, b, c)
  else book.claim(a, b)
  if (wrong === 'three in two claims') book.claim(d)
  book.at += 100
  book.end(a)
  if (wrong !== 'three in a second') book.at += 900
  if (wrong !== 'three at a time') book.claim(c)
  return book.history({ limits: wrong === 'three in a second' ? [rate] : [limit, rate] })
}

/** A step whose need never comes to an end, though everything else has. */
export function blockedForEver(): History {
  const book = new Book()
  book.create({ step: 'a' }, { step: 'b', needs: ['a'] })
  return book.history()
}

/** A run of a lane that was held for a while, long after: nobody came for it. */
export function leftAfterItsHold(heldMs: number): History {
  const book = new Book()
  book.create({ lane: API })
  const from = book.at
  book.does({ verb: 'hold', order: { ...order, until: from + heldMs }, answer: 'ok' }, 'client')
  book.at += 120_000
  return { ...book.history(), quietFrom: from }
}

const SCENES = {
  needs: fanIn,
  again: beganAgain,
  join: joined,
  prune: pruned,
  hold: held,
  I23: failing,
  limits: limited,
  ...TURN_SCENES,
} as const

/** By law, a history that keeps it. */
export const goodBooks = (seed: number): Readonly<Record<string, History>> =>
  Object.fromEntries(Object.entries(SCENES).map(([law, scene]) => [law, scene(new Book(seed))]))

/** By law, the histories that break it. */
export const BAD_BOOKS: Readonly<Record<string, Readonly<Record<string, () => History>>>> = {
  needs: wrongly(
    fanIn,
    'unblocked by its first need',
    'unblocked twice',
    'never unblocked',
    'told before it was stored',
    'begun too early',
    'given other outputs',
    'another link',
  ),
  again: wrongly(beganAgain, 'left behind', 'begun without a reason', 'not blocked again', 'two generations'),
  join: wrongly(
    joined,
    'a child too few',
    'joined twice',
    'results in another order',
    'a result too many',
    'a run is begun without success',
    'a run that should begin is forgotten',
  ),
  prune: wrongly(pruned, 'a flow in parts', 'too young', 'not ended', 'still there', 'never made'),
  hold: {
    ...wrongly(
      held,
      'claimed while held',
      'two probes',
      'a second probe',
      'all at once',
      'a new hold is not heeded',
      'a task that is held',
      'let in without an answer',
    ),
    ...BAD_QUOTAS,
  },
  I23: wrongly(
    failing,
    'all retries at once',
    'two retries a second',
    'a retry in the first instant',
    'first tries pay for too much',
  ),
  limits: wrongly(limited, 'three at a time', 'three in two claims', 'three in a second'),
  ...BAD_TURNS,
}
