import { expect, test } from 'vitest'
import { expectSound, openArena } from './arena.fixtures.ts'
import { Feeder } from './feeder.ts'
import { smallDisk } from './small-disk.ts'
import { until } from './until.ts'

/** So that the worker is in the middle of something. */
const BACKLOG = 200

/** Longer than the disk is full: whatever lapses then, lapses by our own fault. */
const LEASE_MS = 30_000

/** After the repair the worker asks again within its longest pause, 5 s; the rest is for the work and for a busy machine. */
const RECOVERY_MAX_MS = 30_000

test('a full disk: no acknowledgement, no half transition, and work goes on unaided once there is room', {
  timeout: 120_000,
}, async () => {
  const disk = smallDisk()
  const arena = openArena({ name: `disk full (${disk.kind})`, leaseMs: LEASE_MS, ...disk.setup })
  const [worker] = await arena.pool.startReady(1)
  if (!worker) throw new Error('no worker')
  const feeder = new Feeder(arena)
  await feeder.feed(BACKLOG)
  await worker.hears('sent')

  disk.fill(worker)
  const refused = () => arena.submitter.log.filter(({ phase }) => phase === 'unknown')
  // Pages of the log that are free again are written first, so it takes a few until one is refused.
  await until('the store refuses', async () => {
    if (disk.kind === 'tmpfs' ? refused().length > 0 : worker.said.some(isTrouble)) return true
    // The client's own disk is full too, or else it could go on for ever.
    if (disk.kind === 'tmpfs' || (await arena.unfinished()) < BACKLOG) await feeder.feed(BACKLOG / 5)
    return false
  })
  await worker.hearsEvent('store.trouble')
  expect(await arena.store.verify()).toEqual([])
  const held = await arena.store.count({})
  const runs = held.reduce((sum, each) => sum + each.runs, 0)
  expect(runs).toBeGreaterThanOrEqual(arena.submitter.acknowledged)

  disk.free(worker)
  const freedAt = performance.now()
  // What was not acknowledged is asked again under its key, and is there once.
  await until('the store accepts again', async () => {
    const before = refused().length
    await feeder.again([...new Set(refused().map(({ n }) => n))])
    return refused().length === before
  })
  await arena.settled()
  const settledMs = Math.round(performance.now() - freedAt)
  const evidence = await expectSound(arena)
  console.log(`disk full: ${JSON.stringify({ runs: evidence.runs.length, refused: refused().length, settledMs })}`)
  expect(evidence.runs).toHaveLength(feeder.submitted)
  expect(evidence.runs.every(({ state, ledgers }) => state === 'succeeded' && ledgers.lapses === 0)).toBe(true)
  expect(settledMs).toBeLessThan(RECOVERY_MAX_MS)
})

const isTrouble = (said: { readonly says: string; readonly event?: { readonly name: string } }): boolean =>
  said.says === 'event' && said.event?.name === 'store.trouble'
