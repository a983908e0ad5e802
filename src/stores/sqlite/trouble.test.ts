import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { Clock } from '../../time/clock.ts'
import type { Connection } from './connection.ts'
import { claimRequest, connect, freshFile, newRun, withCommit } from './file.fixtures.ts'
import { sqlite } from './index.ts'

/** Time that passes only by sleeping, and what happens at the n-th sleep. */
function sleeper(atSleep: (count: number) => void = () => undefined): { readonly clock: Clock; sleeps: number } {
  let now = 1_000
  const state = {
    sleeps: 0,
    clock: {
      now: () => now,
      monotonic: () => now,
      after: () => () => undefined,
      sleep: async (ms: number) => {
        state.sleeps += 1
        now += ms
        atSleep(state.sleeps)
      },
    },
  }
  return state
}

async function ready(file: string): Promise<void> {
  const store = sqlite({ file })
  await store.create([newRun()])
  await store.close()
}

describe('a lock that another connection holds', () => {
  test('is waited for without blocking, and all that was asked meanwhile is one transaction', async () => {
    const file = freshFile()
    await ready(file)
    const other = connect(file)
    const time = sleeper((count) => count === 40 && other.exec('ROLLBACK'))
    const store = sqlite({ file, clock: time.clock })
    await store.get({ id: 'r1' })
    other.exec('BEGIN IMMEDIATE')
    const [created, claim] = await Promise.all([store.create([newRun()]), store.claim(claimRequest())])
    expect(time.sleeps).toBe(40)
    expect(created.runs).toEqual([{ id: 'r2', created: true, generation: 1 }])
    expect(claim.runs.map(({ id }) => id)).toEqual(['r1', 'r2'])
    await store.close()
  })

  test('is waited for no longer than the bound', async () => {
    const file = freshFile()
    await ready(file)
    const other = connect(file)
    other.exec('BEGIN IMMEDIATE')
    const time = sleeper()
    const store = sqlite({ file, clock: time.clock, busyMs: 1_000 })
    await expect(store.create([newRun()])).rejects.toMatchObject({
      code: 'store.unavailable',
      message: expect.stringMatching(/another connection holds its write lock/),
    })
    expect(time.clock.now()).toBeGreaterThanOrEqual(2_000)
    expect(time.clock.now()).toBeLessThan(2_010)
    // Readers need no lock.
    expect(await store.get({ id: 'r1' })).toMatchObject({ state: 'ready' })
    other.exec('ROLLBACK')
    expect((await store.create([newRun()])).runs).toHaveLength(1)
    await store.close()
  })

  test("an application's transaction on a database that was handed in is a lock like any other", async () => {
    const database = connect(freshFile())
    const time = sleeper((count) => count === 3 && database.exec('COMMIT'))
    const store = sqlite({ database, clock: time.clock })
    await store.create([newRun()])
    database.exec('BEGIN; CREATE TABLE mine(a)')
    await store.create([newRun()])
    expect(time.sleeps).toBe(3)
    expect(database.prepare('SELECT count(*) AS runs FROM reprise_run, (SELECT count(*) FROM mine)').get()).toEqual({
      runs: 2,
    })
    await store.close()
  })

  test('a storm of foreign writers never holds up the event loop', async () => {
    const file = freshFile()
    await ready(file)
    const store = sqlite({ file })
    await store.get({ id: 'r1' })
    const other = connect(file)
    let longest = 0
    let last = performance.now()
    const probe = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 1)
    for (let round = 0; round < 20; round += 1) {
      other.exec('BEGIN IMMEDIATE')
      const created = store.create([newRun()])
      await new Promise((resolve) => setTimeout(resolve, 10))
      other.exec('COMMIT')
      await created
    }
    clearInterval(probe)
    expect(longest).toBeLessThan(200)
    expect(await store.count({})).toEqual([{ task: 't', state: 'ready', runs: 21 }])
    await store.close()
  })
})

