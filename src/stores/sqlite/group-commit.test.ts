import { describe, expect, test } from 'vitest'
import { claimRequest, connect, freshFile, newRun, withCommit } from './file.fixtures.ts'
import { sqlite } from './index.ts'

/** A store, and how often it has committed. */
function counted() {
  const state = { commits: 0 }
  const database = withCommit(freshFile(), (real, count) => {
    real()
    state.commits = count
  })
  return { state, store: sqlite({ database, durability: 'process' }) }
}

describe('group commit', () => {
  test('all that is asked in one turn is one transaction, and everyone has an answer of their own', async () => {
    const { state, store } = counted()
    await store.create([newRun()])
    const before = state.commits
    const created = await Promise.all(
      Array.from({ length: 100 }, (_, index) => store.create([newRun({ input: String(index) })])),
    )
    expect(state.commits - before).toBe(1)
    expect(new Set(created.map(({ runs: [run] }) => (run as { id: string }).id)).size).toBe(100)
    await store.close()
  })

  test('ends and the next claim share their transaction, in the order of the calls', async () => {
    const { state, store } = counted()
    await store.create(Array.from({ length: 6 }, () => newRun()))
    const { runs, token } = await store.claim(claimRequest({ limit: 3 }))
    const before = state.commits
    const [first, ...rest] = runs.map(({ id }) =>
      store.commit({ type: 'end', run: id, token, state: 'ready', unstarted: true }),
    )
    const next = store.claim(claimRequest({ limit: 3 }))
    expect(await Promise.all([first, ...rest])).toMatchObject([{ answer: 'ok' }, { answer: 'ok' }, { answer: 'ok' }])
    expect((await next).runs.map(({ id }) => id)).toEqual(['r1', 'r2', 'r3'])
    expect(state.commits - before).toBe(1)
    await store.close()
  })

  test('who claims when hinted shares the transaction of the submit, and hears of it after the submit', async () => {
    const { state, store } = counted()
    await store.create([newRun({ task: 'other' })])
    const told: string[] = []
    let claimed: Promise<unknown> | undefined
    const unwatch = store.watch(() => {
      claimed ??= store.claim(claimRequest()).then(({ runs }) => told.push(`claimed ${runs.map(({ id }) => id)}`))
    })
    const before = state.commits
    // As many awaits between as a careful caller may have.
    await store.create([newRun()]).then(async ({ runs: [run] }) => {
      for (let tick = 0; tick < 20; tick += 1) await undefined
      told.push(`created ${(run as { id: string }).id}`)
    })
    await claimed
    expect(told).toEqual(['created r2', 'claimed r2'])
    expect(state.commits - before).toBe(1)
    unwatch()
    await store.close()
  })

  test('who looks after a hint sees what was written', async () => {
    const { store } = counted()
    await store.create([newRun({ task: 'other' })])
    const seen = new Promise((resolve) => {
      const unwatch = store.watch(() => {
        unwatch()
        queueMicrotask(() => resolve(store.get({ id: 'r2' })))
      })
    })
    await store.create([newRun()])
    expect(await seen).toMatchObject({ id: 'r2', state: 'ready' })
    await store.close()
  })

  test('when another process holds the file, the hint comes again once the write is done', async () => {
    const file = freshFile()
    const store = sqlite({ file, watchMs: 0, durability: 'process' })
    await store.create([newRun({ task: 'other' })])
    const other = connect(file)
    other.exec('BEGIN IMMEDIATE')
    const seen: boolean[] = []
    const looks = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    store.watch(async () => {
      const run = await store.get({ id: 'r2' })
      looks[seen.push(run !== undefined) - 1]?.resolve()
    })
    const created = store.create([newRun()])
    await looks[0]?.promise
    other.exec('COMMIT')
    other.close()
    await created
    await looks[1]?.promise
    expect(seen).toEqual([false, true])
    await store.close()
  })

  test('a bad item is refused alone', async () => {
    const { state, store } = counted()
    await store.create([newRun()])
    const before = state.commits
    const unbindable = newRun({ maxCostUsd: 1n as unknown as number })
    const asked = await Promise.allSettled([
      store.create([newRun({ task: 'new lane' })]),
      store.create([newRun({ task: 'its lane' }), unbindable]),
      store.create([newRun({ task: 'its lane' }), newRun({ task: 'new lane' })]),
      store.note({ by: 'op', what: 'seen' }),
    ])
    expect(asked.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect((asked[1] as PromiseRejectedResult).reason).toBeInstanceOf(TypeError)
    expect(state.commits - before).toBe(1)
    expect(await store.count({})).toEqual([
      { task: 'its lane', state: 'ready', runs: 1 },
      { task: 'new lane', state: 'ready', runs: 2 },
      { task: 't', state: 'ready', runs: 1 },
    ])
    expect(await store.verify()).toEqual([])
    await store.close()
  })

  test('one stale end among many changes nothing for the others, and is noted', async () => {
    const { store } = counted()
    await store.create(Array.from({ length: 50 }, () => newRun()))
    const { runs, token } = await store.claim(claimRequest({ limit: 50 }))
    const why = { code: 'run.cancelled', params: { by: 'op' } } as const
    await store.steer({ run: 'r7', type: 'cancel', by: 'op', why, expect: { generation: 1, states: ['ready'] } })
    const twice = [...runs, ...runs.slice(0, 1)]
    const answers = await Promise.all(
      twice.map(({ id }) => store.commit({ type: 'end', run: id, token, state: 'succeeded' })),
    )
    const lost = answers.flatMap(({ answer }, index) => (answer === 'lost' ? twice[index]?.id : []))
    expect(lost).toEqual(['r7', 'r1'])
    expect(await store.count({})).toEqual([
      { task: 't', state: 'succeeded', runs: 49 },
      { task: 't', state: 'cancelled', runs: 1 },
    ])
    expect((await store.notes({})).filter(({ what }) => what === 'write.stale').map(({ run }) => run)).toEqual([
      'r7',
      'r1',
    ])
    await store.close()
  })

  test('a very long queue is several transactions, and others run between', async () => {
    const { state, store } = counted()
    await store.create([newRun()])
    const before = state.commits
    let turns = 0
    const count = () => {
      turns += 1
      if (state.commits - before < 3) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(Array.from({ length: 5_000 }, () => store.note({ by: 'op', what: 'much' })))
    expect(state.commits - before).toBe(3)
    expect(turns).toBeGreaterThanOrEqual(3)
    await store.close()
  })

  test('closing waits for what was asked before', async () => {
    const { store } = counted()
    const created = store.create([newRun()])
    await store.close()
    expect((await created).runs).toHaveLength(1)
  })
})
