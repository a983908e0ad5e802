import { describe, expect, test } from 'vitest'
import type { PruneRequest, Store } from '../../ports/store.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { claimRequest, freshFile, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'

const DAY_MS = 86_400_000

const request: PruneRequest = { keepMs: { succeeded: DAY_MS }, keysMs: 7 * DAY_MS, limit: 500 }

/** `ended` runs, then `waiting` ones, then `ended` again, all old, and a new one. */
async function oldFile(ended: number, waiting: number) {
  const clock = virtualClock()
  const store = sqlite({ file: freshFile(), clock, durability: 'process' })
  const end = async () => {
    await store.create(Array.from({ length: ended }, () => newRun()))
    const { runs, token } = await store.claim(claimRequest({ limit: ended }))
    await Promise.all(runs.map(({ id: run }) => store.commit({ type: 'end', run, token, state: 'succeeded' })))
  }
  await end()
  await store.create(Array.from({ length: waiting }, () => newRun({ task: 'u', dueAt: clock.now() + 900 * DAY_MS })))
  await end()
  await clock.advance(2 * DAY_MS)
  await store.create([newRun()])
  return { clock, store }
}

const prune = (store: Store, change: Partial<PruneRequest> = {}) => {
  if (!store.prune) throw new Error('it prunes')
  return store.prune({ ...request, ...change })
}

describe('prune', () => {
  test('looks at a bounded number of rows in each call, and goes on behind those that stay', async () => {
    const { store } = await oldFile(3, 5_000)
    const answers = [await prune(store), await prune(store), await prune(store)]
    expect(answers.map(({ pruned, more }) => [pruned.length, more])).toEqual([
      [3, true],
      [0, true],
      [3, false],
    ])
    expect(await prune(store)).toMatchObject({ pruned: [], more: true })
    await store.close()
  })

  test('another request begins at the oldest row, wherever the last one stopped', async () => {
    const { store } = await oldFile(3, 3_000)
    expect(await prune(store, { keepMs: { succeeded: 2 * DAY_MS, failed: 0 }, limit: 1 })).toMatchObject({
      pruned: ['r1'],
    })
    expect(await prune(store)).toMatchObject({ pruned: ['r2', 'r3'], more: true })
    expect(await prune(store, { limit: 400 })).toMatchObject({ pruned: [], more: true })
    expect(await prune(store, { limit: 400 })).toMatchObject({ pruned: ['r3004', 'r3005', 'r3006'], more: false })
    await store.close()
  })

  test('a pass that is interrupted by the end of the process begins again', async () => {
    const clock = virtualClock()
    const file = freshFile()
    const first = sqlite({ file, clock, durability: 'process' })
    await first.create(Array.from({ length: 10 }, () => newRun()))
    const { runs, token } = await first.claim(claimRequest({ limit: 9 }))
    await Promise.all(runs.map(({ id: run }) => first.commit({ type: 'end', run, token, state: 'succeeded' })))
    await clock.advance(2 * DAY_MS)
    expect((await prune(first, { limit: 4 })).pruned).toHaveLength(4)
    await first.close()
    const second = sqlite({ file, clock, durability: 'process' })
    expect((await prune(second)).pruned).toEqual(['r5', 'r6', 'r7', 'r8', 'r9'])
    expect(await second.verify()).toEqual([])
    await second.close()
  })

  test.each([[{ limit: 0 }], [{ keysMs: -1 }], [{ keepMs: { failed: Number.NaN } }], [{ keepMax: -1 }]])(
    '%j is refused',
    async (change) => {
      const { store } = await oldFile(1, 1)
      await expect(prune(store, change)).rejects.toThrow(/too small; limit is 1 or more/)
      await store.close()
    },
  )
})
