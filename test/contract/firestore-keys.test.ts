import { describe, expect, test } from 'vitest'
import type { NewRun, Store } from '../../src/ports/store.ts'
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

const of = (key: string, max = 1, given: Partial<NewRun> = {}): NewRun => ({
  ...{ task: 't', input: '{}', priority: 0, concurrency: { key, max } },
  ...given,
})
let nonces = 0
const claim = (store: Store, limit = 100, worker = 'w') => {
  nonces += 1
  return store.claim({ worker, nonce: `n${nonces}`, limit, leaseMs: 30_000, alone: false, tasks: ['t'] })
}
const end = (store: Store, run: string, token: number) =>
  store.commit({ type: 'end', run, token, state: 'succeeded', output: '1' })
const linesOf = async (collection: string) =>
  (await client.collection('system_config').doc(collection).collection('turns').get()).docs

describe('concurrency keys of the Firestore store', () => {
  test('workers of two processes never have more of a key than it allows, and every run has its turn', async () => {
    const collection = emulator.collection()
    const stores = [firestore({ client, collection }), firestore({ client: emulator.client(), collection })] as const
    await stores[0].create(Array.from({ length: 10 }, () => of('k', 2)))
    let out = 0
    let most = 0
    let done = 0
    const work = async (store: Store, worker: string) => {
      while (done < 10) {
        const { runs, token } = await claim(store, 3, worker)
        out += runs.length
        most = Math.max(most, out)
        for (const { id } of runs) {
          // Counted down before it is written: from then on another may rightly have its place.
          out -= 1
          expect((await end(store, id, token)).answer).toBe('ok')
          done += 1
        }
        if (runs.length === 0) await systemClock.sleep(20)
      }
    }
    await Promise.all([work(stores[0], 'a'), work(stores[0], 'b'), work(stores[1], 'c')])
    expect([done, most <= 2]).toEqual([10, true])
    expect(await stores[0].count({})).toEqual([{ task: 't', state: 'succeeded', runs: 10 }])
    expect(await stores[0].verify()).toEqual([])
  })

  /** A store before whose next write somebody else does something. */
  const overtaken = (collection: string, meanwhile: () => Promise<unknown>): Store => {
    let isFirst = true
    const overtake = async (): Promise<undefined> => {
      if (!isFirst) return
      isFirst = false
      await meanwhile()
    }
    return firestore({ client: faultyFirestore(client, overtake), collection })
  }
  const claimOf = (store: Store, category: string) => {
    nonces += 1
    const request = { worker: category, nonce: `n${nonces}`, limit: 9, leaseMs: 30_000, alone: false, tasks: ['t'] }
    return store.claim({ ...request, categories: [category] })
  }

  test('of two claims that see the same room one comes second', async () => {
    const collection = emulator.collection()
    const store = firestore({ client, collection })
    await store.create([of('k', 1, { category: 'a' }), of('k', 1, { category: 'b' })])
    let first: Awaited<ReturnType<Store['claim']>> | undefined
    const second = await claimOf(
      overtaken(collection, async () => {
        first = await claimOf(store, 'a')
      }),
      'b',
    )
    expect([first?.runs.length, second.runs.length]).toEqual([1, 0])
    expect(await store.verify()).toEqual([])
  })

  test('who is about to be parked when its key becomes free is let out', async () => {
    const collection = emulator.collection()
    const store = firestore({ client, collection })
    await store.create([of('k', 1, { category: 'a' }), of('k', 1, { category: 'b' })])
    const { runs, token } = await claimOf(store, 'a')
    const late = overtaken(collection, () => end(store, runs[0]?.id ?? '', token))
    expect((await claimOf(late, 'b')).runs).toHaveLength(1)
    expect(await store.verify()).toEqual([])
  })

  test.for([1, 2, 3, 4, 5] as const)(
    'a write that was applied and reported as failed parks and wakes nobody twice: write %i',
    async (nth) => {
      const collection = emulator.collection()
      let writes = 0
      const faultOf = (): WriteFault => {
        writes += 1
        return writes === nth ? 'after' : undefined
      }
      const store = firestore({ client: faultyFirestore(client, faultOf, 10), collection })
      await store.create([of('k'), of('k'), of('k')])
      for (let n = 0; n < 3; n += 1) {
        const { runs, token } = await claim(store)
        expect(runs).toMatchObject([{ attempt: 1 }])
        expect((await end(store, runs[0]?.id ?? '', token)).answer).toBe('ok')
      }
      expect(await store.count({})).toEqual([{ task: 't', state: 'succeeded', runs: 3 }])
      expect(await store.verify()).toEqual([])
    },
  )

  test('runs of a full key in front cost the others one more claim, which is told, and never their turn', async () => {
    const store = firestore({ client, collection: emulator.collection(), lookAhead: 2 })
    await store.create([...Array.from({ length: 6 }, () => of('k')), of('other')])
    const first = await claim(store, 2)
    expect(first.runs).toHaveLength(1)
    expect(first.nextAt).toBe(first.now)
    const seen: string[] = []
    for (let claims = 0; seen.length === 0 && claims < 6; claims += 1)
      seen.push(...(await claim(store, 2)).runs.map(({ id }) => id))
    expect((await store.get({ id: seen[0] ?? '' }))?.concurrency?.key).toBe('other')
  })

  test('limits and keys together: who is parked takes no place of the limit', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    await store.create([of('k'), of('k'), of('l'), of('m')])
    const limits = [{ what: 'task:t' as const, running: 3 }]
    const request = { worker: 'w', nonce: 'n', limit: 9, leaseMs: 30_000, alone: false, tasks: ['t'], limits }
    const { runs } = await store.claim(request)
    const views = await Promise.all(runs.map(({ id }) => store.get({ id })))
    expect(views.map((view) => view?.concurrency?.key)).toEqual(['k', 'l', 'm'])
    expect(await store.count({})).toContainEqual({ task: 't', state: 'waiting', runs: 1 })
  })

  test('a step that another worker ended makes room, at the latest when its owner comes back', async () => {
    const collection = emulator.collection()
    const store = firestore({ client, collection })
    await store.create([of('k'), of('k'), of('k')])
    const { runs, token } = await claim(store)
    const [first = ''] = runs.map(({ id }) => id)
    const ended = {
      'steps.run.status': 'SUCCEEDED',
      'steps.run.finishedAt': 1,
      'steps.run.leaseUntil': null,
      'steps.run.worker': null,
    }
    await client.collection(collection).doc(first).update(ended)
    expect((await end(store, first, token)).answer).toBe('lost')
    const next = await claim(store)
    expect(next.runs).toHaveLength(1)
    // And without a word of its owner, when the next run of the key is met.
    await client
      .collection(collection)
      .doc(next.runs[0]?.id ?? '')
      .update(ended)
    await store.create([of('k', 1, { priority: -1 })])
    const more = [...(await claim(store)).runs, ...(await claim(store)).runs]
    expect(more).toHaveLength(1)
  })

  test('steps of one flow share a key like runs of their own', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    const step = (name: string) => ({ ...of('k'), step: name, needs: [], onNeedFailed: 'fail' as const })
    await store.createFlow({ name: 'f', steps: [step('a'), step('b'), step('c')] })
    for (const name of ['a', 'b', 'c']) {
      const { runs, token } = await claim(store)
      expect(runs).toMatchObject([{ step: name }])
      await end(store, runs[0]?.id ?? '', token)
    }
    expect(await store.verify()).toEqual([])
  })

  test('a resource that answers again brings nobody forward who waits for a key', async () => {
    const store = firestore({ client, collection: emulator.collection() })
    const step = (name: string, given: Partial<NewRun>) => ({
      ...of('k', 1, { resource: 'flash', ...given }),
      ...{ step: name, needs: [], onNeedFailed: 'fail' as const },
    })
    const { flow } = await store.createFlow({
      name: 'f',
      steps: [step('a', {}), step('b', { concurrency: { key: 'l', max: 1 } })],
    })
    const [a = '', b = ''] = (flow as { steps: readonly { run: string }[] }).steps.map(({ run }) => run)
    const { token, now } = await claim(store)
    const again = { type: 'end', token, state: 'waiting', again: true } as const
    await store.commit({ ...again, run: b, dueAt: now + 9e6 })
    await store.commit({ ...again, run: a, dueAt: now })
    await store.create([of('k', 1, { priority: -1 })])
    expect((await claim(store)).runs).toHaveLength(1)
    expect(await store.get({ id: a })).toMatchObject({ state: 'waiting', concurrency: { key: 'k' } })
    await store.hold({ what: 'resource:flash', why: 'w', by: 'ann', probe: false })
    await store.release({ what: 'resource:flash', by: 'ann' })
    const states = await Promise.all([a, b].map(async (id) => (await store.get({ id }))?.state))
    expect(states).toEqual(['waiting', 'ready'])
  })

  test('a line in which nobody stands any more is forgotten after an hour, and one with runs in it never', async () => {
    const collection = emulator.collection()
    let aheadMs = 0
    const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }
    const store = firestore({ client, collection, clock })
    await store.create([of('gone'), of('kept'), of('kept')])
    const { runs, token } = await claim(store)
    await end(store, runs[0]?.id ?? '', token)
    const prune = async () => store.prune?.({ keepMs: {}, keysMs: 9e9, limit: 10 })
    await prune()
    expect(await linesOf(collection)).toHaveLength(2)
    aheadMs = 3_600_001
    await prune()
    expect((await linesOf(collection)).map((line) => line.get('key'))).toEqual(['kept'])
  })

  test('what a key costs, counted', async () => {
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
    bills['submit'] = await cost(() => store.create([of('k')]))
    let claimed: Awaited<ReturnType<Store['claim']>> | undefined
    bills['claim'] = await cost(async () => {
      claimed = await claim(store)
    })
    await store.create([of('k'), of('k')])
    bills['claim that parks two'] = await cost(() => claim(store))
    bills['end that wakes'] = await cost(() => end(store, claimed?.runs[0]?.id ?? '', claimed?.token ?? 0))
    expect(bills).toEqual({
      submit: '0 r 1 w',
      claim: '5 r 2 w',
      'claim that parks two': '8 r 3 w',
      'end that wakes': '3 r 3 w',
    })
  })
})
