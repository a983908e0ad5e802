import { describe, expect, test } from 'vitest'
import { BUSY_TIMEOUT_MS, type Connection, openWriter } from './connection.ts'
import { connect, freshFile, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'

/** A connection to a library that was built with another SQLite. */
const withVersion = (version: string): Connection => ({
  ...{
    name: 'old.db',
    memory: false,
    inTransaction: false,
    exec: () => undefined,
    pragma: () => undefined,
    close: () => undefined,
  },
  prepare: () => ({ run: () => ({ changes: 0, lastInsertRowid: 0 }), get: () => ({ version }), all: () => [] }),
})

describe('connection', () => {
  test.each(['3.51.2', '3.50.4', '3.7.0', '2.99.99'])('SQLite %s is refused, with what to do', async (version) => {
    await expect(sqlite({ database: withVersion(version) }).create([newRun()])).rejects.toMatchObject({
      code: 'sqlite.version',
      message: expect.stringMatching(new RegExp(`SQLite ${version}.*at least 3\\.51\\.3.*npm install better-sqlite3`)),
    })
  })

  test('a missing package is named, with the command that installs it', () => {
    const load = () => {
      throw new Error("Cannot find module 'better-sqlite3'")
    }
    expect(() => openWriter(freshFile(), load)).toThrow(/npm install better-sqlite3/)
  })

  test.each([
    ['power', 2],
    ['process', 1],
  ] as const)('durability %s is said outright, in WAL mode and with pages of 8 KB', async (durability, synchronous) => {
    const database = connect(freshFile())
    const store = sqlite({ database, durability })
    await store.create([newRun()])
    const settings = ['journal_mode', 'synchronous', 'page_size', 'busy_timeout'].map((name) =>
      database.pragma(name, { simple: true }),
    )
    expect(settings).toEqual(['wal', synchronous, 8_192, BUSY_TIMEOUT_MS])
    expect(BUSY_TIMEOUT_MS).toBeLessThanOrEqual(5)
    await store.close()
  })

  test('a database that was handed in stays open', async () => {
    const database = connect(freshFile())
    const store = sqlite({ database })
    await store.create([newRun()])
    await store.close()
    await store.close()
    expect(database.prepare('SELECT count(*) AS runs FROM reprise_run').get()).toEqual({ runs: 1 })
    await expect(store.create([newRun()])).rejects.toMatchObject({ code: 'store.unavailable' })
    await expect(store.get({ id: 'r1' })).rejects.toMatchObject({ code: 'store.unavailable' })
  })

  test.each([
    [{ file: '' }, /file: ""/],
    [{ database: 5 as never }, /database: number; allowed is an open better-sqlite3 database/],
    [{ database: undefined as never }, /database: undefined/],
    [{ file: 'a.db', durability: 'none' as 'power' }, /durability: "none".*"power" and "process"/],
    [{ file: 'a.db', busyMs: -1 }, /busyMs: -1/],
    [{ file: 'a.db', watchMs: Number.NaN }, /watchMs: NaN/],
  ])('%j is refused by name', (options, message) => {
    expect(() => sqlite(options)).toThrow(message)
  })
})
