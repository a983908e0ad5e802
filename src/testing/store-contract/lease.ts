/**
 * Laws of leases: how they are extended, how they end by themselves, and who is blamed for it.
 */
import assert from 'node:assert/strict'
import { subject } from './law.ts'
import { LEASE_MS, newRun, type World } from './world.ts'

/** Submits runs and claims them together, as a busy worker does. */
async function holdTogether(world: World, count: number): Promise<{ ids: string[]; token: number }> {
  await world.store.create(Array.from({ length: count }, () => newRun()))
  const { runs, token } = await world.claim()
  assert.equal(runs.length, count)
  return { ids: runs.map(({ id }) => id), token }
}

const lapsesOf = async (world: World, run: string) => (await world.view(run)).ledgers.lapses

export const leaseLaws = subject('lease', {
  'renew extends leases that are still held': [
    'renew-does-nothing',
    async (world) => {
      const held = await world.hold()
      await world.clock.advance(LEASE_MS - 1)
      const renewal = await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS, leases: [held] })
      assert.deepEqual(renewal, { now: world.now, lost: [] })
      assert.equal((await world.view(held.run)).lease?.until, world.now + LEASE_MS)
      await world.clock.advance(LEASE_MS - 1)
      assert.deepEqual(await world.claimedIds({ worker: 'w2' }), [])
    },
  ],
  'renew names the runs that are no longer mine, and only those': [
    'renew-says-all-well',
    async (world) => {
      const [ended, kept, other] = [await world.hold(), await world.hold(), await world.hold()]
      await world.end(ended)
      const leases = [ended, kept, { run: other.run, token: kept.token }, { run: 'nobody', token: 1 }]
      const { lost } = await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS, leases })
      assert.deepEqual([...lost].sort(), [ended.run, other.run, 'nobody'].sort())
    },
  ],
  'nothing changes about a run that renew names as lost': [
    'renew-revives',
    async (world) => {
      const first = await world.hold()
      await world.outliveLeases()
      const second = await world.take(first.run, { worker: 'w2' })
      const before = await world.everythingOf(first.run)
      await world.clock.advance(1_000)
      await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS * 10, leases: [first] })
      assert.deepEqual(await world.everythingOf(first.run), before)
      await world.end(second)
      await world.store.renew({ worker: 'w2', leaseMs: LEASE_MS, leases: [second] })
      assert.equal((await world.view(first.run)).lease, undefined)
    },
  ],
  'an expired lease that nobody ended can be renewed': [
    'time-takes-renewals',
    async (world) => {
      const held = await world.hold()
      await world.clock.advance(LEASE_MS * 3)
      const { lost } = await world.store.renew({ worker: 'w1', leaseMs: LEASE_MS, leases: [held] })
      assert.deepEqual(lost, [])
      assert.deepEqual(await world.claimedIds({ worker: 'w2', alone: true }), [])
      assert.equal(await lapsesOf(world, held.run), 0)
    },
  ],
  'a lease ends at its time, and anyone may claim the run': [
    'lease-never-ends live-lease-ignored',
    async (world) => {
      const held = await world.hold()
      await world.clock.advance(LEASE_MS - 1)
      assert.deepEqual(await world.claimedIds({ worker: 'w2', alone: true }), [])
      await world.clock.advance(1)
      const next = await world.take(held.run, { worker: 'w2' })
      assert.ok(next.token > held.token)
    },
  ],
  'the lapse of a run that was claimed alone is counted, with a history row': [
    'lapse-not-counted lapse-without-history',
    async (world) => {
      const startedAt = world.now
      const held = await world.hold({}, { worker: 'w7' })
      await world.clock.advance(LEASE_MS + 5)
      await world.take(held.run, { worker: 'w2' })
      const { ledgers, suspect } = await world.view(held.run)
      assert.deepEqual([ledgers.lapses, suspect], [1, false])
      const [row, ...more] = await world.store.attempts(held.run)
      assert.ok(row && row.endedAt >= startedAt + LEASE_MS && row.endedAt <= world.now, 'it ended after its lease')
      const { endedAt: _found, ...rest } = row
      assert.deepEqual(rest, {
        generation: 1,
        attempt: 1,
        token: held.token,
        worker: 'w7',
        startedAt,
        outcome: 'lapsed',
      })
      assert.deepEqual(more, [])
    },
  ],
  'an expired lease is counted once, however often is claimed after it': [
    'lapse-counted-at-every-claim',
    async (world) => {
      const held = await world.hold()
      await world.outliveLeases()
      for (const worker of ['w2', 'w3', 'w4']) await world.claim({ worker, tasks: ['other'] })
      await world.take(held.run)
      await world.claim({ worker: 'w5' })
      assert.equal(await lapsesOf(world, held.run), 1)
      assert.equal((await world.store.attempts(held.run)).length, 1)
    },
  ],
  'runs that were claimed together become suspects, and nothing is counted': [
    'lapse-counted-for-neighbours',
    async (world) => {
      const { ids } = await holdTogether(world, 3)
      await world.outliveLeases()
      await world.claim()
      for (const id of ids) {
        const { suspect, ledgers } = await world.view(id)
        assert.deepEqual([suspect, ledgers.lapses, await world.store.attempts(id)], [true, 0, []])
      }
    },
  ],
  'suspects are given out only to a claim that is alone': [
    'suspects-to-the-busy',
    async (world) => {
      const { ids } = await holdTogether(world, 3)
      await world.outliveLeases()
      const fresh = await world.submit()
      assert.deepEqual(await world.claimedIds(), [fresh])
      assert.deepEqual(await world.claimedIds({ alone: true }), [ids[0]])
    },
  ],
  'to a claim that is alone one run is given at most': [
    'suspects-in-batches alone-unheeded',
    async (world) => {
      const { ids } = await holdTogether(world, 3)
      await world.outliveLeases()
      for (const id of ids) assert.deepEqual(await world.claimedIds({ alone: true, limit: 100 }), [id])
      await world.store.create([newRun(), newRun()])
      assert.equal((await world.claimedIds({ alone: true, limit: 100 })).length, 1)
    },
  ],
  'a claim tells that suspects wait, to workers that serve them': [
    'suspects-untold',
    async (world) => {
      await holdTogether(world, 2)
      assert.equal((await world.claim()).suspects, false)
      await world.outliveLeases()
      assert.equal((await world.claim()).suspects, true)
      assert.equal((await world.claim({ tasks: ['other'] })).suspects, false)
      assert.equal((await world.claim({ alone: true })).suspects, true)
      assert.equal((await world.claim({ alone: true })).suspects, false)
    },
  ],
  'a suspect that lapses alone is confirmed: its lapse counts for both times': [
    'suspect-counts-once',
    async (world) => {
      const { ids } = await holdTogether(world, 2)
      await world.outliveLeases()
      const [one] = ids
      assert.ok(one)
      await world.take(one)
      await world.outliveLeases()
      await world.claim()
      assert.equal(await lapsesOf(world, one), 2)
      assert.deepEqual(
        (await world.store.attempts(one)).map(({ outcome, attempt }) => [outcome, attempt]),
        [['lapsed', 2]],
      )
    },
  ],
  'a run that kills its worker every time has three lapses after three crashes, its neighbours none': [
    'confirmed-suspect-mixes lapse-counted-for-neighbours',
    async (world) => {
      const { ids } = await holdTogether(world, 5)
      const poison = ids[2]
      assert.ok(poison)
      // As workers do: what one can get in a batch; with nothing in hand, one suspect by itself; three lapses go to a person.
      const serveUntilCrash = async (): Promise<boolean> => {
        for (;;) {
          const batch = await world.claim()
          const { runs, token } = batch.runs.length > 0 || !batch.suspects ? batch : await world.claim({ alone: true })
          if (runs.length === 0) return false
          if (runs.some(({ id, ledgers }) => id === poison && ledgers.lapses < 3)) return true
          for (const { id: run } of runs)
            await world.end({ run, token }, run === poison ? { state: 'review', suspensions: 1 } : {})
        }
      }
      let crashes = 0
      do {
        crashes += 1
        assert.ok(crashes <= 10, 'the poison run is still given out')
        await world.outliveLeases()
      } while (await serveUntilCrash())
      assert.deepEqual([await lapsesOf(world, poison), crashes], [3, 3])
      for (const id of ids.filter((id) => id !== poison)) {
        const { state, ledgers } = await world.view(id)
        assert.deepEqual([state, ledgers.lapses], ['succeeded', 0])
      }
    },
  ],
  'a suspect whose attempt ends is none any more, and nothing is counted': [
    'suspicion-sticks',
    async (world) => {
      const { ids } = await holdTogether(world, 2)
      await world.outliveLeases()
      const [one] = ids
      assert.ok(one)
      await world.fail(await world.take(one), { dueAt: world.now })
      assert.deepEqual(await world.claimedIds(), [one])
      const { suspect, ledgers } = await world.view(one)
      assert.deepEqual([suspect, ledgers.lapses], [false, 0])
    },
  ],
  'a suspect that is given back unstarted is still one': [
    'unstarted-exonerates',
    async (world) => {
      const { ids } = await holdTogether(world, 2)
      await world.outliveLeases()
      const [one] = ids
      assert.ok(one)
      await world.end(await world.take(one), { state: 'ready', unstarted: true })
      assert.deepEqual(await world.claimedIds(), [])
      assert.equal((await world.view(one)).suspect, true)
    },
  ],
  'a run given back unstarted still tells its next owner how the lease before ended': [
    'unstarted-forgets-lapse',
    async (world) => {
      const { ids } = await holdTogether(world, 2)
      await world.outliveLeases()
      const [one] = ids
      assert.ok(one)
      await world.end(await world.take(one), { state: 'ready', unstarted: true })
      const { runs } = await world.claim({ alone: true })
      assert.ok(runs[0]?.lapsed)
    },
  ],
  'the next owner is told how the lease before ended': [
    'lapse-untold',
    async (world) => {
      const { ids } = await holdTogether(world, 2)
      await world.outliveLeases()
      await world.claim({ tasks: ['other'] })
      const [one] = ids
      const first = await world.claim({ alone: true, worker: 'w2' })
      assert.deepEqual(first.runs[0]?.lapsed, { worker: 'w1', counted: false })
      await world.outliveLeases()
      const second = await world.claim({ alone: true, worker: 'w3' })
      assert.deepEqual([second.runs[0]?.id, second.runs[0]?.lapsed], [one, { worker: 'w2', counted: true }])
      await world.end({ run: one ?? '', token: second.token }, { state: 'ready' })
      const third = await world.claim()
      assert.deepEqual([third.runs[0]?.id, third.runs[0]?.lapsed], [one, undefined])
    },
  ],
})
