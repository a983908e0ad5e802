import { expect, test } from 'vitest'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { type ExportedRun, exportRuns } from './export-runs.ts'
import { parseFilter } from './filter.ts'
import { purgeRuns } from './purge-runs.ts'

const WEEK_MS = 7 * 86_400_000
const STATES = ['succeeded', 'failed', 'cancelled'] as const

test('a step goes only with all of its flow, also when an export holds it', async () => {
  const clock = virtualClock()
  const store = memory({ clock })
  const step = { task: 't', input: '1', priority: 0, needs: [], onNeedFailed: 'fail' } as const
  const steps = ['a', 'b'].map((name) => ({ ...step, step: name }))
  await store.createFlow({ name: 'f', steps })
  const { runs, token } = await store.claim({
    ...{ worker: 'w', nonce: 'n', limit: 9, leaseMs: 1_000, alone: false, tasks: ['t'] },
  })
  for (const { id } of runs) await store.commit({ type: 'end', run: id, token, state: 'succeeded' })
  // The newest run of a store stays.
  await store.create([{ task: 'u', input: '1', priority: 0 }])
  await clock.advance(WEEK_MS)

  const asked = { olderThanMs: 0, states: STATES, keysMs: WEEK_MS, by: 'ann', dryRun: false }
  const filter = parseFilter([], { now: clock.now(), zone: 'UTC' })
  const all: ExportedRun[] = []
  for await (const record of exportRuns(store, filter)) all.push(record)
  const exported = async function* (ids: readonly string[]) {
    yield* all.filter(({ run }) => ids.includes(run.id))
  }
  const ids = runs.map(({ id }) => id)
  expect(await purgeRuns(store, { ...asked, exported: exported(ids.slice(0, 1)) })).toMatchObject({
    matched: [{ task: 't', state: 'succeeded', runs: 1 }],
    stays: { tied: 1 },
    done: 0,
  })
  expect(await purgeRuns(store, { ...asked, exported: exported(ids) })).toMatchObject({ stays: {}, done: 2 })
  expect((await store.notes({})).map(({ data }) => [data?.['exported'], data?.['done']])).toEqual([
    [true, 0],
    [true, 2],
  ])
})

test('a run that is begun again between the look and the deletion stays', async () => {
  const clock = virtualClock()
  const store = memory({ clock })
  const created = await store.create([1, 2].map(() => ({ task: 't', input: '1', priority: 0 })))
  const run = (created.runs[0] as { id: string }).id
  const { token } = await store.claim({
    ...{ worker: 'w', nonce: 'n', limit: 1, leaseMs: 1_000, alone: false, tasks: ['t'] },
  })
  await store.commit({ type: 'end', run, token, state: 'failed' })
  await clock.advance(1_000)
  const filter = parseFilter(['state:failed'], { now: clock.now(), zone: 'UTC' })
  const why = { code: 'run.again', params: { by: 'bob', generation: 2 } } as const
  const again = {
    ...store,
    prune: async (request: Parameters<NonNullable<typeof store.prune>>[0]) => {
      await store.steer({ run, type: 'retry', by: 'bob', why, expect: { generation: 1, states: ['failed'] } })
      await store.steer({
        ...{ run, type: 'cancel', by: 'bob', why: { code: 'run.cancelled', params: { by: 'bob' } } },
        expect: { generation: 2, states: ['ready'] },
      })
      return store.prune?.(request) ?? { now: 0, pruned: [], keys: 0, more: false }
    },
  }
  const asked = { olderThanMs: 0, states: STATES, keysMs: WEEK_MS, by: 'ann', dryRun: false }
  expect(await purgeRuns(again, { ...asked, exported: exportRuns(store, filter) })).toMatchObject({ done: 0 })
  expect(await store.get({ id: run })).toMatchObject({ state: 'cancelled', generation: 2 })
})
