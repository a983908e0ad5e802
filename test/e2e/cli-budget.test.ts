/**
 * `reprise budget` on a store with a known past: what it shows, what it sets, and every way in which it is refused.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import { createReprise } from '../../src/engine/reprise.ts'
import type { Store } from '../../src/ports/store.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'

/** 2026-11-10T12:00:00Z */
const NOON = Date.UTC(2026, 10, 10, 12)
const CONFIG = `export default { budgets: { mini: { month: { usd: 20 }, zone: 'Europe/Berlin' } } }`

let cwd: string
let store: Store
let clock: ReturnType<typeof virtualClock>

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'reprise-cli-budget-'))
  clock = virtualClock({ startAt: NOON })
  writeFileSync(join(cwd, 'reprise.config.mjs'), CONFIG)
  store = sqlite({ file: join(cwd, 'reprise.db'), clock })
})
afterEach(async () => {
  await store.close()
  rmSync(cwd, { recursive: true, force: true })
})

async function reprise(line: string) {
  const console = fakeConsole({ env: { USER: 'ann' } })
  const exit = await run(line.split(' '), {
    console,
    clock,
    cwd,
    version: '0.1.0',
    interruption: () => new AbortController().signal,
  })
  const { out, err } = console.written
  return { exit, out, err }
}

/** Spends `calls` of 50 a day, one of them under way. */
async function spent(calls: number, onExhausted: 'person' | 'wait' = 'person'): Promise<void> {
  const engine = createReprise({ store, clock, budgets: { pro: { day: 50, month: { usd: 10 }, onExhausted } } })
  const task = engine.task('t', {}, (_input, ctx) =>
    ctx.call('ask', ({ cost }) => cost(0.01), { budget: { name: 'pro', usdMax: 0.02 } }),
  )
  await engine.submitMany(Array.from({ length: calls }, (_, n) => [task, n] as const))
  const worker = engine.work()
  await worker.idle()
  await worker.stop()
}

describe('reprise budget', () => {
  test('without any: says that nothing is limited; configured ones are shown before they are used', async () => {
    writeFileSync(join(cwd, 'reprise.config.mjs'), 'export default {}')
    await store.count({})
    expect((await reprise('budget')).out + (await reprise('budget')).err).toContain('No budget.')
    writeFileSync(join(cwd, 'reprise.config.mjs'), CONFIG)
  })

  test('shows used, limit, share and how long it lasts', async () => {
    await spent(20)
    expect((await reprise('budget')).out.split('\n')).toEqual([
      'budget  per     used   limit        at this pace',
      'mini    month  $0.00  $20.00   0 %  nothing used yet',
      'pro     day       20      50  40 %  lasts: about 40 by 00:00 UTC',
      '        month  $0.20  $10.00   2 %  lasts: about $0.63 by 1 Dec',
      '',
    ])
  })

  test('tells when it is empty at this pace, and what happens then', async () => {
    await spent(30)
    expect((await reprise('budget show pro')).out).toContain('empty at 20:00, then to a person')
    await spent(20)
    expect((await reprise('budget show pro')).out).toContain('empty: to a person until 00:00 UTC')
  })

  test('set wins over the defined limits, is told as such and is noted; clear takes it back', async () => {
    await spent(20)
    const { exit, out, err } = await reprise('budget set pro --day 80')
    expect([exit, err]).toEqual([0, ''])
    expect(out).toContain('pro has its new limits from the next call on.')
    expect(out).toMatch(/pro \* +day +20 +80 +25 %/)
    expect(out).toContain('* pro: limits set by ann at 12:00 UTC.')
    expect((await store.notes({})).at(-1)).toMatchObject({ by: 'ann', what: 'budget.set' })
    await reprise('budget set pro --clear')
    expect((await reprise('budget show pro --json')).out).toContain('"limit":50')
  })

  test('set below what is used says so first, and does it only with --yes', async () => {
    await spent(20)
    const { exit, out, err } = await reprise('budget set pro --day 20')
    expect(exit).toBe(1)
    expect(out + err).toContain(
      '20 are used already. The cap would stop all calls until 00:00 UTC. Nothing has changed yet. Add `--yes` to set it.',
    )
    expect((await store.budgets()).budgets[0]?.set).toBeUndefined()
    expect((await reprise('budget set pro --day 20 --yes')).exit).toBe(0)
    expect((await store.budgets()).budgets[0]?.set).toMatchObject({ limits: { day: { calls: 20 } }, by: 'ann' })
  })

  test.each([
    ['budget stop', 'not a verb of budget'],
    ['budget set', 'There is no budget to set.'],
    ['budget set pro', 'There is no limit to set.'],
    ['budget set pro --clear --day 3', '--clear takes no limits.'],
    ['budget set pro --day many', '--day many is not allowed.'],
    ['budget set nope --day 3', 'There is no budget "nope". Allowed: mini, pro.'],
    ['budget show nope', 'There is no budget'],
  ])('%s is refused and says what is allowed', async (line, says) => {
    await spent(1)
    const { exit, err } = await reprise(line)
    expect(exit).toBe(2)
    expect(err.replace(/\s+/g, ' ')).toContain(says)
    expect((await store.budgets()).budgets[0]?.set).toBeUndefined()
  })
})
