/**
 * `pulse` of the memory driver: since when runs could have been claimed, all of them.
 * It changes nothing: what is due or lapsed is only told.
 */
import type { Pulse, PulseQuery } from '../../ports/store.ts'
import { covers } from '../../run/hold.ts'
import { current } from './holds.ts'
import type { Row, Tables } from './rows.ts'

export function pulse(tables: Tables, { stuckAfterMs }: PulseQuery, now: number): Pulse {
  const holds = [...tables.holds.values()].flatMap((hold) => current(tables, hold, now) ?? [])
  const tasks = new Map<string, { oldestAt: number; stuck: number }>()
  for (const row of tables.open) {
    const since = claimableSince(row, now)
    if (since === undefined || holds.some(({ what }) => covers(what, row.lane))) continue
    const { oldestAt, stuck } = tasks.get(row.lane.task) ?? { oldestAt: since, stuck: 0 }
    const isStuck = now - since > stuckAfterMs
    tasks.set(row.lane.task, { oldestAt: Math.min(oldestAt, since), stuck: stuck + (isStuck ? 1 : 0) })
  }
  return { now, tasks: [...tasks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([task, told]) => ({ task, ...told })) }
}

function claimableSince({ state, lease, dueAt, readyAt }: Row, now: number): number | undefined {
  if (lease && lease.until > now) return undefined
  if (dueAt !== undefined) return dueAt <= now ? dueAt : undefined
  if (state !== 'ready') return undefined
  return lease ? lease.until : readyAt
}
