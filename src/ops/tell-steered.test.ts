import { expect, test } from 'vitest'
import { flow } from '../engine/flow.ts'
import { never } from '../engine/throwables.ts'
import type { RepriseEvent } from '../run/event.ts'
import { bench } from './bench.fixtures.ts'
import { cancelRuns, retryRuns } from './steer-runs.ts'

const told = (events: RepriseEvent[]) =>
  events.splice(0).map((event) => [event.name, 'run' in event && event.run, 'generation' in event && event.generation])

test('an operator’s act is told of its run and of all that went along, each once', async () => {
  const { reprise, store, work } = bench()
  const bad = reprise.task('bad', {}, () => {
    throw never('no')
  })
  const good = reprise.task('good', {}, () => 1)
  await reprise.submitFlow(
    flow('f', {
      first: [bad, 1],
      second: [good, 1, { needs: ['first'] }],
      third: [good, 1, { needs: ['second'], onNeedFailed: 'skip' }],
    }),
  )
  await work()
  const events: RepriseEvent[] = []
  const options = { by: 'ann', emit: (event: RepriseEvent) => events.push(event) }
  const { moved } = await retryRuns(store, { ids: ['r1'] }, options)
  expect(moved.map(({ run, state }) => [run, state])).toEqual([
    ['r2', 'blocked'],
    ['r3', 'blocked'],
  ])
  expect(told(events)).toEqual([
    ['run.generation', 'r1', 2],
    ['run.generation', 'r2', 2],
    ['run.generation', 'r3', 2],
  ])
  await cancelRuns(store, { ids: ['r1', 'r99'] }, options)
  expect(told(events)).toEqual([
    ['run.cancelled', 'r1', 2],
    ['run.failed', 'r2', 2],
    ['run.skipped', 'r3', 2],
  ])
  await cancelRuns(store, { ids: ['r1'] }, options)
  await retryRuns(store, { ids: ['r1'] }, { ...options, dryRun: true })
  expect(events).toEqual([])
})
