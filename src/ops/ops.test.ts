import { describe, expect, test } from 'vitest'
import { failure } from '../failure/own.ts'
import { bench, httpError } from './bench.fixtures.ts'
import { exportRuns } from './export-runs.ts'
import { parseFilter } from './filter.ts'
import { countsWithout, findRuns } from './find-runs.ts'
import { resolveRun } from './resolve-run.ts'
import { sentenceOf, stats } from './stats.ts'
import { cancelRuns, retryRuns } from './steer-runs.ts'
import { verifyStore } from './verify-store.ts'

/** Two right, one failed for good, one waiting for a retry, one scheduled for later. */
async function populated() {
  const world = bench()
  const { reprise } = world
  const invoice = reprise.task('invoice.read', {}, (input) => {
    const { fails } = input as { fails?: string }
    if (fails === 'final') throw failure({ kind: 'final', code: 'tenant.closed', message: 'tenant 7 is closed' })
    if (fails === 'soon') throw httpError(503)
    return { right: true }
  })
  await reprise.submit(invoice, {}, { key: 'INV-1' })
  await reprise.submit(invoice, { from: 'Kestrel' }, { key: 'INV-2' })
  await reprise.submit(invoice, { fails: 'final' }, { key: 'INV-3' })
  await reprise.submit(invoice, { fails: 'soon' }, { key: 'INV-4', category: 'eu' })
  await reprise.submit(invoice, {}, { key: 'INV-5', at: '2h' })
  await world.work('idle')
  const filter = (text: string) => parseFilter(text, world.filterOptions())
  return { ...world, invoice, filter }
}

describe('lists', () => {
  test.each([
    ['', ['r5', 'r4', 'r3', 'r2', 'r1']],
    ['state:succeeded', ['r2', 'r1']],
    ['state:waiting', ['r5', 'r4']],
    ['state:waiting kind:transient', ['r4']],
    ['code:tenant.*', ['r3']],
    ['category:eu', ['r4']],
    ['key:INV-2', ['r2']],
    ['task:invoice.*', ['r5', 'r4', 'r3', 'r2', 'r1']],
    ['task:other.*', []],
    ['kestrel', ['r2']],
    ['"tenant 7" state:failed', ['r3']],
    ['since:1h', ['r5', 'r4', 'r3', 'r2', 'r1']],
    ['before:1h', []],
  ])('%s', async (text, ids) => {
    const { store, filter } = await populated()
    const { runs } = await findRuns(store, filter(text), { limit: 30 })
    expect(runs.map(({ run }) => run.id)).toEqual(ids)
  })

  test('say what each run does now and why, with the marks of its attempts', async () => {
    const { store, filter } = await populated()
    const { runs } = await findRuns(store, filter(''), { limit: 30 })
    expect(runs.map(({ word, marks, sentence }) => [word, marks, sentence])).toEqual([
      ['waiting', [], expect.stringMatching(/^Starts at 16:00, in .*, as asked\.$/)],
      ['waiting', ['transient'], expect.stringMatching(/^Attempt 2 at 14:00:30/)],
      ['failed', ['final'], expect.stringContaining('Ended: tenant 7 is closed.')],
      ['succeeded', [], 'Right at the first attempt.'],
      ['succeeded', [], 'Right at the first attempt.'],
    ])
  })

  test('say that there are more', async () => {
    const { store, filter } = await populated()
    expect(await findRuns(store, filter(''), { limit: 4 })).toMatchObject({ more: true })
    expect(await findRuns(store, filter(''), { limit: 5 })).toMatchObject({ more: false })
  })

  test('that are empty say what there would be without each filter', async () => {
    const { store, filter, filterOptions } = await populated()
    const without = await countsWithout(store, filter('state:failed before:1h'), filterOptions())
    expect(without.map(({ token, runs }) => [token.written, runs])).toEqual([['before:1h', 1]])
  })
})

