/**
 * A worker whose every run sends one billable request under a hard budget: `node test/chaos/budget-process.ts '<BudgetSetup as JSON>'`.
 * It says on stdout when it is ready; the only one who counts is the provider that it sends to.
 */
import { createReprise } from '../../src/engine/reprise.ts'
import { defineTask } from '../../src/engine/task.ts'
import type { OnExhausted } from '../../src/ports/budget.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'

export interface BudgetSetup {
  /** The store's file. */
  readonly file: string
  /** The provider's address. */
  readonly url: string
  readonly limit: number
  readonly onExhausted: OnExhausted
  readonly leaseMs: number
  readonly pollMs: number
  /** How far the host's clock is ahead of the real one. */
  readonly aheadMs: number
  /** Each SIGUSR2 sets it so much further ahead. */
  readonly leapMs: number
}

export const BUDGET_TASK = defineTask<{ readonly n: number }>({ name: 'billed' })

/** A host's clock that was set ahead, and may be set further. */
export function clockAhead(aheadMs: number): Clock & { leap(ms: number): void } {
  let ahead = aheadMs
  return {
    ...systemClock,
    now: () => systemClock.now() + ahead,
    leap: (ms) => {
      ahead += ms
    },
  }
}

const text = process.argv[2]
if (text !== undefined) work(JSON.parse(text) as BudgetSetup)

function work({ file, url, limit, onExhausted, leaseMs, pollMs, aheadMs, leapMs }: BudgetSetup): void {
  const clock = clockAhead(aheadMs)
  const budgets = { pro: { day: limit, month: 10 * limit, onExhausted } }
  const reprise = createReprise({ store: sqlite({ file, clock, watchMs: 0 }), clock, budgets })
  reprise.handle(BUDGET_TASK, ({ n }, ctx) =>
    ctx.call(
      'ask',
      async ({ signal, take }) => {
        const answer = await fetch(`${url}?run=${ctx.run}&take=${take}&pid=${process.pid}&n=${n}`, { signal })
        return answer.text()
      },
      { budget: { name: 'pro' }, timeout: 10_000 },
    ),
  )
  // One at a time: then a process that is killed can have left one reservation behind at most.
  reprise.work({ concurrency: 1, leaseMs, pollMs })
  process.on('SIGUSR2', () => clock.leap(leapMs))
  process.once('SIGTERM', () => {
    reprise.close().then(() => process.exit(0))
  })
  process.stdout.write('ready\n')
}
