import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { applyEntry, decide } from '../policy/decide.ts'
import { presets } from '../policy/presets.ts'
import { EMPTY_LEDGERS, LAPSED_CODE } from '../policy/situation.ts'
import type { RunView } from '../ports/store.ts'
import type { AttemptRecord } from '../run/run.ts'
import { seededDice } from '../time/dice.ts'
import { bench, httpError, NOON } from './bench.fixtures.ts'
import { explain, explainHistory } from './explain.ts'
import { foldHistory } from './fold-history.ts'

const row = (record: Partial<AttemptRecord>): AttemptRecord => ({
  ...{ generation: 1, attempt: 1, token: 1, worker: 'w1', startedAt: NOON, endedAt: NOON, outcome: 'failed' },
  ...record,
})

const overloaded = failure({ kind: 'transient', code: 'http.503', message: 'overloaded' }).failure
const policy = presets.daemon

function decided(attempt: number, ledgers = EMPTY_LEDGERS, extra: Partial<AttemptRecord> = {}): AttemptRecord {
  const decision = decide({
    failure: overloaded,
    policy,
    ledgers,
    now: NOON,
    dice: 0.25,
    rung: 0,
    noProgress: false,
    attempt,
  })
  return row({
    attempt,
    token: attempt,
    failure: overloaded,
    dice: 0.25,
    policy: 'p',
    rung: 0,
    noProgress: false,
    decision,
    ...extra,
  })
}

const view = (run: Partial<RunView> = {}): RunView => ({
  ...{ id: 'r1', task: 't', state: 'waiting', generation: 1, priority: 0, submittedAt: NOON, attempt: 2 },
  ...{ ledgers: EMPTY_LEDGERS, suspensions: 0, suspect: false, rung: 0, input: '{}', costUsd: 0 },
  ...run,
})

describe('the fold of a history', () => {
  test('starts anew with each generation', () => {
    const first = decided(1)
    const folded = foldHistory([
      first,
      row({ generation: 2, attempt: 0, outcome: 'operator' }),
      { ...first, generation: 2 },
    ])
    expect(folded.map(({ before }) => before.errors)).toEqual([0, 0, 0])
    expect(folded.map(({ after }) => after.errors)).toEqual([1, 0, 1])
  })

  test('counts a lapse, and shared crashes with the lapse that confirms them', () => {
    const alone = foldHistory([row({ attempt: 1, outcome: 'lapsed' }), row({ attempt: 2, outcome: 'lapsed' })])
    expect(alone.map(({ after }) => after.lapses)).toEqual([1, 2])
    // Attempt 1 vanished together with others and has no row.
    expect(foldHistory([row({ attempt: 2, outcome: 'lapsed' })]).at(-1)?.after.lapses).toBe(2)
  })

  test('lets a decision about a lapse start from the ledgers before it', () => {
    const lapsed = failure({ kind: 'interrupted', code: LAPSED_CODE, message: 'gone' }).failure
    const [, second] = foldHistory([
      row({ attempt: 1, outcome: 'lapsed' }),
      row({ attempt: 2, outcome: 'interrupted', failure: lapsed }),
    ])
    expect(second?.before.lapses).toBe(0)
  })
})