describe('which run is meant', () => {
  test.each([
    ['r3', 'r3'],
    ['INV-3', 'r3'],
    ['invoice.read/INV-3', 'r3'],
  ])('%s', async (word, id) => {
    const { store } = await populated()
    expect(await resolveRun(store, word)).toMatchObject({ found: { id } })
  })

  test('a key of two tasks is told with both, and a slip with the nearest', async () => {
    const { store, reprise } = await populated()
    const other = reprise.task('invoice.send', {}, () => 1)
    await reprise.submit(other, {}, { key: 'INV-3' })
    for (let count = 0; count < 8; count += 1) await reprise.submit(other, count)
    expect(await resolveRun(store, 'INV-3')).toMatchObject({ several: [{ id: 'r6' }, { id: 'r3' }] })
    expect(await resolveRun(store, 'r1a')).toEqual({ nearest: ['r14', 'r13', 'r12'] })
    expect(await resolveRun(store, 'INV-')).toEqual({ nearest: ['INV-3', 'INV-5', 'INV-4'] })
    expect(await resolveRun(store, 'nothing')).toEqual({ nearest: [] })
  })
})

describe('operators’ verbs', () => {
  test('by filter: first only a look', async () => {
    const { store, filter } = await populated()
    const look = await retryRuns(store, { filter: filter('state:failed,succeeded') }, { by: 'ann' })
    expect(look).toMatchObject({ dryRun: true, matched: 3, eligible: 1, done: 0, more: false })
    expect(look.groups).toEqual([{ task: 'invoice.read', state: 'failed', code: 'tenant.closed', runs: 1 }])
    expect(look.skipped.map(({ reason }) => reason)).toEqual(['succeeded', 'succeeded'])
    expect(await store.get({ id: 'r3' })).toMatchObject({ state: 'failed', generation: 1 })
    expect(await store.notes({})).toEqual([])
  })

  test('then in earnest: the next generation, history kept, one note for all', async () => {
    const { store, filter } = await populated()
    const done = await retryRuns(store, { filter: filter('state:failed') }, { by: 'ann', dryRun: false })
    expect(done).toMatchObject({ dryRun: false, done: 1, skipped: [] })
    expect(await store.get({ id: 'r3' })).toMatchObject({
      state: 'ready',
      generation: 2,
      why: { code: 'run.again', params: { by: 'ann' } },
    })
    expect((await store.attempts('r3')).map(({ outcome }) => outcome)).toEqual(['failed', 'operator'])
    expect(await store.notes({})).toMatchObject([
      { run: 'r3', by: 'ann', what: 'retry' },
      { by: 'ann', what: 'retry.many', data: { filter: 'state:failed', done: 1, skipped: 0 } },
    ])
  })

  test('by ids: at once, and what cannot be done is named', async () => {
    const { store } = await populated()
    const done = await cancelRuns(store, { ids: ['r4', 'r1', 'r99', 'r4'] }, { by: 'ann' })
    expect(done).toMatchObject({ dryRun: false, matched: 3, eligible: 1, done: 1 })
    expect(done.skipped).toEqual([
      { run: 'r99', reason: 'not found' },
      { run: 'r1', reason: 'succeeded' },
    ])
    expect(await store.get({ id: 'r4' })).toMatchObject({ state: 'cancelled', why: { code: 'run.cancelled' } })
  })

  test('skip what changed between the look and the act', async () => {
    const { store } = await populated()
    const racing = {
      ...store,
      steer: async (act: Parameters<typeof store.steer>[0]) => {
        await store.steer({ ...act, by: 'somebody else' })
        return store.steer(act)
      },
    }
    const done = await retryRuns(racing, { ids: ['r3'] }, { by: 'ann' })
    expect(done).toMatchObject({ eligible: 1, done: 0, skipped: [{ run: 'r3', reason: 'changed' }] })
    expect(await store.get({ id: 'r3' })).toMatchObject({ generation: 2 })
  })

  test('take any number of runs, in batches', async () => {
    const { store, reprise, filter } = await populated()
    const slow = reprise.task('slow', {}, () => 1)
    await reprise.submitMany(Array.from({ length: 250 }, (_, n) => [slow, n, { at: '1h' }] as const))
    const done = await cancelRuns(store, { filter: filter('task:slow') }, { by: 'ann', dryRun: false })
    expect(done).toMatchObject({ matched: 250, done: 250, skipped: [] })
  })
})

