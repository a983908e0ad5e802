import { describe, expect, test } from 'vitest'
import type { NewRun, NewStep, Store } from '../../src/ports/store.ts'
import { firestore } from '../../src/stores/firestore/index.ts'
import { systemClock } from '../../src/time/clock.ts'
import { countBill } from '../services/counted-firestore.ts'
import { faultyFirestore, type WriteFault } from '../services/faulty-firestore.ts'
import { type FirestoreEmulator, startFirestoreEmulator } from '../services/firestore-emulator.ts'
import { onEmulator } from '../services/on-emulator.fixtures.ts'

let emulator: FirestoreEmulator
let client: ReturnType<FirestoreEmulator['client']>
onEmulator(async () => {
  emulator = await startFirestoreEmulator()
  client = emulator.client()
  return emulator
})

const run = (given: Partial<NewRun> = {}): NewRun => ({ task: 't', input: '{"n":1}', priority: 0, ...given })
const step = (name: string, needs: string[] = []): NewStep => ({ ...run(), step: name, needs, onNeedFailed: 'fail' })
let nonces = 0
const claim = (store: Store, limit = 100, worker = 'w') => {
  nonces += 1
  return store.claim({ worker, nonce: `n${nonces}`, limit, leaseMs: 30_000, alone: false, tasks: ['t'] })
}
const end = (store: Store, id: string, token: number) =>
  store.commit({ type: 'end', run: id, token, state: 'succeeded', output: '{"ok":true}' })

