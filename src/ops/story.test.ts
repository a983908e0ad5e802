import { describe, expect, test } from 'vitest'
import { toPerson } from '../engine/throwables.ts'
import { failure } from '../failure/own.ts'
import { bench, httpError } from './bench.fixtures.ts'
import { cancelRuns, reprioritiseRuns, rescheduleRuns, retryRuns } from './steer-runs.ts'
import { story } from './story.ts'

describe('story', () => {
  test('a run that waits: what now, what happened, what comes next, what is used', async () => {
    const { reprise, store, work } = bench()
    const task = reprise.task('ask', {}, () => {
      throw httpError(503)
    })
    await reprise.submit(task, {})
    await work('idle')
    const told = await story(store, 'r1')
    expect(told).toMatchObject({
      word: 'waiting',
      headline: 'Attempt 2 at 14:00:30, in 30 s (60 s ×2, dice 0.50); 1 of 8 errors used.',
      entries: [{ type: 'attempt', attempt: 1, outcome: 'failed', failure: { code: 'http.503' }, counted: true }],
      next: { attempt: 2, sentence: 'then right: done; wrong 7 times: ended' },
      policy: 'daemon',
    })
    expect(told?.ledgers.map(({ name, used, max }) => `${name} ${used} of ${max}`)).toEqual([
      'errors 1 of 8',
      'rateWaits 0 of 20',
      'interruptions 0 of 5',
      'lapses 0 of 3',
      'repairs 0 of 2',
      'escalations 0 of 0',
    ])
  })

  test('a ladder: rungs by their names, and the person at its end', async () => {
    const { reprise, store, work } = bench()
    let asked = 0
    const task = reprise.task('ask', { policy: 'extraction' }, () => {
      asked += 1
      throw failure({ kind: 'semantic', code: 'gate.total', message: `net differs by ${asked}` })
    })
    await reprise.submit(task, {})
    await work()
    const told = await story(store, 'r1')
    expect(told?.word).toBe('review')
    expect(told?.headline).toMatch(/^To a person now: /)
    expect(told?.next).toBeUndefined()
    const rungs = told?.entries.map((entry) => entry.type === 'attempt' && entry.rung)
    expect(new Set(rungs).size).toBeGreaterThan(1)
  })

  test('calls, sleeps, acts and notes stand between the attempts, in time order', async () => {
    const { reprise, store, work, clock } = bench()
    const task = reprise.task('ask', {}, async (_, ctx) => {
      await ctx.call('model', ({ cost }) => {
        cost(0.004)
        return 'answer'
      })
      await ctx.sleep('cool down', '2m')
      throw failure({ kind: 'final', code: 'x.y', message: 'no' })
    })
    await reprise.submit(task, {})
    await work()
    await clock.advance(1_000)
    await retryRuns(store, { ids: ['r1'] }, { by: 'ann' })
    await store.note({ run: 'r1', by: 'w-old', what: 'write.stale', data: { token: 1 } })
    const told = await story(store, 'r1')
    expect(told?.entries.map(({ type, generation }) => [type, generation])).toEqual([
      ['attempt', 1],
      ['call', 1],
      ['sleep', 1],
      ['attempt', 1],
      ['act', 2],
      ['note', 2],
    ])
    expect(told).toMatchObject({
      headline: 'Retried by ann; generation 2 begins, the history stays.',
      takes: 1,
      next: { attempt: 1, sentence: 'then right: done' },
    })
    expect(told?.entries.at(-1)).toMatchObject({
      sentence: 'A late result of w-old came after its lease. Kept as a receipt, changed nothing.',
    })
    expect(told?.entries[1]).toMatchObject({ name: 'model', result: 'answered', takes: 1, costUsd: 0.004 })
  })

  test('a first success has no row and is told all the same', async () => {
    const { reprise, store, work } = bench()
    const task = reprise.task('ask', {}, () => 1)
    await reprise.submit(task, {})
    expect(await story(store, 'r1')).toMatchObject({
      headline: 'Ready; the next free worker takes it.',
      entries: [],
    })
    await work()
    expect(await story(store, 'r1')).toMatchObject({
      headline: 'Right at the first attempt.',
      entries: [{ type: 'attempt', attempt: 1, outcome: 'succeeded' }],
    })
    expect((await story(store, 'r1'))?.ledgers[0]).toEqual({ name: 'errors', used: 0 })
  })

  test('a move is told once, and what was moved forward is not said to be ready since its submit', async () => {
    const { reprise, store, clock } = bench()
    const task = reprise.task('ask', {}, () => 1)
    await reprise.submit(task, {}, { at: '1h' })
    await clock.advance(1_000)
    await reprioritiseRuns(store, { ids: ['r1'] }, { by: 'ann', to: 5 })
    await clock.advance(1_000)
    await rescheduleRuns(store, { ids: ['r1'] }, { by: 'ann', dueAt: clock.now() })
    const told = await story(store, 'r1')
    expect(told?.entries.map((entry) => [entry.type, 'sentence' in entry && entry.sentence])).toEqual([
      ['act', 'Priority 0 → 5 by ann; smaller goes first.'],
      ['act', 'Rescheduled by ann: starts at 14:00:02.'],
    ])
    expect(told?.headline).toBe('Ready; the next free worker takes it.')
  })

  test('running, lapsed, overdue, cancelled', async () => {
    const { reprise, store, work, clock } = bench()
    const task = reprise.task('ask', {}, () => {
      throw toPerson('unreadable', { queue: 'accounts', within: '1h' })
    })
    await reprise.submit(task, {})
    const { token } = await store.claim({
      worker: 'w-7f',
      nonce: 'n',
      limit: 1,
      leaseMs: 1_000,
      alone: true,
      tasks: ['ask'],
    })
    await store.commit({ type: 'progress', run: 'r1', token, progress: { done: 3, of: 9, note: 'pages' } })
    expect(await story(store, 'r1')).toMatchObject({
      word: 'running',
      headline: 'Attempt 1 runs on w-7f: 3 of 9, pages.',
      entries: [{ outcome: 'running' }],
    })
    await clock.advance(1_500)
    expect(await story(store, 'r1')).toMatchObject({
      word: 'ready',
      headline: 'No sign of life from w-7f since 14:00:01; the next worker takes it.',
    })
    await work('idle')
    expect(await story(store, 'r1')).toMatchObject({
      word: 'review',
      headline: 'To a person now: accounts, by 15:00:01. Unreadable.',
    })
    await clock.advance(3_600_000)
    expect(await story(store, 'r1')).toMatchObject({ headline: 'Accounts has not answered; due since 15:00:01.' })
    await cancelRuns(store, { ids: ['r1'] }, { by: 'ann' })
    expect(await story(store, 'r1')).toMatchObject({ word: 'cancelled', headline: 'Cancelled by ann.' })
  })

  test('no such run', async () => {
    expect(await story(bench().store, 'r1')).toBeUndefined()
  })
})
