import { expect, test } from 'vitest'
import { expectSound, openArena } from './arena.fixtures.ts'
import type { Job } from './job.ts'
import { PATIENCE_MS, until } from './until.ts'

const RUNS = 60
/** These are in the middle of a minute's work when their worker must go. */
const SLOW = 4

test('SIGTERM in the middle of work: exit 0, nothing lost, nothing counted, and others go on at once', {
  timeout: 120_000,
}, async () => {
  // A lease longer than the test may last: a run that was not given back would never be claimed again. Time to drain for all but the slow
  // ones, however busy the machine.
  const arena = openArena({ name: 'stop', leaseMs: 2 * PATIENCE_MS, drainMs: 3_000, concurrency: 6 })
  const { pool, submitter, store } = arena
  const first = await pool.startReady(2)
  const jobs = Array.from({ length: RUNS }, (_, n): Job => ({ n, answerMs: 5, workMs: 40, slowOnce: n < SLOW }))
  await submitter.submitAll(jobs)
  const slow = await Promise.all(jobs.slice(0, SLOW).map(({ n }) => store.get({ task: 'chaos', key: `job-${n}` })))
  const sent = () =>
    new Set(first.flatMap(({ said }) => said.flatMap((each) => (each.says === 'sent' ? each.run : []))))
  await until('the slow ones are under way', () => slow.every((run) => sent().has(run?.id ?? '')))
  const exits = await pool.stopAll()
  expect(exits.map(({ code, signal }) => [code, signal])).toEqual([
    [0, null],
    [0, null],
  ])

  const { runs } = await store.find({ limit: RUNS })
  expect(runs).toHaveLength(RUNS)
  expect(runs.filter(({ lease, ledgers }) => lease || ledgers.errors > 0 || ledgers.lapses > 0)).toEqual([])
  expect(runs.filter(({ ledgers }) => ledgers.interruptions > 0)).toHaveLength(SLOW)

  await pool.startReady(1)
  await arena.settled()
  const evidence = await expectSound(arena)
  // Whoever went on found the answers that were paid for.
  expect(evidence.sends).toHaveLength(RUNS)
  expect(evidence.runs.every(({ state }) => state === 'succeeded')).toBe(true)
})
