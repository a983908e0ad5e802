/**
 * What the store holds, read when somebody looks: runs by state, holds and how long they have lasted, budgets.
 * Reads are shared by all who look within a few seconds, because a page that is scraped must not become a load of its own.
 */
import { Gauge, type Registry } from 'prom-client'
import type { BudgetWindowView } from '../../ports/budget.ts'
import type { Pulse, Store } from '../../ports/store.ts'
import type { Clock } from '../../time/clock.ts'
import { boundedLabel } from './bounded-label.ts'

/** Scrapes come every 10 s or more; two servers that scrape the same worker share a read. */
const FRESH_MS = 5_000
const TASKS_MAX = 100
const RESOURCES_MAX = 100
const BUDGETS_MAX = 100

/** Ended runs are told by counters: counting millions of them at each scrape would grow with history. */
const OPEN = ['blocked', 'ready', 'running', 'waiting', 'review'] as const

interface GaugeOptions {
  readonly clock: Clock
  readonly stuckAfterMs: number
}

export function storeGauges(register: Registry, store: Store, { clock, stuckAfterMs }: GaugeOptions): void {
  const task = boundedLabel(TASKS_MAX)
  const resource = boundedLabel(RESOURCES_MAX)
  const budget = boundedLabel(BUDGETS_MAX)
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<void> | undefined

  // Each collects by itself because the registry asks all of them at once; they share one read.
  const gauge = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Gauge({ name: `reprise_${name}`, help, labelNames: [...labelNames], registers: [register], collect: fresh })

  const up = gauge('store_up', '1 while the store answers.', [])
  const runs = gauge('runs', 'Open runs, by task and state.', ['task', 'state'])
  const oldest = gauge('oldest_waiting_seconds', 'Since when a run could have been claimed and was not, holds apart.', [
    'task',
  ])
  const stuck = gauge('stuck_runs', 'Runs that could have been claimed for longer than the stuck age, up to a bound.', [
    'task',
  ])
  const held = gauge('held_runs', 'Runs that are ready and wait for a hold, counted up to 10,000.', ['what'])
  const holdSeconds = gauge('hold_seconds', 'Since when a hold lasts.', ['what'])
  const used = gauge('budget_used_ratio', 'Spent and reserved of a limit, 1 when it is used up.', [
    'budget',
    'window',
    'unit',
  ])

  async function fresh(): Promise<void> {
    if (clock.monotonic() - readAt < FRESH_MS) return
    reading ??= read().finally(() => {
      reading = undefined
    })
    await reading
  }

  async function read(): Promise<void> {
    try {
      const [counts, pulse, { now, holds }, { budgets }] = await Promise.all([
        store.count({ states: OPEN }),
        store.pulse({ stuckAfterMs }),
        store.holds(),
        store.budgets(),
      ])
      runs.reset()
      for (const { task: name, state, runs: many } of counts) runs.inc({ task: task(name), state }, many)
      oldest.reset()
      stuck.reset()
      tellPulse(pulse)
      held.reset()
      holdSeconds.reset()
      for (const { what, setAt, waiting } of holds) {
        const name = resource(what)
        held.inc({ what: name }, waiting)
        holdSeconds.set({ what: name }, Math.max(0, now - setAt) / 1_000)
      }
      used.reset()
      for (const { name, windows } of budgets) for (const { window, use } of windows) tellUse(budget(name), window, use)
      up.set(1)
      readAt = clock.monotonic()
    } catch {
      // The scrape itself answers: a store that is down is a fact to be told, and the numbers of before would be wrong.
      up.set(0)
      for (const each of [runs, oldest, stuck, held, holdSeconds, used]) each.reset()
    }
  }

  /** Tasks beyond the bound share a label: the longest wait among them counts. */
  function tellPulse({ now, tasks }: Pulse): void {
    const longestMs = new Map<string, number>()
    for (const { task: name, oldestAt, stuck: many } of tasks) {
      const label = task(name)
      longestMs.set(label, Math.max(longestMs.get(label) ?? 0, now - oldestAt))
      stuck.inc({ task: label }, many)
    }
    for (const [label, ms] of longestMs) oldest.set({ task: label }, ms / 1_000)
  }

  function tellUse(name: string, window: string, use: BudgetWindowView['use']): void {
    for (const unit of ['calls', 'usd'] as const) {
      const { spent, reserved, limit } = use[unit]
      // A limit of 0 lets nothing in: used up from the start.
      if (limit !== undefined) used.set({ budget: name, window, unit }, limit === 0 ? 1 : (spent + reserved) / limit)
    }
  }
}
