import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { createReprise } from '../../engine/reprise.ts'
import { defineTask } from '../../engine/task.ts'
import type { Store } from '../../ports/store.ts'
import { systemClock, turn } from '../../time/clock.ts'
import { memory } from '../memory/index.ts'
import { claimRequest, freshFile, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'

const bill = defineTask<{ order: number }>({ name: 'bill' })

/** A file with the tables and one of the application's own, and a connection of the application to it. */
async function shop(file = freshFile()) {
  const store = sqlite({ file, durability: 'process' })
  const reprise = createReprise({ store })
  await reprise.get('r1')
  const db = new Database(file)
  db.exec('CREATE TABLE orders(id INTEGER PRIMARY KEY, item TEXT)')
  const order = db.prepare('INSERT INTO orders(item) VALUES (?)')
  return { file, store, reprise, db, order }
}

const runsIn = async (store: Store) => (await store.find({ limit: 100 })).runs

describe('submit inside a transaction of the application', () => {
  test('order and run are committed together', async () => {
    const { store, reprise, db, order } = await shop()
    const run = db.transaction(() => {
      const { lastInsertRowid } = order.run('lamp')
      return reprise.submit(bill, { order: Number(lastInsertRowid) }, { tx: db, key: 'order-1', priority: 3, at: '1h' })
    })()
    expect(run).toMatchObject({ id: 'r1', created: true })
    expect(await runsIn(store)).toMatchObject([
      { id: 'r1', task: 'bill', key: 'order-1', priority: 3, state: 'waiting', input: '{"order":1}' },
    ])
    expect(db.prepare('SELECT count(*) AS orders FROM orders').get()).toEqual({ orders: 1 })
    expect(await store.verify()).toEqual([])
  })

  test('neither is there after a rollback, and the next one works', async () => {
    const { store, reprise, db, order } = await shop()
    const failing = db.transaction(() => {
      order.run('lamp')
      reprise.submit(bill, { order: 1 }, { tx: db, key: 'k', category: 'new-lane' })
      throw new Error('out of stock')
    })
    expect(failing).toThrow('out of stock')
    expect(await runsIn(store)).toEqual([])
    expect(db.prepare('SELECT count(*) AS lanes FROM reprise_lane').get()).toEqual({ lanes: 0 })
    db.transaction(() => reprise.submit(bill, { order: 2 }, { tx: db, key: 'k', category: 'other-lane' }))()
    expect(await runsIn(store)).toMatchObject([{ key: 'k', category: 'other-lane', input: '{"order":2}' }])
    expect(await store.verify()).toEqual([])
  })

  test('others see nothing before the commit', async () => {
    const { store, reprise, db } = await shop()
    db.exec('BEGIN IMMEDIATE')
    const run = reprise.submit(bill, { order: 1 }, { tx: db })
    expect(await runsIn(store)).toEqual([])
    expect(await reprise.get(run.id)).toBeUndefined()
    db.exec('COMMIT')
    expect(await runsIn(store)).toHaveLength(1)
    const { runs } = await store.claim(claimRequest({ tasks: ['bill'] }))
    expect(runs.map(({ id }) => id)).toEqual([run.id])
  })

  test('a key is idempotent there too: against the store, and inside one transaction', async () => {
    const { reprise, db, store } = await shop()
    const before = await reprise.submit(bill, { order: 1 }, { key: 'a' })
    const [again, first, second] = db.transaction(() => [
      reprise.submit(bill, { order: 1 }, { tx: db, key: 'a' }),
      reprise.submit(bill, { order: 2 }, { tx: db, key: 'b' }),
      reprise.submit(bill, { order: 2 }, { tx: db, key: 'b' }),
    ])()
    expect(again).toMatchObject({ id: before.id, created: false })
    expect([first?.created, second?.created, second?.id]).toEqual([true, false, first?.id])
    expect((await reprise.submit(bill, { order: 2 }, { key: 'b' })).id).toBe(first?.id)
    const clash = db.transaction(() => reprise.submit(bill, { order: 3 }, { tx: db, key: 'a' }))
    expect(clash).toThrow(/Key "a" of bill belongs to a run with another input/)
    expect(await runsIn(store)).toHaveLength(2)
  })

  test('a failed run of the same key is begun again, if asked, and only by a commit', async () => {
    const { reprise, db, store } = await shop()
    const { id } = await reprise.submit(bill, { order: 1 }, { key: 'a' })
    const cancel = { type: 'cancel', by: 'ann', why: { code: 'run.cancelled', params: { by: 'ann' } } } as const
    await store.steer({ ...cancel, run: id, expect: { generation: 1, states: ['ready'] } })
    const again = () => reprise.submit(bill, { order: 1 }, { tx: db, key: 'a', onExisting: 'retry' })
    db.exec('BEGIN')
    again()
    db.exec('ROLLBACK')
    expect(await reprise.get(id)).toMatchObject({ state: 'cancelled', generation: 1 })
    db.transaction(again)()
    expect(await reprise.get(id)).toMatchObject({ state: 'ready', generation: 2 })
    expect(await store.verify()).toEqual([])
  })

  test('many at once, with bodies that spill: all or none', async () => {
    const { reprise, db, store } = await shop()
    const items = Array.from({ length: 50 }, (_, order) => [bill, { order, note: 'x'.repeat(order * 40) }] as const)
    const handles = db.transaction(() => reprise.submitMany(items, { tx: db }))()
    expect(new Set(handles.map(({ id }) => id)).size).toBe(50)
    expect(await runsIn(store)).toHaveLength(50)
    // An error in the middle leaves nothing of the call, even if the application goes on and commits.
    db.exec("CREATE TRIGGER refuse BEFORE INSERT ON reprise_body BEGIN SELECT raise(ABORT, 'no body'); END")
    db.transaction(() => {
      expect(() => reprise.submitMany(items, { tx: db })).toThrow('no body')
    })()
    expect(await runsIn(store)).toHaveLength(50)
    expect(await store.verify()).toEqual([])
  })

  test('two connections: the second waits its turn, and ids do not clash', async () => {
    const { reprise, db, store, file } = await shop()
    const other = new Database(file, { timeout: 0 })
    db.exec('BEGIN IMMEDIATE')
    reprise.submit(bill, { order: 1 }, { tx: db })
    other.exec('BEGIN')
    expect(() => reprise.submit(bill, { order: 2 }, { tx: other })).toThrow(/write lock/)
    other.exec('ROLLBACK')
    const waiting = store.create([newRun()])
    db.exec('COMMIT')
    await waiting
    other.transaction(() => reprise.submit(bill, { order: 2 }, { tx: other }))()
    expect((await runsIn(store)).map(({ id }) => id)).toEqual(['r3', 'r2', 'r1'])
    expect(await store.verify()).toEqual([])
  })

  test('a transaction that has read before another wrote is told to begin with BEGIN IMMEDIATE', async () => {
    const { reprise, db, store } = await shop()
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM reprise_run').get()
    await store.create([newRun()])
    expect(() => reprise.submit(bill, { order: 1 }, { tx: db })).toThrow(
      /BUSY_SNAPSHOT\); the transaction has read before it wrote, .* begin it with BEGIN IMMEDIATE/,
    )
    db.exec('ROLLBACK')
    expect(await runsIn(store)).toHaveLength(1)
  })

  test('the connection that was handed to the store is a transaction too, and its workers are woken', async () => {
    const db = new Database(freshFile())
    const reprise = createReprise({ store: sqlite({ database: db }) })
    await reprise.get('r1')
    const done: unknown[] = []
    reprise.handle(bill, (input) => void done.push(input))
    const worker = reprise.work({ pollMs: '1h' })
    await worker.idle()
    const run = db.transaction(() => reprise.submit(bill, { order: 7 }, { tx: db }))()
    expect(await run.result({ timeoutMs: '5s' })).toMatchObject({ ok: true })
    expect(done).toEqual([{ order: 7 }])
    await reprise.close()
    expect(db.open).toBe(true)
  })

  test('a worker of another store on the file finds it by data_version', async () => {
    const { file, db, reprise } = await shop()
    const elsewhere = createReprise({ store: sqlite({ file }) })
    elsewhere.handle(bill, () => undefined)
    const worker = elsewhere.work({ pollMs: '1h' })
    await worker.idle()
    const startedAt = systemClock.monotonic()
    const run = db.transaction(() => reprise.submit(bill, { order: 7 }, { tx: db }))()
    expect(await run.result({ timeoutMs: '5s' })).toMatchObject({ ok: true })
    expect(systemClock.monotonic() - startedAt).toBeLessThan(4_000)
    await elsewhere.close()
  })

  test('nothing is told before it is committed', async () => {
    const { reprise, db } = await shop()
    const told: string[] = []
    reprise.on('*', ({ name }) => void told.push(name))
    db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))()
    await turn()
    expect(told).toEqual([])
  })
})

