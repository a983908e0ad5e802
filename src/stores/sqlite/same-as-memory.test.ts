import { describe, expect, test } from 'vitest'
import type { Failure } from '../../failure/failure.ts'
import type { Change, NewRun, Store } from '../../ports/store.ts'
import { STATES } from '../../run/run.ts'
import type { Clock } from '../../time/clock.ts'
import { type Dice, seededDice } from '../../time/dice.ts'
import { memory } from '../memory/index.ts'
import { sqlite } from './index.ts'

/** Any script of verbs, with stale tokens, strangers' ids and repeated nonces among them, answers alike on both drivers. */
const SEEDS = 60
const STEPS = 150

const failure = (code: string): Failure => ({
  kind: 'transient',
  code,
  layer: 'workflow',
  message: 'm',
  advice: 'a',
  rule: 'r/r',
})

interface Script {
  readonly dice: Dice
  readonly leases: { run: string; task: string; token: number; generation: number; attempt: number }[]
  readonly nonces: string[]
  runs: number
  now: number
}

function pick<T>(dice: Dice, ...choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(dice() * choices.length)] as T
}

function newRun(script: Script): NewRun {
  const { dice, now } = script
  const key = dice() < 0.3 ? { key: `k${Math.floor(dice() * 6)}`, fingerprint: pick(dice, 'f', 'f', 'f', 'g') } : {}
  return {
    task: pick(dice, 'a', 'a', 'b', '["a",null,null]'),
    ...(dice() < 0.4 ? { category: pick(dice, 'x', 'y', '') } : {}),
    ...(dice() < 0.4 ? { resource: `m${Math.floor(dice() * 12)}` } : {}),
    ...key,
    ...(dice() < 0.3 ? { onExisting: pick(dice, 'return', 'retry') } : {}),
    ...(dice() < 0.3 ? { concurrency: { key: pick(dice, 'c', 'd'), max: pick(dice, 1, 2) } } : {}),
    input: JSON.stringify('i'.repeat(dice() < 0.1 ? 900 : 3)),
    priority: pick(dice, 0, 0, 0, -1, 5),
    ...(dice() < 0.2 ? { dueAt: now + Math.floor(dice() * 3_000) - 500 } : {}),
    ...(dice() < 0.1 ? { deadlineAt: now + 60_000 } : {}),
    ...(dice() < 0.1 ? { maxCostUsd: 0 } : {}),
  }
}

function change(script: Script): Change {
  const { dice, now } = script
  const known = dice() < 0.9 ? script.leases[Math.floor(dice() * script.leases.length)] : undefined
  const { run, task, token, generation, attempt } = known ?? {
    run: pick(dice, 'r1', 'r999', 'x'),
    task: 'a',
    token: 1,
    generation: 1,
    attempt: 1,
  }
  const entry = { generation, name: pick(dice, 'n1', 'n2'), inputHash: pick(dice, '', 'h') }
  switch (pick(dice, 'end', 'end', 'plain', 'output', 'intent', 'answer', 'answer', 'progress')) {
    case 'plain':
      return { type: 'end', run, token, state: 'succeeded' }
    case 'output':
      return { type: 'end', run, token, state: 'succeeded', output: JSON.stringify('o'.repeat(dice() < 0.2 ? 900 : 3)) }
    case 'intent':
      return { type: 'intent', run, token, ...entry, take: 1 + Math.floor(dice() * 3) }
    case 'answer':
      return {
        ...{ type: 'answer', run, token, ...entry },
        ...(dice() < 0.7 ? { answer: '"yes"' } : { failure: failure('http.503') }),
        ...(dice() < 0.5 ? { costUsd: 0.25 } : {}),
      }
    case 'progress':
      return { type: 'progress', run, token, progress: { done: Math.floor(dice() * 5), of: 5 } }
    default:
      return {
        ...{ type: 'end', run, token },
        state: pick(dice, 'ready', 'waiting', 'waiting', 'review', 'failed', 'cancelled', 'succeeded'),
        ...(dice() < 0.8 ? { dueAt: now + Math.floor(dice() * 2_000) } : {}),
        ...(dice() < 0.2 ? { lane: { task, resource: pick(dice, 'm1', 'pro') }, rung: 1 } : {}),
        ...(dice() < 0.5
          ? {
              ledgers: {
                ...{
                  errors: 1,
                  rateWaits: Math.floor(dice() * 2),
                  interruptions: 0,
                  lapses: 0,
                  repairs: 1,
                  escalations: 0,
                },
                errorsByKind: { transient: 1 },
              },
            }
          : {}),
        ...(dice() < 0.2 ? { suspensions: 1 } : {}),
        ...(dice() < 0.5 ? { why: { code: 'run.again', params: { by: 'w', generation: 1 } } as const } : {}),
        ...(dice() < 0.5 ? { failure: failure(pick(dice, 'http.503', 'http.429')) } : {}),
        ...(dice() < 0.5
          ? {
              attempt: {
                generation,
                attempt,
                token,
                worker: 'w',
                startedAt: now,
                endedAt: now,
                outcome: 'failed',
                dice: 0.5,
              } as const,
            }
          : {}),
        ...(dice() < 0.2 ? { unstarted: true } : {}),
        ...(dice() < 0.2
          ? { journal: { name: 's', inputHash: '', token, takes: 0, intentAt: now, answer: '1', answeredAt: now } }
          : {}),
      }
  }
}

