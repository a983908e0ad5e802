import { describe, expect, test } from 'vitest'
import { seededDice } from '../../time/dice.ts'
import { claimRequest, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'

describe('the order over many lanes', () => {
  test.each([
    [1, 7],
    [3, 1],
    [3, 64],
    [12, 9],
    [40, 5],
    [40, 500],
    [200, 33],
  ])('%i lanes, %i at a time: exact', async (lanes, limit) => {
    const dice = seededDice(lanes * 1_000 + limit)
    const store = sqlite({ file: ':memory:' })
    // Uneven, so that some lanes are read again and some are never looked into.
    const runs = Array.from({ length: 800 }, () =>
      newRun({ category: `c${Math.floor(dice() ** 3 * lanes)}`, priority: Math.floor(dice() * 5) }),
    )
    await store.create(runs)
    const expected = runs
      .map(({ priority }, index) => ({ priority, id: index + 1 }))
      .sort((a, b) => a.priority - b.priority || a.id - b.id)
      .map(({ id }) => `r${id}`)
    const given: string[] = []
    for (;;) {
      const claim = await store.claim(claimRequest({ limit }))
      if (claim.runs.length === 0) break
      given.push(...claim.runs.map(({ id }) => id))
    }
    expect(given).toEqual(expected)
    await store.close()
  })

  test('more runs become due at once than one transaction promotes: still exact', async () => {
    let now = 1_000
    const clock = { now: () => now, monotonic: () => now, after: () => () => undefined, sleep: async () => undefined }
    const store = sqlite({ file: ':memory:', clock })
    await store.create(
      Array.from({ length: 2_500 }, (_, index) => newRun({ dueAt: 2_000 + (index % 9), priority: -index })),
    )
    now = 5_000
    const { runs } = await store.claim(claimRequest({ limit: 3 }))
    expect(runs.map(({ id }) => id)).toEqual(['r2500', 'r2499', 'r2498'])
    await store.close()
  })
})
