import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import type { Committed, RunView, Store } from '../../src/ports/store.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { type Call, CallScript, callOn } from './call-script.fixtures.ts'

const SEEDS = Number(process.env['REPRISE_TEST_DIFFERENTIAL_SEEDS'] ?? 80)
const TURNS = 45

/** One seed by itself: `REPRISE_TEST_SEED=17 npx vitest run test/contract/differential.test.ts`. */
const only = process.env['REPRISE_TEST_SEED']
const seeds = only === undefined ? Array.from({ length: SEEDS }, (_, index) => index + 1) : [Number(only)]

const folder = mkdtempSync(join(tmpdir(), 'reprise-differential-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const seen: Record<string, number> = {}

describe('memory and SQLite answer alike', () => {
  test.each(seeds)('seed %i', async (seed) => {
    const clock = virtualClock()
    const reference = memory({ clock })
    const store = sqlite({ file: join(folder, `${seed}.db`), clock, durability: 'process' })
    if (seed % 2 === 0) for (const each of [reference, store]) await failingFlash(each, clock.now())
    const script = new CallScript(seed, reference, clock.now())
    let made = 0
    for (let turn = 0; turn < TURNS; turn += 1) {
      await clock.advance(script.pauseMs(clock.now()))
      const calls = await script.calls()
      const [expected, actual] = await Promise.all([answersOf(reference, calls), answersOf(store, calls)])
      const where = () => `seed ${seed}, turn ${turn}: ${JSON.stringify(calls)}`
      expectAlike(actual, expected, where)
      const held = await reference.holds()
      expectAlike(await store.holds(), held, where)
      const pulse = await reference.pulse({ stuckAfterMs: 5_000 })
      expectAlike(await store.pulse({ stuckAfterMs: 5_000 }), pulse, () => `seed ${seed}, turn ${turn}: pulse`)
      if (pulse.tasks.some(({ stuck }) => stuck > 0)) seen['stuck'] = (seen['stuck'] ?? 0) + 1
      const budgets = await reference.budgets()
      expectAlike(await store.budgets(), budgets, where)
      const waiting = await reference.find({ states: ['waiting'], limit: 100 })
      if (waiting.runs.some(({ dueAt }) => dueAt === undefined)) seen['parked'] = (seen['parked'] ?? 0) + 1
      if (held.holds.some(({ phase }) => phase === 'admitting')) seen['ramp'] = (seen['ramp'] ?? 0) + 1
      for (const [index, call] of calls.entries()) {
        script.learn(call, expected[index])
        tally(call, expected[index])
      }
      made += calls.length
    }
    expect(made).toBeGreaterThan(TURNS)
    expect(await everythingIn(store), `seed ${seed}, at the end`).toEqual(await everythingIn(reference))
    expect(await store.verify(), `seed ${seed}: verify`).toEqual([])
    expect(await reference.verify(), `seed ${seed}: verify of memory`).toEqual([])
    await store.close()
  })

  test('the scripts reached what they are for', () => {
    console.log(seen)
    if (only !== undefined) return
    const places = [
      'conflict',
      'created',
      'lost',
      'ok',
      'claimed',
      'suspect',
      'lapsed',
      'nothing',
      'lostLease',
      'pruned',
      'keys',
      'probe',
      'ramp',
      'taken',
      'untaken',
      'parked',
      'stuck',
      'over',
      'warned',
      'overshot',
    ]
    for (const place of [...places, 'unblocked', 'endedByNeed', 'skipped', 'joined', 'begunAgain', 'spared'])
      expect(seen[place], place).toBeGreaterThan(SEEDS / 10)
  })
})

/** Tens of thousands of answers are compared, and only a difference is worth its telling. */
function expectAlike(actual: unknown, expected: unknown, where: () => string): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual, where()).toEqual(expected)
}

/** A resource that is known to fail from the start, with retries that wait for their turn. */
async function failingFlash(store: Store, now: number): Promise<void> {
  await store.create(Array.from({ length: 20 }, () => ({ task: 't', resource: 'flash', input: '1', priority: 0 })))
  const request = { worker: 'w0', nonce: 'storm', limit: 20, leaseMs: 1_000, alone: false, tasks: ['t'] }
  const { runs, token } = await store.claim(request)
  for (const { id: run } of runs)
    await store.commit({ type: 'end', run, token, state: 'waiting', dueAt: now + 1, suspensions: 1, trouble: 'flash' })
}

const answersOf = (store: Store, calls: readonly Call[]): Promise<unknown[]> =>
  Promise.all(calls.map((call) => callOn(store, call)))

/** Every row that a reader can reach. */
async function everythingIn(store: Store): Promise<unknown> {
  const runs: RunView[] = []
  let cursor: string | undefined
  do {
    const page = await store.find({ limit: 7, ...(cursor === undefined ? {} : { cursor }) })
    runs.push(...page.runs)
    cursor = page.cursor
  } while (cursor !== undefined)
  const ofRuns = await Promise.all(
    runs.map(async ({ id, generation }) => [
      await store.attempts(id),
      await Promise.all(Array.from({ length: generation }, (_, index) => store.journal(id, index + 1))),
      await store.notes({ run: id }),
      await store.links(id),
      await store.flow({ id }),
    ]),
  )
  const filtered = await Promise.all(
    [
      { states: ['running'] },
      { states: ['ready'] },
      { code: 'http.*' },
      { code: 'a%b' },
      { key: 'k1' },
      { categories: [''] },
    ].map(async (query) =>
      (await store.find({ ...query, limit: 100 } as Parameters<Store['find']>[0])).runs.map(({ id }) => id),
    ),
  )
  return {
    runs,
    ofRuns,
    filtered,
    notes: await store.notes({}),
    holds: await store.holds(),
    budgets: await store.budgets(),
    count: await store.count({}),
  }
}

function tally(call: Call, answer: unknown): void {
  const text = JSON.stringify(answer) ?? ''
  const moved = JSON.stringify((answer as Committed | undefined)?.moved) ?? ''
  const places = {
    conflict: text.includes('"conflict"'),
    created: text.includes('"created":true'),
    lost: text.includes('"answer":"lost"'),
    ok: text.includes('"answer":"ok"'),
    claimed: call.verb === 'claim' && !text.includes('"runs":[]'),
    nothing: call.verb === 'claim' && text.includes('"runs":[]'),
    suspect: text.includes('"suspects":true'),
    lapsed: text.includes('"lapsed":{'),
    counted: text.includes('"counted":true}'),
    unblocked: moved.includes('"state":"ready"'),
    endedByNeed: moved.includes('end.need_failed'),
    skipped: moved.includes('run.skipped'),
    begunAgain: moved.includes('run.again'),
    joined: text.includes('"answer":"ok"') && JSON.stringify(call.args).includes('"join":'),
    probe: text.includes('"probes":['),
    spared: call.verb === 'commit' && text.includes('are left'),
    lostLease: text.includes('"lost":["'),
    pruned: text.includes('"pruned":["'),
    taken: call.verb === 'take' && text.includes('"answer":"ok"'),
    untaken: call.verb === 'take' && text.includes('"answer":"lost"'),
    over: text.includes('"answer":"over"'),
    warned: text.includes('"warned":['),
    overshot: text.includes('"overshot":['),
    keys: call.verb === 'prune' && !text.includes('"keys":0'),
  }
  for (const [place, reached] of Object.entries(places)) if (reached) seen[place] = (seen[place] ?? 0) + 1
}