describe('a file that cannot be used', () => {
  test('a folder that does not exist: unavailable, and well again unaided once it is there', async () => {
    const file = join(dirname(freshFile()), 'later', 'store.db')
    const store = sqlite({ file })
    await expect(store.create([newRun()])).rejects.toMatchObject({ code: 'store.unavailable' })
    await expect(store.get({ id: 'r1' })).rejects.toMatchObject({ code: 'store.unavailable' })
    mkdirSync(dirname(file))
    expect((await store.create([newRun()])).runs).toHaveLength(1)
    await store.close()
  })

  test('something that is no database: unavailable, and untouched', async () => {
    const file = freshFile()
    writeFileSync(
      file,
      'a letter to my aunt, longer than the header of a database file, which has one hundred bytes of its own',
    )
    const store = sqlite({ file })
    await expect(store.create([newRun()])).rejects.toMatchObject({
      code: 'store.unavailable',
      message: expect.stringMatching(/is no SQLite database/),
    })
    await store.close()
  })

  test('a file that cannot be written: reads go on, writes are unavailable', async () => {
    const file = freshFile()
    await ready(file)
    const database = new Database(file, { readonly: true }) as Connection
    const store = sqlite({ database })
    await expect(store.create([newRun()])).rejects.toMatchObject({ code: 'store.unavailable' })
    await expect(store.claim(claimRequest())).rejects.toMatchObject({
      message: expect.stringMatching(/cannot be written; check its permissions/),
    })
    expect(await store.get({ id: 'r1' })).toMatchObject({ id: 'r1' })
    await store.close()
  })

  test('a full disk: no acknowledgement, no half transition, and well again unaided', async () => {
    const database = connect(freshFile())
    const store = sqlite({ database })
    await store.create([newRun()])
    const { token } = await store.claim(claimRequest())
    const before = await store.get({ id: 'r1' })
    database.pragma(`max_page_count = ${database.pragma('page_count', { simple: true })}`)
    const large = JSON.stringify('x'.repeat(200_000))
    const asked = [
      store.commit({ type: 'end', run: 'r1', token, state: 'succeeded', output: large }),
      store.create([newRun(), newRun({ input: large })]),
    ]
    for (const refused of await Promise.allSettled(asked)) {
      expect(refused).toMatchObject({
        status: 'rejected',
        reason: { code: 'store.unavailable', message: expect.stringMatching(/full/) },
      })
    }
    expect(await store.get({ id: 'r1' })).toEqual(before)
    expect(await store.count({})).toEqual([{ task: 't', state: 'running', runs: 1 }])
    database.pragma('max_page_count = 1000000')
    expect(await store.commit({ type: 'end', run: 'r1', token, state: 'succeeded', output: large })).toMatchObject({
      answer: 'ok',
    })
    expect(await store.verify()).toEqual([])
    await store.close()
  })
})

describe('COMMIT that fails', () => {
  const fail = (): never => {
    throw Object.assign(new Error('disk I/O error'), { code: 'SQLITE_FULL' })
  }

  test('everyone in it is told that the outcome is unknown; what was not written can be asked again', async () => {
    const store = sqlite({ database: withCommit(freshFile(), (real, count) => (count === 2 ? fail() : real())) })
    await store.create([newRun()])
    const asked = await Promise.allSettled([store.create([newRun()]), store.claim(claimRequest({ nonce: 'lost' }))])
    for (const one of asked) expect(one).toMatchObject({ status: 'rejected', reason: { code: 'store.unknown' } })
    expect(await store.count({})).toEqual([{ task: 't', state: 'ready', runs: 1 }])
    expect((await store.claim(claimRequest({ nonce: 'lost' }))).runs.map(({ id }) => id)).toEqual(['r1'])
    await store.close()
  })

  test('written all the same: the nonce finds the lease, endedBy tells of the end', async () => {
    const database = withCommit(freshFile(), (real, count) => {
      real()
      if (count === 2 || count === 3) fail()
    })
    const store = sqlite({ database })
    await store.create([newRun()])
    const request = claimRequest()
    await expect(store.claim(request)).rejects.toMatchObject({ code: 'store.unknown' })
    const { store: again, token } = { store, token: 1 }
    await expect(again.commit({ type: 'end', run: 'r1', token, state: 'succeeded' })).rejects.toMatchObject({
      code: 'store.unknown',
    })
    expect(await store.get({ id: 'r1' })).toMatchObject({ state: 'succeeded', endedBy: 1 })
    expect(await store.claim(request)).toMatchObject({ token: 1, runs: [] })
    await store.close()
  })
})