describe('firestore, besides the laws', () => {
  test('sibling steps that end together all end: a conflict with a sibling is read again and tried again', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    const names = Array.from({ length: 12 }, (_, n) => `s${n}`)
    await store.createFlow({ name: 'f', steps: [...names.map((name) => step(name)), step('last', names)] })
    const { runs, token } = await claim(store)
    expect(runs).toHaveLength(12)
    const answers = await Promise.all(runs.map(({ id }) => end(store, id, token)))
    expect(answers.map(({ answer }) => answer)).toEqual(runs.map(() => 'ok'))
    expect(answers.flatMap(({ moved }) => moved ?? [])).toMatchObject([{ step: 'last', state: 'ready' }])
    expect(await store.verify()).toEqual([])
  })

  test('two processes never share a run, and leave none behind', async () => {
    const collection = emulator.collection()
    const stores = [firestore({ client, collection }), firestore({ client: emulator.client(), collection })] as const
    await stores[0].create(Array.from({ length: 24 }, () => run()))
    const claims = await Promise.all(stores.flatMap((store) => [claim(store, 4), claim(store, 4), claim(store, 4)]))
    const ids = claims.flatMap(({ runs }) => runs.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(24)
  })

  test.for([1, 2, 3, 4, 5, 6] as const)(
    'a write that was applied and reported as failed is known as mine: write %i',
    async (nth) => {
      const collection = emulator.collection()
      let writes = 0
      const faultOf = (): WriteFault => {
        writes += 1
        return writes === nth ? 'after' : undefined
      }
      // ABORTED is what a conflict looks like: the client may have sent the same write twice by itself.
      const store = firestore({ client: faultyFirestore(client, faultOf, 10), collection })
      const [made] = (await store.create([run({ key: 'k', fingerprint: 'p' })])).runs
      const { runs, token } = await claim(store)
      expect(runs).toMatchObject([{ id: (made as { id: string }).id, attempt: 1 }])
      const id = runs[0]?.id ?? ''
      const call = { run: id, token, generation: 1, name: 'call', inputHash: 'h' }
      expect((await store.commit({ type: 'intent', ...call, take: 1 })).answer).toBe('ok')
      expect((await store.commit({ type: 'answer', ...call, answer: '1', costUsd: 0.5 })).answer).toBe('ok')
      expect((await end(store, id, token)).answer).toBe('ok')
      const view = await store.get({ id })
      expect([view?.state, view?.attempt, view?.costUsd]).toEqual(['succeeded', 1, 0.5])
      expect((await store.find({ limit: 9 })).runs).toHaveLength(1)
      expect(await store.verify()).toEqual([])
    },
  )

  test('an outcome that nobody knows is told as such, and the nonce finds what was claimed', async () => {
    const collection = emulator.collection()
    let broken = false
    const store = firestore({ client: faultyFirestore(client, () => (broken ? 'after' : undefined), 14), collection })
    await store.create([run()])
    broken = true
    const request = { worker: 'w', nonce: 'mine', limit: 5, leaseMs: 30_000, alone: false, tasks: ['t'] }
    await expect(store.claim(request)).rejects.toMatchObject({ code: 'store.unknown' })
    broken = false
    expect((await store.claim(request)).runs).toHaveLength(1)
    expect((await claim(store)).runs).toHaveLength(0)
  })

  test('of a renewal and a claim that takes the lease away one comes second', async () => {
    const collection = emulator.collection()
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const owner = firestore({ client, collection, clock })
    await owner.create([run()])
    const { runs, token } = await claim(owner)
    const leases = [{ run: runs[0]?.id ?? '', token }]
    aheadMs = 60_000
    let renewed: readonly string[] | undefined
    const other = firestore({
      client: faultyFirestore(client, async () => {
        // The other has read that the lease is over, and its owner extends it before that is written.
        renewed ??= (await owner.renew({ worker: 'w', leaseMs: 30_000, leases })).lost
        return undefined
      }),
      collection,
      clock,
    })
    expect((await claim(other, 5, 'other')).runs).toEqual([])
    expect(renewed).toEqual([])
    const view = await owner.get({ id: leases[0]?.run ?? '' })
    expect([view?.lease?.worker, view?.suspect]).toEqual(['w', false])
  })

  test('beyond its look a claim goes by due time alone: a high priority behind many older runs waits', async () => {
    const store = firestore({ client, collection: emulator.collection(), lookAhead: 2 })
    await store.create([run(), run(), run(), run({ priority: -5 })])
    const first = await claim(store, 1)
    expect(first.runs).toHaveLength(1)
    expect((await store.get({ id: first.runs[0]?.id ?? '' }))?.priority).toBe(0)
    expect((await store.get({ id: (await claim(store, 1)).runs[0]?.id ?? '' }))?.priority).toBe(-5)
  })

  test('runs of a held resource in front cost the others their place in line, not their turn', async () => {
    const store = firestore({ client, collection: emulator.collection(), lookAhead: 2 })
    await store.create(Array.from({ length: 12 }, () => run({ resource: 'flash' })))
    await store.create([run({ resource: 'pro' })])
    await store.hold({ what: 'resource:flash', why: 'slow down', by: 'ann', probe: false })
    expect((await claim(store, 1)).runs).toMatchObject([{ resource: 'pro' }])
  })

  test('flows in which only other tasks can begin are not looked at: they cost nothing, and hide nobody', async () => {
    const own = emulator.client()
    const bill = countBill(own)
    const store = firestore({ client: own, collection: emulator.collection(), lookAhead: 2 })
    const steps = [{ ...step('first'), task: 'other' }, step('then', ['first'])]
    for (let flows = 0; flows < 40; flows += 1) await store.createFlow({ name: 'f', steps })
    const [made] = (await store.create([run()])).runs
    const before = bill.reads
    expect((await claim(store, 1)).runs).toMatchObject([{ id: (made as { id: string }).id }])
    expect(bill.reads - before).toBe(3)
  })

  test('what does not fit into a document is refused by name, and nothing is stored', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    await expect(store.create([run({ input: JSON.stringify('x'.repeat(3_000_000)) })])).rejects.toThrow(
      /^input: 3000002 characters; the Firestore store takes 2700000 at most/,
    )
    const steps = Array.from({ length: 400 }, (_, n) => ({
      ...step(`s${n}`),
      input: JSON.stringify('x'.repeat(4_000)),
    }))
    await expect(store.createFlow({ name: 'f', steps })).rejects.toThrow(/bytes; Firestore takes 1 MiB/)
    expect((await store.find({ limit: 5 })).runs).toEqual([])
  })

  test.for([
    ['step with a dot', 'a.b'],
    ['step with a backtick', 'a`b'],
    ['empty step', ''],
  ])('a %s is refused at the door', async ([, name]) => {
    const store = firestore({ client, collection: emulator.collection() })
    await expect(store.createFlow({ name: 'f', steps: [step(name ?? '')] })).rejects.toThrow(/^step: .*allowed are/)
  })

  test('a budget is never overdrawn: of 16 that reserve at once 10 are let in', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    await store.create(Array.from({ length: 16 }, () => run()))
    const { runs, token } = await claim(store)
    // Far longer than sixteen that wait for each other's locks may take here: none of them is past its time.
    const reserve = {
      ...{ budget: 'pro', zone: 'UTC', calls: 1 as const, usd: 0.01, lastsMs: 3_600_000 },
      ...{ limits: { day: { calls: 10 } }, onExhausted: 'person' as const, warnAt: [0.5] },
    }
    const answers = await Promise.all(
      runs.map(({ id }) =>
        store.commit({
          ...{ type: 'intent', run: id, token, generation: 1, name: 'c', inputHash: '', take: 1 },
          reserve: [reserve],
        }),
      ),
    )
    const let_in = answers.filter(({ answer }) => answer === 'ok')
    expect(let_in).toHaveLength(10)
    expect(answers.find(({ over }) => over)?.over).toMatchObject({
      budget: 'pro',
      window: 'day',
      limit: 10,
      reserved: 10,
    })
    expect(answers.flatMap(({ warned }) => warned ?? [])).toHaveLength(1)
    const [first, second] = runs.filter((_, index) => answers[index]?.answer === 'ok')
    const settle = (id: string, how: 'spend' | 'release') =>
      store.commit({
        ...{ type: 'answer', run: id, token, generation: 1, name: 'c', inputHash: '', take: 1 },
        ...(how === 'spend' ? { answer: '1', costUsd: 0.004 } : { failure: undefined as never }),
        settle: how,
      })
    await settle(first?.id ?? '', 'spend')
    await settle(first?.id ?? '', 'spend')
    await settle(second?.id ?? '', 'release')
    const [view] = (await store.budgets()).budgets
    const [day] = view?.windows ?? []
    expect(day?.use).toMatchObject({ calls: { spent: 1, reserved: 8, limit: 10 }, usd: { spent: 0.004 } })
    const kept = await client.collection('system_config').listDocuments()
    expect(kept.length).toBeGreaterThan(0)
  }, 120_000)

  test('a reservation past its time counts as spent for the next that asks', async () => {
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const store = firestore({ client, collection: emulator.collection(), clock })
    await store.create([run(), run()])
    const { runs, token } = await claim(store)
    const reserve = {
      ...{ budget: 'pro', zone: 'UTC', calls: 1 as const, usd: 0.01, lastsMs: 1_000 },
      ...{ limits: { day: { calls: 1 } }, onExhausted: 'person' as const, warnAt: [] },
    }
    const ask = (id = '') =>
      store.commit({
        ...{ type: 'intent', run: id, token, generation: 1, name: 'c', inputHash: '', take: 1 },
        reserve: [reserve],
      })
    expect((await ask(runs[0]?.id)).answer).toBe('ok')
    expect((await ask(runs[1]?.id)).over).toMatchObject({ used: 0, reserved: 1 })
    aheadMs = 1_001
    expect((await ask(runs[1]?.id)).over).toMatchObject({ used: 1, reserved: 0 })
  })

  test('a step that another worker ended lets go of those that need it', async () => {
    const collection = emulator.collection()
    const store = firestore({ client, collection })
    const { flow } = await store.createFlow({ name: 'f', steps: [step('a'), step('b', ['a'])] })
    const id = (flow as { id: string }).id.split('.')[0] ?? ''
    await client
      .collection(collection)
      .doc(id)
      .update({ 'steps.a.status': 'SUCCEEDED', 'steps.a.finishedAt': 1, 'steps.a.outputs': { gcs_uri: 'gs://b/o' } })
    const { runs, token } = await claim(store)
    expect(runs).toMatchObject([{ step: 'b', needs: true }])
    const [need] = (await store.links(runs[0]?.id ?? '')).needs
    expect(need).toMatchObject({ step: 'a', state: 'succeeded', output: '{"gcs_uri":"gs://b/o"}' })
    expect((await end(store, runs[0]?.id ?? '', token)).answer).toBe('ok')
  })

  test('what is begun again while retention looks at it stays, whole', async () => {
    const collection = emulator.collection()
    const store = firestore({ client, collection })
    const [made] = (await store.create([run({ key: 'k', fingerprint: 'p' })])).runs
    const { id } = made as { readonly id: string }
    const { token } = await claim(store)
    await store.commit({ type: 'end', run: id, token, state: 'failed' })
    let retried = false
    const looking = firestore({
      client: faultyFirestore(client, async () => {
        // It was judged old; before that is written, an operator begins it again.
        const act = {
          type: 'retry',
          by: 'ann',
          why: { code: 'run.again', params: { by: 'ann', generation: 2 } },
        } as const
        if (!retried) await store.steer({ ...act, run: id, expect: { generation: 1, states: ['failed'] } })
        retried = true
        return undefined
      }),
      collection,
    })
    const pruned = await looking.prune?.({ keepMs: { failed: 0 }, keysMs: 9e9, limit: 10 })
    expect([retried, pruned?.pruned]).toEqual([true, []])
    expect(await store.get({ task: 't', key: 'k' })).toMatchObject({ id, state: 'ready', generation: 2 })
    expect(await store.attempts(id)).toHaveLength(1)
    expect(await store.verify()).toEqual([])
  })

  test('without a clock of its own the time is Firestore’s', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    const { now } = await store.create([run()])
    const { runs, now: claimedAt } = await claim(store)
    expect(claimedAt).toBeGreaterThanOrEqual(now)
    expect(runs[0]?.leaseUntil).toBe(claimedAt + 30_000)
  })

  test('what a run costs, counted', async () => {
    const own = emulator.client()
    const bill = countBill(own)
    const store = firestore({ client: own, collection: emulator.collection() })
    const cost = async (verb: () => Promise<unknown>): Promise<string> => {
      const before = { ...bill }
      await verb()
      return `${bill.reads - before.reads} r ${bill.writes - before.writes} w`
    }
    await store.create([])
    const bills: Record<string, string> = {}
    bills['submit'] = await cost(() => store.create([run()]))
    bills['submit with a key'] = await cost(() => store.create([run({ key: 'k', fingerprint: 'p', task: 'other' })]))
    let claimed: Awaited<ReturnType<Store['claim']>> | undefined
    bills['claim of one run'] = await cost(async () => {
      claimed = await claim(store)
    })
    const held = { run: claimed?.runs[0]?.id ?? '', token: claimed?.token ?? 0 }
    bills['renewal'] = await cost(() => store.renew({ worker: 'w', leaseMs: 30_000, leases: [held] }))
    const call = { ...held, generation: 1, name: 'c', inputHash: '' }
    bills['intent'] = await cost(() => store.commit({ type: 'intent', ...call, take: 1 }))
    bills['answer'] = await cost(() => store.commit({ type: 'answer', ...call, answer: '1' }))
    bills['end'] = await cost(() => end(store, held.run, held.token))
    bills['idle claim'] = await cost(() => claim(store))
    expect(bills).toEqual({
      submit: '0 r 1 w',
      'submit with a key': '1 r 2 w',
      'claim of one run': '3 r 1 w',
      renewal: '2 r 1 w',
      intent: '2 r 2 w',
      answer: '2 r 2 w',
      end: '1 r 1 w',
      'idle claim': '2 r 0 w',
    })
  })
})
