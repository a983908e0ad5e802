/**
 * Any interleaving of reservations, settlements, expiries, new limits and turning days, on both drivers and beside a ledger that is
 * nothing but a list: nothing is ever let in above its limit, nothing is refused that fits, and both count alike.
 */

import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Reserve } from '../../src/ports/budget.ts'
import type { Store } from '../../src/ports/store.ts'
import { newRun } from '../../src/testing/store-contract/world.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import type { Clock } from '../../src/time/clock.ts'
import { openMemory } from './memory-store.fixtures.ts'
import { SqliteFiles } from './sqlite-store.fixtures.ts'

const HOUR_MS = 3_600_000
const LASTS_MS = 10 * 60_000
const LIMITS = { calls: 6, usd: 2 }

type Step =
  | { readonly does: 'reserve'; readonly cents: number }
  | {
      readonly does: 'settle'
      readonly which: number
      readonly how: 'spend' | 'release'
      readonly cents: number | undefined
    }
  | { readonly does: 'pass'; readonly minutes: number }
  | { readonly does: 'set'; readonly calls: number | undefined; readonly cents: number | undefined }

const cents = fc.integer({ min: 0, max: 120 })

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('reserve' as const), cents }) },
    {
      weight: 5,
      arbitrary: fc.record({
        does: fc.constant('settle' as const),
        which: fc.nat(20),
        how: fc.constantFrom('spend' as const, 'spend' as const, 'release' as const),
        cents: fc.option(cents, { nil: undefined }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ does: fc.constant('pass' as const), minutes: fc.constantFrom(1, 9, 11, 60, 600, 1_440) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constant('set' as const),
        calls: fc.option(fc.nat(10), { nil: undefined }),
        cents: fc.option(fc.nat(300), { nil: undefined }),
      }),
    },
  ),
  { minLength: 1, maxLength: 40 },
)

/** The plainest ledger: every reservation with what it came to. */
interface Entry {
  readonly day: string
  cents: number
  readonly until: number
  state: 'reserved' | 'spent' | 'released'
}

class Ledger {
  readonly entries: Entry[] = []
  calls: number | undefined
  cents: number | undefined

  admits(now: number, wanted: number): boolean {
    const { calls, cents: money } = this.given(now)
    const fitsCalls = calls + 1 <= (this.calls ?? LIMITS.calls)
    return fitsCalls && (wanted === 0 || money + wanted <= (this.cents ?? LIMITS.usd * 100))
  }

  given(now: number): { calls: number; cents: number } {
    const mine = this.entries.filter(({ day, state }) => day === dayOf(now) && state !== 'released')
    return { calls: mine.length, cents: mine.reduce((sum, entry) => sum + entry.cents, 0) }
  }

  settle(which: number, how: 'spend' | 'release', cost: number | undefined, now: number): void {
    const entry = this.entries[which]
    if (entry?.state !== 'reserved') return
    const isLate = now >= entry.until
    if (how === 'release' && !isLate) entry.state = 'released'
    else {
      entry.state = 'spent'
      const told = how === 'release' ? undefined : cost
      entry.cents = isLate ? Math.max(entry.cents, told ?? 0) : (told ?? entry.cents)
    }
  }
}

const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

const reserveOf = (usd: number): Reserve => ({
  budget: 'pro',
  zone: 'UTC',
  limits: { day: LIMITS },
  onExhausted: 'person',
  warnAt: [0.8, 1],
  calls: 1,
  usd,
  lastsMs: LASTS_MS,
})

async function follows(open: (clock: Clock) => { readonly store: Store }, script: readonly Step[]): Promise<void> {
  const clock = virtualClock({ startAt: Date.UTC(2026, 10, 10, 22) })
  const { store } = open(clock)
  const ledger = new Ledger()
  await store.create([newRun()])
  const claimed = { worker: 'w', nonce: 'n', limit: 1, leaseMs: 900 * HOUR_MS, alone: true, tasks: ['t'] }
  const { runs, token } = await store.claim(claimed)
  const call = (take: number) => ({ run: runs[0]?.id ?? '', token, generation: 1, name: 'c', inputHash: '', take })
  try {
    for (const step of script) {
      const now = clock.now()
      if (step.does === 'pass') await clock.advance(step.minutes * 60_000)
      else if (step.does === 'reserve') {
        const take = ledger.entries.length + 1
        const fits = ledger.admits(now, step.cents)
        const { answer } = await store.commit({ type: 'intent', ...call(take), reserve: [reserveOf(step.cents / 100)] })
        expect(answer).toBe(fits ? 'ok' : 'over')
        if (fits) ledger.entries.push({ day: dayOf(now), cents: step.cents, until: now + LASTS_MS, state: 'reserved' })
      } else if (step.does === 'settle') {
        const costUsd = step.cents === undefined ? {} : { costUsd: step.cents / 100 }
        ledger.settle(step.which, step.how, step.cents, now)
        await store.commit({ type: 'answer', ...call(step.which + 1), answer: '1', settle: step.how, ...costUsd })
      } else {
        ledger.calls = step.calls
        ledger.cents = step.cents
        const usd = step.cents === undefined ? {} : { usd: step.cents / 100 }
        const limits = { day: { ...(step.calls === undefined ? {} : { calls: step.calls }), ...usd } }
        await store.setBudget({ budget: 'pro', limits, by: 'ann' })
      }
      const use = (await store.budgets()).budgets[0]?.windows[0]?.use
      const { calls, cents: money } = ledger.given(clock.now())
      expect([
        (use?.calls.spent ?? 0) + (use?.calls.reserved ?? 0),
        Math.round(((use?.usd.spent ?? 0) + (use?.usd.reserved ?? 0)) * 100),
      ]).toEqual([calls, money])
    }
    expect((await store.verify()).filter(({ law }) => law !== 'cost is what the journal settled')).toEqual([])
  } finally {
    await store.close()
  }
}

describe('budgets never exceed, whatever is interleaved', () => {
  const files = new SqliteFiles()
  afterAll(() => files.remove())

  test(
    'in memory',
    () =>
      fc.assert(
        fc.asyncProperty(steps, (script) => follows(openMemory, script)),
        { numRuns: 300 },
      ),
    60_000,
  )

  test(
    'in SQLite',
    () =>
      fc.assert(
        fc.asyncProperty(steps, (script) => follows((clock) => files.open(clock), script)),
        { numRuns: 15 },
      ),
    60_000,
  )
})