describe('node:sqlite', () => {
  test('works in a process that asks nothing else of the store', async () => {
    const { file, store, db } = await shop()
    db.close()
    await store.close()
    const reprise = createReprise({ store: sqlite({ file }) })
    const sync = new DatabaseSync(file)
    sync.exec('BEGIN')
    sync.prepare('INSERT INTO orders(item) VALUES (?)').run('lamp')
    reprise.submit(bill, { order: 1 }, { tx: sync, key: 'k' })
    sync.exec('ROLLBACK')
    sync.exec('BEGIN')
    const run = reprise.submit(bill, { order: 2 }, { tx: sync, key: 'k' })
    expect(reprise.submit(bill, { order: 2 }, { tx: sync, key: 'k' })).toMatchObject({ id: run.id, created: false })
    sync.exec('COMMIT')
    await expect(reprise.get(run.id)).rejects.toMatchObject({ code: 'sqlite.libraries' })
    sync.close()
    await reprise.close()
    const later = sqlite({ file })
    expect(await runsIn(later)).toMatchObject([{ id: run.id, input: '{"order":2}' }])
    expect(await later.verify()).toEqual([])
    await later.close()
  })

  test('beside the store’s own connections it is refused', async () => {
    const { file, reprise } = await shop()
    const sync = new DatabaseSync(file)
    sync.exec('BEGIN')
    expect(() => reprise.submit(bill, { order: 1 }, { tx: sync })).toThrow(/Two SQLite libraries/)
    sync.exec('ROLLBACK')
  })
})

