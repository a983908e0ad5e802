/**
 * The lanes of the file, known by heart: which number a lane has, and which lanes a worker's claim may take from.
 * Another process may add or close lanes, so the list is checked by its version before each claim.
 */
import type { Lane } from '../../run/run.ts'
import type { Connection, Statement } from './connection.ts'
import { laneOf } from './row.ts'
import type { Statements } from './statements.ts'

interface LaneRow {
  readonly id: number
  readonly task: string
  readonly category: string | null
  readonly resource: string | null
  readonly held_until: number | null
  readonly paused: number
}

/** Filters are few and live as long as their worker; past this the memory of them starts anew. */
const FILTERS_MAX = 1_000

export interface LaneFilter {
  readonly tasks: readonly string[]
  readonly categories?: readonly string[]
}

export interface OpenLanes {
  readonly lanes: readonly number[]
  readonly served: ReadonlySet<number>
  readonly opensAt?: number
}

/** What a filter comes to: all its lanes, and apart the rows of those that are or were held or paused. */
interface Served {
  readonly rows: readonly LaneRow[]
  readonly ids: readonly number[]
  readonly served: ReadonlySet<number>
}

export class Lanes {
  readonly #statements: Statements
  readonly #all: Statement<LaneRow>
  #version = -1
  readonly #numbers = new Map<string, number>()
  readonly #lanes = new Map<number, Lane>()
  #rows: readonly LaneRow[] = []
  readonly #served = new Map<string, Served>()

  constructor(connection: Connection, statements: Statements) {
    this.#statements = statements
    this.#all = connection.prepare(
      'SELECT id, task, category, resource, held_until, paused FROM reprise_lane',
    ) as Statement<LaneRow>
  }

  /** The number of a lane, made if it is new. Inside a write transaction only. */
  numberOf(lane: Lane): number {
    const name = nameOf(lane)
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const values = [lane.task, lane.category ?? null, lane.resource ?? null] as const
    const found = this.#statements.findLane.get(...values)?.id ?? this.#add(values)
    this.#numbers.set(name, found)
    return found
  }

  #add(values: readonly [string, string | null, string | null]): number {
    this.#statements.lanesChanged.run()
    return Number(this.#statements.insertLane.run(...values).lastInsertRowid)
  }

  laneOf(number: number): Lane {
    const known = this.#lanes.get(number)
    if (known) return known
    this.refresh()
    const lane = this.#lanes.get(number)
    if (!lane) throw new RangeError(`lane ${number} is not in the file; run verify`)
    return lane
  }

  /** Lanes that a worker serves and that are open now, and when the first of the others opens by itself. */
  open(filter: LaneFilter, now: number): OpenLanes {
    const { rows, ids, served } = this.#servedBy(filter)
    // Hardly ever is a lane closed, and then the list is the one that was made before.
    if (rows.length === 0) return { lanes: ids, served }
    const shut = rows.filter(({ paused, held_until: until }) => paused !== 0 || (until !== null && until > now))
    const shutIds = new Set(shut.map(({ id }) => id))
    const opensAt = Math.min(
      ...shut.flatMap(({ paused, held_until: until }) => (paused === 0 && until !== null ? until : [])),
    )
    return {
      lanes: ids.filter((id) => !shutIds.has(id)),
      served,
      ...(Number.isFinite(opensAt) ? { opensAt } : {}),
    }
  }

  #servedBy({ tasks, categories }: LaneFilter): Served {
    const name = JSON.stringify([tasks, categories])
    const known = this.#served.get(name)
    if (known) return known
    const rows = this.#rows.filter(
      ({ task, category }) =>
        tasks.includes(task) && (categories === undefined || (category !== null && categories.includes(category))),
    )
    const ids = rows.map(({ id }) => id)
    const closable = rows.filter(({ held_until, paused }) => held_until !== null || paused !== 0)
    const found = { rows: closable, ids, served: new Set(ids) }
    if (this.#served.size >= FILTERS_MAX) this.#served.clear()
    this.#served.set(name, found)
    return found
  }

  /** Reads the list again if anyone has changed it. */
  refresh(): void {
    const version = this.#statements.lanesVersion.get()?.value ?? 0
    if (version === this.#version) return
    this.#rows = this.#all.all()
    this.#served.clear()
    for (const row of this.#rows) {
      const lane = laneOf(row)
      this.#lanes.set(row.id, lane)
      this.#numbers.set(nameOf(lane), row.id)
    }
    this.#version = version
  }

  /** A transaction was rolled back: lanes that it made are gone. */
  forget(): void {
    this.#version = -1
    this.#numbers.clear()
    this.#lanes.clear()
    this.#served.clear()
  }
}

/** The common lane is a task alone; nothing else begins with a bracket. */
function nameOf({ task, category, resource }: Lane): string {
  if (category === undefined && resource === undefined && !task.startsWith('[')) return task
  return JSON.stringify([task, category ?? null, resource ?? null])
}
