import { expect, test } from 'vitest'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { freshFile, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'

test('a pulse looks at a bounded number of runs: 2,000 of a lane, fewer of each when there are many lanes', async () => {
  const clock = virtualClock()
  const store = sqlite({ file: freshFile(), durability: 'process', clock })
  await store.create(Array.from({ length: 2_500 }, () => newRun()))
  await clock.advance(1_000)
  const stuck = async () => (await store.pulse({ stuckAfterMs: 500 })).tasks.map((told) => told.stuck)
  expect(await stuck()).toEqual([2_000])
  const lanes = 39
  await store.create(Array.from({ length: lanes * 10 }, (_, index) => newRun({ task: `u${index % lanes}` })))
  await clock.advance(1_000)
  expect(await stuck()).toEqual([500, ...Array(lanes).fill(10)])
  await store.close()
})