describe('refused, with what to do', () => {
  test('no transaction is open', async () => {
    const { reprise, db, store } = await shop()
    expect(() => reprise.submit(bill, { order: 1 }, { tx: db })).toThrow(/tx has no transaction open.*db\.transaction/)
    expect(await runsIn(store)).toEqual([])
  })

  test.each([[null], [{}], [{ prepare: () => 1, exec: () => 1 }], ['BEGIN']])('tx is %j', async (tx) => {
    const { reprise } = await shop()
    expect(() => reprise.submit(bill, { order: 1 }, { tx: tx as object })).toThrow(
      /tx is .*Allowed: a better-sqlite3 Database/,
    )
  })

  test('the tables are missing', () => {
    const file = freshFile()
    const db = new Database(file)
    const reprise = createReprise({ store: sqlite({ file }) })
    const submit = db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))
    expect(submit).toThrow(/has no tables of Reprise yet.*reprise migrate/)
  })

  test('made by a call of the store, they are there at once', async () => {
    const file = freshFile()
    const db = new Database(file)
    const reprise = createReprise({ store: sqlite({ file }) })
    const submit = db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))
    expect(submit).toThrow(/no tables/)
    await reprise.get('r1')
    expect(submit()).toMatchObject({ id: 'r1', created: true })
    await reprise.close()
  })

  test('the tables are of another version', async () => {
    const { reprise, db } = await shop()
    db.exec("UPDATE reprise_meta SET value = 99 WHERE name = 'schema'")
    const submit = db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))
    expect(submit).toThrow(/schema 99.*Update Reprise; nothing was written/)
  })

  test('the connection is to another file, or to memory', async () => {
    const { reprise } = await shop()
    const { db: stranger } = await shop()
    for (const db of [stranger, new Database(':memory:')])
      expect(db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))).toThrow(
        /tx is a connection to .* and the store is/,
      )
  })

  test('the store is not SQLite', () => {
    const db = new Database(':memory:')
    const reprise = createReprise({ store: memory() })
    const submit = db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))
    expect(submit).toThrow(/memory store cannot share a transaction/)
  })

  test('the input is wrong, or its schema answers later', async () => {
    const { reprise, db, store } = await shop()
    const schema = (validate: () => unknown) => ({ '~standard': { version: 1, vendor: 'v', validate } }) as never
    const strict = defineTask({
      name: 'strict',
      input: schema(() => ({ issues: [{ message: 'too small', path: ['n'] }] })),
    })
    const slow = defineTask({ name: 'slow', input: schema(() => Promise.resolve({ value: 1 })) })
    db.exec('BEGIN')
    expect(() => reprise.submit(strict, 1, { tx: db })).toThrow(/strict input is \/n: too small/)
    expect(() => reprise.submit(slow, 1, { tx: db })).toThrow(/schema that answers later/)
    expect(() => reprise.submit(bill, { order: 1 }, { tx: db, priority: 0.5 })).toThrow(/priority is 0\.5/)
    db.exec('COMMIT')
    expect(await runsIn(store)).toEqual([])
  })

  test('the store was closed', async () => {
    const { reprise, db } = await shop()
    await reprise.close()
    const submit = db.transaction(() => reprise.submit(bill, { order: 1 }, { tx: db }))
    expect(submit).toThrow(/was closed/)
  })
})