describe('numbers', () => {
  test('by state, by task and by code', async () => {
    const { store } = await populated()
    expect(await stats(store)).toMatchObject({
      total: 5,
      states: { succeeded: 2, failed: 1, waiting: 2, running: 0 },
      tasks: [{ task: 'invoice.read', total: 5 }],
      failures: [
        { kind: 'transient', code: 'http.503', runs: 1 },
        { kind: 'final', code: 'tenant.closed', runs: 1 },
      ],
      sentence: 'Something is wrong: 1 failed, 2 waiting, 2 right.',
    })
  })

  const none = { blocked: 0, ready: 0, running: 0, waiting: 0, review: 0, succeeded: 0, failed: 0, cancelled: 0 }
  test.each([
    [{}, 'No runs yet.'],
    [{ succeeded: 9 }, 'All is right: 9 right.'],
    [{ ready: 3 }, 'Nothing moves: 3 ready.'],
    [{ ready: 3, running: 1 }, 'All is right: 1 running, 3 ready.'],
    [{ review: 2, succeeded: 1 }, 'A person is needed: 2 with a person, 1 right.'],
    [{ failed: 1, succeeded: 200 }, 'Nearly everything is right: 1 failed, 200 right.'],
    [{ failed: 1, succeeded: 20 }, 'Something is wrong: 1 failed, 20 right.'],
    [{ cancelled: 2 }, 'All is right: 2 cancelled or blocked.'],
  ])('%o', (states, sentence) => {
    expect(sentenceOf({ ...none, ...states })).toBe(sentence)
  })
})

describe('verify', () => {
  test('a sound store has no findings, with all decisions computed again', async () => {
    const { store } = await populated()
    expect(await verifyStore(store)).toEqual({ store: 'memory', findings: [] })
    expect(await verifyStore(store, { decisions: true })).toMatchObject({
      findings: [],
      recomputed: { runs: 2, decisions: 2, unknown: 0 },
    })
  })

  test('a forged row is found by the store or by computing again', async () => {
    const { store, tables } = await populated()
    const row = tables.runs.get('r4')
    if (row?.history[0]) row.history[0] = { ...row.history[0], dice: 0.123 }
    const { findings } = await verifyStore(store, { decisions: true })
    expect(findings).toEqual([
      {
        law: 'a decision follows from its inputs',
        run: 'r4',
        found: 'attempt 1 of generation 1 comes out different in at, why',
      },
    ])
  })
})

describe('export', () => {
  test('holds the run, its attempts, its journal and its notes, without secrets', async () => {
    const { reprise, store, work, filterOptions } = bench()
    const task = reprise.task('ask', {}, async (_, ctx) => {
      await ctx.call('model', ({ cost }) => {
        cost(0.01)
        return { text: 'fine', apiKey: 'hunter2 and more', note: 'Bearer abcdefghijklmnop' }
      })
    })
    await reprise.submit(task, {
      password: 'correct horse battery',
      url: 'postgres://app:s3cretpw@db/x',
      nested: [{ token: 'abc' }],
    })
    await work()
    await retryRuns(store, { ids: ['r1'] }, { by: 'ann' })
    const records = []
    for await (const record of exportRuns(store, parseFilter('', filterOptions()))) records.push(record)
    expect(records).toMatchObject([
      {
        run: { id: 'r1', input: { password: '***', url: 'postgres://***@db/x', nested: [{ token: '***' }] } },
        journal: [
          {
            generation: 1,
            name: 'model',
            takes: 1,
            token: 1,
            answer: { text: 'fine', apiKey: '***', note: 'Bearer ***' },
          },
        ],
      },
    ])
    expect(JSON.stringify(records)).not.toMatch(/horse|s3cret|hunter2|abcdefghij/)
  })
})