describe('explain', () => {
  test('computes the stored decision again and finds it equal', () => {
    const run = view({ ledgers: applyEntry(EMPTY_LEDGERS, decided(1).decision as never, overloaded) })
    const explained = explainHistory(run, [decided(1)], new Map([['p', policy]]))
    expect(explained).toMatchObject({ verdict: 'equal', ledgers: 'equal' })
    expect(explained.steps[0]).toMatchObject({
      verdict: 'equal',
      differs: [],
      inputs: { dice: 0.25, policy: { name: 'daemon' } },
    })
    expect(explained.steps[0]?.sentence).toMatch(
      /^Attempt 2 at 14:00:15, in 15 s \(60 s ×2, dice 0\.25\); 1 of 8 errors used\.$/,
    )
  })

  test.each([
    ['another time', { endedAt: NOON + 1 }, ['at', 'why']],
    ['other dice', { dice: 0.75 }, ['at', 'why']],
    ['another attempt number', { attempt: 5 }, ['why']],
    ['another failure', { failure: { ...overloaded, kind: 'final' as const } }, ['act', 'at', 'why']],
  ])('%s makes a different decision', (_, forged, differs) => {
    const explained = explainHistory(view(), [{ ...decided(1), ...forged }], new Map([['p', policy]]))
    expect(explained.verdict).toBe('different')
    expect([...(explained.steps[0]?.differs ?? [])].sort()).toEqual(differs)
  })

  test('a changed policy under the same hash, a missing one, and forged ledgers are told', () => {
    const run = view({ ledgers: { ...EMPTY_LEDGERS, errors: 3 } })
    expect(explainHistory(run, [decided(1)], new Map([['p', presets.documents]])).verdict).toBe('different')
    expect(explainHistory(run, [decided(1)], new Map())).toMatchObject({ verdict: 'unknown', ledgers: 'different' })
  })

  test('rows of other attempts and generations are left out when one is asked for', () => {
    const history = [decided(1), decided(2, applyEntry(EMPTY_LEDGERS, decided(1).decision as never, overloaded))]
    const explained = explainHistory(view(), history, new Map([['p', policy]]), { attempt: 2 })
    expect(explained.steps.map(({ attempt, verdict }) => [attempt, verdict])).toEqual([[2, 'equal']])
    expect(explainHistory(view(), history, new Map(), { generation: 2 }).steps).toEqual([])
  })

  test('a run that does not exist is undefined', async () => {
    expect(await explain(bench().store, 'r9')).toBeUndefined()
  })

  test('every decision that the engine makes comes out the same, whatever fails in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom(503, 429, 408, 400, 'told', 'bad', 'again', 'ok'), { minLength: 1, maxLength: 12 }),
        fc.integer(),
        fc.boolean(),
        async (script, seed, hasDeadline) => {
          const { reprise, store, work } = bench(seededDice(seed))
          const steps = [...script]
          const task = reprise.task('t', { policy: 'extraction' }, () => {
            const step = steps.shift() ?? 'ok'
            if (step === 'ok') return 1
            if (step === 'told') throw httpError(429, { 'retry-after': '20' })
            if (step === 'bad') throw failure({ kind: 'semantic', code: 'gate.total', message: `net ${steps.length}` })
            if (step === 'again') throw failure({ kind: 'semantic', code: 'gate.total', message: 'net differs' })
            throw httpError(Number(step))
          })
          const run = await reprise.submit(task, {}, hasDeadline ? { deadline: '10m' } : {})
          await work()
          const explained = await explain(store, run.id)
          expect(explained?.steps.filter(({ verdict }) => verdict !== 'equal' && verdict !== 'undecided')).toEqual([])
          expect(explained).toMatchObject({ verdict: 'equal', ledgers: 'equal' })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('a run that killed its worker three times: the decision about its lapses comes out the same', async () => {
    const { reprise, store, clock, work } = bench()
    const task = reprise.task('t', {}, () => 1)
    const run = await reprise.submit(task, {})
    for (const nonce of ['a', 'b', 'c']) {
      await store.claim({ worker: 'w', nonce, limit: 1, leaseMs: 1_000, alone: true, tasks: ['t'] })
      await clock.advance(1_000)
    }
    await work('idle')
    const explained = await explain(store, run.id)
    expect(explained?.steps.map(({ outcome, verdict }) => [outcome, verdict])).toEqual([
      ['lapsed', 'undecided'],
      ['lapsed', 'undecided'],
      ['lapsed', 'undecided'],
      ['interrupted', 'equal'],
    ])
    expect(explained).toMatchObject({ ledgers: 'equal', run: { state: 'review' } })
  })

  test('crashes shared with neighbours, a person asked, and one crash more after that: all of it comes out the same', async () => {
    const { reprise, store, clock, work } = bench()
    const task = reprise.task('t', {}, () => 1)
    const { id } = await reprise.submit(task, {})
    const claim = async (nonce: string, alone: boolean) => {
      const { runs } = await store.claim({ worker: 'w', nonce, limit: 1, leaseMs: 1_000, alone, tasks: ['t'] })
      expect(runs.map((run) => run.id)).toEqual([id])
      await clock.advance(1_000)
    }
    await claim('shared', false)
    for (const nonce of ['a', 'b', 'c']) await claim(nonce, true)
    await work('idle')
    expect(await store.get({ id })).toMatchObject({ state: 'review', ledgers: { lapses: 4 } })
    const explained = await explain(store, id)
    expect(explained).toMatchObject({ verdict: 'equal', ledgers: 'equal' })
    expect(await store.verify()).toEqual([])
  })

  test('a worker that stops after a lapse: the interruption does not touch the count of lapses', async () => {
    const { reprise, store, clock } = bench()
    const task = reprise.task(
      't',
      {},
      (_, ctx) =>
        new Promise((_resolve, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
    )
    const { id } = await reprise.submit(task, {})
    await store.claim({ worker: 'w', nonce: 'a', limit: 1, leaseMs: 1_000, alone: true, tasks: ['t'] })
    await clock.advance(1_000)
    const worker = reprise.work({ concurrency: 1, drainMs: 10 })
    await clock.advance(100)
    await clock.runUntilSettled(worker.stop())
    expect(await store.get({ id })).toMatchObject({ ledgers: { lapses: 1, interruptions: 1 } })
    expect(await explain(store, id)).toMatchObject({ verdict: 'equal', ledgers: 'equal' })
    expect(await store.verify()).toEqual([])
  })
})