/** One verb, drawn once and asked of both. */
function step(script: Script): (store: Store) => Promise<unknown> {
  const { dice, now } = script
  const run = `r${1 + Math.floor(dice() * (script.runs + 1))}`
  const verb = pick(
    dice,
    'create',
    'claim',
    'claim',
    'commit',
    'commit',
    'commit',
    'commitAll',
    'renew',
    'steer',
    'read',
    'find',
    'note',
    'prune',
  )
  switch (verb) {
    case 'create': {
      const runs = Array.from({ length: 1 + Math.floor(dice() * 8) }, () => newRun(script))
      script.runs += runs.length
      return (store) => store.create(runs)
    }
    case 'claim': {
      const nonce = dice() < 0.1 ? (script.nonces.at(-1) ?? 'n0') : `n${script.nonces.length}`
      script.nonces.push(nonce)
      const request = {
        ...{
          worker: pick(dice, 'w1', 'w2'),
          nonce,
          limit: pick(dice, 0, 1, 3, 10, 30),
          leaseMs: pick(dice, 200, 1_000),
        },
        ...{ alone: dice() < 0.3, tasks: pick(dice, ['a', 'b'], ['a'], ['["a",null,null]', 'b'], []) },
        ...(dice() < 0.2 ? { categories: pick(dice, ['x'], ['x', ''], []) } : {}),
      }
      return (store) => store.claim(request)
    }
    case 'commit': {
      const what = change(script)
      return (store) => store.commit(what)
    }
    case 'commitAll': {
      const ends = Array.from({ length: 12 }, () => change(script)).filter((each) => each.type === 'end')
      const ofEach = [...new Map(ends.map((end) => [end.run, end])).values()]
      return (store) => store.commitAll?.(ofEach) ?? Promise.resolve()
    }
    case 'renew': {
      const leases = script.leases.filter(() => dice() < 0.3)
      return (store) => store.renew({ worker: 'w', leaseMs: 1_000, leases })
    }
    case 'steer': {
      const act = {
        ...{
          run,
          type: pick<'cancel' | 'retry'>(dice, 'cancel', 'retry'),
          by: 'op',
          why: { code: 'run.cancelled', params: { by: 'op' } } as const,
        },
        expect: { generation: pick(dice, 1, 1, 2), states: STATES.filter(() => dice() < 0.6) },
      } as const
      return (store) => store.steer(act)
    }
    case 'read': {
      const generation = pick(dice, 1, 2)
      const ref = dice() < 0.7 ? { id: run } : { task: 'a', key: `k${Math.floor(dice() * 6)}` }
      return async (store) => [
        await store.get(ref),
        await store.attempts(run),
        await store.journal(run, generation),
        await store.notes({ run }),
        await store.notes({ limit: 3 }),
      ]
    }
    case 'prune': {
      const request = {
        keepMs: pick(dice, {}, { succeeded: 0 }, { succeeded: 2_000, failed: 4_000, cancelled: 500 }),
        ...(dice() < 0.2 ? { keepMax: Math.floor(dice() * 5) } : {}),
        ...{ keysMs: pick(dice, 0, 5_000, 60_000), limit: 1_000 },
      }
      return async (store) => store.prune?.(request)
    }
    case 'note':
      return (store) => store.note({ by: 'op', what: 'w', data: { n: 1 } })
    default: {
      const filters = {
        ...(dice() < 0.3 ? { tasks: ['a'] } : {}),
        ...(dice() < 0.4 ? { states: ([...STATES, 'running'] as const).filter(() => dice() < 0.3) } : {}),
        ...(dice() < 0.2 ? { categories: ['x'] } : {}),
        ...(dice() < 0.2 ? { kinds: ['transient'] } : {}),
        ...(dice() < 0.2 ? { code: pick(dice, 'http.503', 'http.*', 'h') } : {}),
        ...(dice() < 0.1 ? { key: 'k1' } : {}),
        ...(dice() < 0.1 ? { submittedAfter: now - 1_000 } : {}),
      }
      return async (store) => {
        const first = await store.find({ ...filters, limit: 4 })
        return [
          first,
          first.cursor && (await store.find({ ...filters, limit: 4, cursor: first.cursor })),
          await store.count(filters),
        ]
      }
    }
  }
}

async function play(seed: number): Promise<void> {
  const script: Script = { dice: seededDice(seed), leases: [], nonces: [], runs: 0, now: 1_000_000 }
  const clock: Clock = {
    now: () => script.now,
    monotonic: () => script.now,
    after: () => () => undefined,
    sleep: () => Promise.resolve(),
  }
  const stores = [memory({ clock }), sqlite({ file: ':memory:', clock })] as const
  for (let index = 0; index < STEPS; index += 1) {
    if (script.dice() < 0.4) script.now += Math.floor(script.dice() * 600)
    const ask = step(script)
    const [expected, found] = await Promise.all(stores.map(ask))
    expect(found, `seed ${seed}, step ${index}`).toEqual(expected)
    for (const claimed of (
      found as { runs?: { id: string; task: string; generation: number; attempt: number; leaseUntil?: number }[] }
    )?.runs ?? []) {
      if (claimed.leaseUntil === undefined) continue
      const { token } = found as { token: number }
      const { id, task, generation, attempt } = claimed
      script.leases.push({ run: id, task, token, generation, attempt })
      if (script.leases.length > 12) script.leases.shift()
    }
  }
  for (const store of stores) await store.close()
}

describe('the SQLite driver answers as the memory driver does', () => {
  test.each(Array.from({ length: SEEDS }, (_, index) => [index + 1]))('seed %i', (seed) => play(seed))
})
