/**
 * The Firestore store as the contract opens it: a collection of its own on Google's emulator, by the real client.
 */
import type { DocumentReference, Firestore } from '@google-cloud/firestore'
import { bucketId, holdId } from '../../src/stores/firestore/gates.ts'
import { firestore } from '../../src/stores/firestore/index.ts'
import type { OpenedStore } from '../../src/testing/store-contract/index.ts'
import type { Clock } from '../../src/time/clock.ts'
import type { FirestoreEmulator } from '../services/firestore-emulator.ts'

export function openFirestore(emulator: FirestoreEmulator, client: Firestore, clock: Clock): OpenedStore {
  const collection = emulator.collection()
  const open = () => firestore({ client, collection, clock })
  const store = open()
  return {
    store,
    reopen: async () => {
      await store.close()
      return open()
    },
    damages: damagesOf(client, collection),
    damagesBeside: damagesBesideOf(client, collection),
  }
}

/** Damage of holds, buckets and budgets, which are of no run. */
function damagesBesideOf(client: Firestore, collection: string): NonNullable<OpenedStore['damagesBeside']> {
  const system = client.collection('system_config').doc(collection)
  const gate = (id: string, value: { readonly kind: string }) => async () => {
    await system
      .collection('gates')
      .doc(id)
      .set({ kind: value.kind, value: JSON.stringify(value) })
  }
  const held = { until: 9, why: 'w', by: 'b', probe: true, setAt: 0, phase: 'held' }
  const hold = (what: string, change: object) =>
    gate(holdId(what), { kind: 'hold', ...{ hold: { what, ...held, ...change } } })
  const bucket = { resource: 'a', health: 1, phase: 'watched', tokens: 0, at: 0 }
  const window = (budget: string, tally: object) => async () => {
    const none = { callsReserved: 0, callsSpent: 0, nanoReserved: 0, nanoSpent: 0, nanoOver: 0, warned: 0 }
    const data = { budget, window: 'day', key: '2026-01-01', tally: JSON.stringify({ ...none, ...tally }) }
    await system.collection('windows').doc(budget).set(data)
  }
  return {
    'a hold of nothing': hold('nothing', {}),
    'a hold under another name': gate('another', { kind: 'hold', ...{ hold: { what: 'task:b', ...held } } }),
    'a hold in no phase': hold('task:c', { phase: 'open' }),
    'a probing hold without a probe': hold('task:d', { phase: 'probing' }),
    'a hold that lets in since never': hold('task:e', { phase: 'admitting' }),
    'a bucket with a health of its own': gate(bucketId('a'), {
      kind: 'bucket',
      ...{ bucket: { ...bucket, health: 2 } },
    }),
    'a bucket under another name': gate('other', { kind: 'bucket', ...{ bucket } }),
    'a window without its calls': window('lost', { callsSpent: 1 }),
    'a window above its limit': window('above', { callsSpent: 2, callsLimit: 1 }),
  }
}

/** The run that the law hands over is ready, new and without a key: a document with one step. */
function damagesOf(client: Firestore, collection: string): NonNullable<OpenedStore['damages']> {
  const runs = client.collection(collection)
  const step = (fields: Record<string, unknown>) => async (run: string) => {
    const paths = Object.fromEntries(Object.entries(fields).map(([field, value]) => [`steps.run.${field}`, value]))
    await runs.doc(run).update(paths)
  }
  const rest = (fields: unknown) => step({ rest: JSON.stringify(fields) })
  const attempt = (ref: DocumentReference, place: number, row: object) =>
    ref.collection('attempts').add({
      step: 'run',
      place,
      row: JSON.stringify({ worker: 'w', startedAt: 0, endedAt: 0, ...row }),
    })
  const ledgers = { errors: 0, rateWaits: 0, interruptions: 0, lapses: 0, repairs: 0, escalations: 0, errorsByKind: {} }
  const needOf = async (run: string, state: string, need: object, open: boolean) => {
    const needed = `needed-of-${run}`
    await runs.doc(needed).set({ single: true, steps: { run: { status: state, stepType: 't' } } })
    await rest({ needs: [{ run: needed, open, ...need }] })(run)
  }
  const line = (value: (run: string) => object) => async (run: string) => {
    const turns = client.collection('system_config').doc(collection).collection('turns')
    await turns.add({ task: 't', key: run, value: JSON.stringify(value(run)) })
  }
  return {
    'a state that is none': step({ status: 'GONE' }),
    'a lease on an ended run': step({ status: 'FAILED', finishedAt: 1, leaseUntil: 1, worker: 'w' }),
    'a due time on a ready run': step({ dueAt: 1 }),
    'an output on a ready run': step({ output: '1' }),
    'an ended run without a finish time': step({ status: 'SUCCEEDED' }),
    'a suspect that is finished': async (run) => {
      await step({ status: 'SUCCEEDED', finishedAt: 1 })(run)
      await rest({ suspect: true })(run)
    },
    'a token that no claim gave': rest({ endedBy: 9_999 }),
    'a ledger without history': rest({ ledgers: { ...ledgers, errors: 1 } }),
    'a lapse without history': rest({ ledgers: { ...ledgers, lapses: 1 } }),
    'history of a later generation': async (run) => {
      await attempt(runs.doc(run), 0, { generation: 2, attempt: 0, token: 0, outcome: 'operator' })
    },
    'history out of order': async (run) => {
      for (const [place, token] of [2, 1].entries())
        await attempt(runs.doc(run), place, { generation: 1, attempt: 1, token, outcome: 'failed' })
    },
    'money without a take': rest({ costUsd: 1 }),
    'a ready run that no claim finds': async (run) => {
      await runs.doc(run).update({ dueAt: null })
    },
    'a run of a task that no claim finds': async (run) => {
      await runs.doc(run).update({ tasks: ['other'] })
    },
    'waiting for nothing': step({ status: 'WAITING' }),
    'parked though its key has room': async (run) => {
      await step({ status: 'WAITING' })(run)
      await rest({ concurrency: { key: 'k', max: 1 } })(run)
    },
    'out of a key that does not count it': async (run) => {
      await step({ status: 'RUNNING', leaseUntil: 9e12, worker: 'w' })(run)
      await rest({ concurrency: { key: 'k', max: 1 } })(run)
    },
    'counted by a key though it is not out': line((run) => ({ out: [run], waiters: [] })),
    'in a line though it does not wait': line((run) => ({
      out: [],
      waiters: [{ run, lane: '', place: 0, order: '', n: 0, max: 1 }],
    })),
    'blocked for nothing': step({ status: 'BLOCKED' }),
    'ready in spite of an open need': (run) => needOf(run, 'READY', { kind: 'fail' }, true),
    'blocked by what is done': async (run) => {
      await needOf(run, 'SUCCEEDED', { kind: 'fail' }, true)
      await step({ status: 'BLOCKED' })(run)
    },
    'blocked by what cannot come': async (run) => {
      await needOf(run, 'FAILED', { kind: 'skip' }, true)
      await step({ status: 'BLOCKED' })(run)
    },
    'a need that is not there': rest({ needs: [{ run: 'gone', kind: 'fail', open: false }] }),
    'a key that leads nowhere': rest({ key: 'lost' }),
    'a key that leads to another run': async (run) => {
      const keys = client.collection('system_config').doc(collection).collection('keys')
      await keys.add({ run, key: 'stolen', fingerprint: 'print' })
    },
  }
}
