/**
 * `pulse`: since when runs could have been claimed, lane by lane from the front, each lane a bounded number of runs deep.
 * It reads by the indexes of claims and changes nothing: what is due or lapsed is only told, a claim does something about it.
 */
import type { Pulse, PulseQuery } from '../../ports/store.ts'
import { covers } from '../../run/hold.ts'
import { turn } from '../../time/clock.ts'
import { HOLDS_SQL, holdsAsTheyStand, type LaneRow } from './holds.ts'
import type { Readers } from './read.ts'
import { laneOf } from './row.ts'
import { READY, SQL, SUSPECT } from './statements.ts'

/** Twice what the gravest threshold asks about. */
const RUNS_PER_LANE_MAX = 2_000
/** Over all lanes: some ten milliseconds, in which others may run between two lanes. */
const RUNS_MAX = 20_000

const since = (from: string) => `SELECT min(since) AS oldest, count(*) FILTER (WHERE since < ?) AS stuck FROM (
    SELECT coalesce(ready_at, submitted_at) AS since FROM ${from} AND lane = ? ORDER BY place, id LIMIT 0 + ?)`

export const PULSE_SQL = {
  readyLanes: SQL.readyHeads.text,
  suspectLanes: SQL.suspectHeads.text,
  ready: since(READY),
  suspects: since(SUSPECT),
  /** A person's lease that ended by itself keeps nobody from a review that is overdue. */
  due: `SELECT lane, due_at AS since FROM reprise_run INDEXED BY reprise_due
    WHERE due_at <= ? AND (lease IS NULL OR lease_until <= ?) ORDER BY due_at LIMIT 0 + ?`,
  lapsed: `SELECT lane, lease_until AS since FROM reprise_run INDEXED BY reprise_leased
    WHERE lease_until <= ? AND state = 1 ORDER BY lease_until LIMIT 0 + ?`,
} as const

export async function pulse(readers: Readers, { stuckAfterMs }: PulseQuery, now: number): Promise<Pulse> {
  const holds = holdsAsTheyStand(readers, now)
  const taskOf = new Map<number, string>()
  for (const row of readers.all<LaneRow>(HOLDS_SQL.lanes)) {
    const lane = laneOf(row)
    if (!holds.some(({ what }) => covers(what, lane))) taskOf.set(row.id, lane.task)
  }
  const tasks = new Map<string, { oldestAt: number; stuck: number }>()
  const add = (lane: number, oldest: number, stuck: number) => {
    const task = taskOf.get(lane)
    if (task === undefined) return
    const known = tasks.get(task) ?? { oldestAt: oldest, stuck: 0 }
    tasks.set(task, { oldestAt: Math.min(known.oldestAt, oldest), stuck: known.stuck + stuck })
  }
  const before = now - stuckAfterMs
  for (const [heads, front] of [
    [PULSE_SQL.readyLanes, PULSE_SQL.ready],
    [PULSE_SQL.suspectLanes, PULSE_SQL.suspects],
  ] as const) {
    const lanes = readers.all<{ lane: number }>(heads).filter(({ lane }) => taskOf.has(lane))
    const depth = Math.max(1, Math.min(RUNS_PER_LANE_MAX, Math.floor(RUNS_MAX / lanes.length)))
    for (const { lane } of lanes) {
      const [found] = readers.all<{ oldest: number | null; stuck: number }>(front, before, lane, depth)
      if (found && found.oldest !== null) add(lane, found.oldest, found.stuck)
      await turn()
    }
  }
  const rows = [
    ...readers.all<{ lane: number; since: number }>(PULSE_SQL.due, now, now, RUNS_PER_LANE_MAX),
    ...readers.all<{ lane: number; since: number }>(PULSE_SQL.lapsed, now, RUNS_PER_LANE_MAX),
  ]
  for (const { lane, since: at } of rows) add(lane, at, at < before ? 1 : 0)
  return { now, tasks: [...tasks].sort(([a], [b]) => (a < b ? -1 : 1)).map(([task, told]) => ({ task, ...told })) }
}
