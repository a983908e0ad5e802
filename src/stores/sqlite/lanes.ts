/**
 * The lanes and holds of the file, known by heart: which number a lane has, and which lanes a worker serves.
 * Another process may change both, so they are checked by their versions at the start of each transaction.
 */
import type { Hold, HoldTarget } from '../../run/hold.ts'
import type { RetryBucket } from '../../run/retry-bucket.ts'
import type { Lane } from '../../run/run.ts'
import type { Connection, Statement } from './connection.ts'
import { laneOf } from './row.ts'
import type { Statements } from './statements.ts'

interface LaneRow {
  readonly id: number
  readonly task: string
  readonly category: string | null
  readonly resource: string | null
  readonly again: number
  readonly keyed: number
}

/** What sets a lane apart from another of the same task, category and resource. */
export interface LaneKind {
  readonly again?: boolean
  readonly keyed?: boolean
}

/** Filters are few and live as long as their worker; past this the memory of them starts anew. */
const FILTERS_MAX = 1_000

export interface LaneFilter {
  readonly tasks: readonly string[]
  readonly categories?: readonly string[]
}

/** The lanes of a filter, as a list and as a set. */
export interface ServedLanes {
  readonly lanes: readonly number[]
  readonly served: ReadonlySet<number>
}

export class Lanes {
  readonly #statements: Statements
  readonly #all: Statement<LaneRow>
  #version = -1
  readonly #numbers = new Map<string, number>()
  readonly #lanes = new Map<number, Lane>()
  readonly #keyed = new Set<number>()
  #rows: readonly LaneRow[] = []
  readonly #served = new Map<string, ServedLanes>()
  #holdsVersion = -1
  #holds: ReadonlyMap<HoldTarget, Hold> = new Map()
  #buckets: ReadonlyMap<string, RetryBucket> = new Map()

  constructor(connection: Connection, statements: Statements) {
    this.#statements = statements
    this.#all = connection.prepare(
      'SELECT id, task, category, resource, again, keyed FROM reprise_lane',
    ) as Statement<LaneRow>
  }

  /** The number of a lane, made if it is new. Inside a write transaction only. */
  numberOf(lane: Lane, kind: LaneKind = {}): number {
    const name = nameOf(lane, kind)
    const known = this.#numbers.get(name)
    if (known !== undefined) return known
    const { again = false, keyed = false } = kind
    const values = [lane.task, lane.category ?? null, lane.resource ?? null, again ? 1 : 0, keyed ? 1 : 0] as const
    const found = this.#statements.findLane.get(...values)?.id
    const number = found ?? this.#add(again ? -this.numberOf(lane, { keyed }) : null, values)
    this.#numbers.set(name, number)
    return number
  }

  #add(number: number | null, values: readonly [string, string | null, string | null, number, number]): number {
    this.#statements.lanesChanged.run()
    this.#version = -1
    return Number(this.#statements.insertLane.run(number, ...values).lastInsertRowid)
  }

  laneOf(number: number): Lane {
    const known = this.#lanes.get(number)
    if (known) return known
    this.refresh()
    const lane = this.#lanes.get(number)
    if (!lane) throw new RangeError(`lane ${number} is not in the file; run verify`)
    return lane
  }

  /** Lanes that a worker serves, open or not. */
  servedBy({ tasks, categories }: LaneFilter): ServedLanes {
    if (this.#version === -1) this.refresh()
    const name = JSON.stringify([tasks, categories])
    const known = this.#served.get(name)
    if (known) return known
    const lanes = this.#rows
      .filter(
        ({ task, category }) =>
          tasks.includes(task) && (categories === undefined || (category !== null && categories.includes(category))),
      )
      .map(({ id }) => id)
    const found = { lanes, served: new Set(lanes) }
    if (this.#served.size >= FILTERS_MAX) this.#served.clear()
    this.#served.set(name, found)
    return found
  }

  /** By what they hold. */
  get holds(): ReadonlyMap<HoldTarget, Hold> {
    if (this.#holdsVersion === -1) this.refresh()
    return this.#holds
  }

  /** Keeps a hold, or takes it away. Inside a write transaction only. */
  setHold(what: HoldTarget, hold: Hold | undefined): void {
    const holds = new Map(this.holds)
    if (hold) {
      holds.set(what, hold)
      this.#statements.putHold.run(what, JSON.stringify(hold))
    } else {
      holds.delete(what)
      this.#statements.dropHold.run(what)
    }
    this.#holds = holds
    this.#changed()
  }

  /** By resource. */
  get buckets(): ReadonlyMap<string, RetryBucket> {
    if (this.#holdsVersion === -1) this.refresh()
    return this.#buckets
  }

  /** Keeps a bucket, or takes it away. Inside a write transaction only. */
  setBucket(resource: string, bucket: RetryBucket | undefined): void {
    const buckets = new Map(this.buckets)
    if (bucket) {
      buckets.set(resource, bucket)
      this.#statements.putBucket.run(resource, JSON.stringify(bucket))
    } else {
      buckets.delete(resource)
      this.#statements.dropBucket.run(resource)
    }
    this.#buckets = buckets
    this.#changed()
  }

  #changed(): void {
    this.#statements.holdsChanged.run()
    this.#holdsVersion += 1
  }

  /** Whether it is the lane of a resource's retries. */
  isAgain(number: number): boolean {
    return number < 0
  }

  /** Whether it is a lane of runs with concurrency keys. */
  isKeyed(number: number): boolean {
    if (this.#version === -1) this.refresh()
    return this.#keyed.has(number)
  }

  get anyKeyed(): boolean {
    if (this.#version === -1) this.refresh()
    return this.#keyed.size > 0
  }

  /** Reads what anyone has changed. */
  refresh(): void {
    const { lanes, holds } = this.#statements.versions.get() ?? { lanes: 0, holds: 0 }
    if (lanes !== this.#version) this.#readLanes(lanes)
    if (holds === this.#holdsVersion) return
    const all = this.#statements.allHolds.all().map(({ hold }) => JSON.parse(hold) as Hold)
    this.#holds = new Map(all.map((hold) => [hold.what, hold]))
    const buckets = this.#statements.allBuckets.all().map(({ bucket }) => JSON.parse(bucket) as RetryBucket)
    this.#buckets = new Map(buckets.map((bucket) => [bucket.resource, bucket]))
    this.#holdsVersion = holds
  }

  #readLanes(version: number): void {
    this.#rows = this.#all.all()
    this.#served.clear()
    for (const row of this.#rows) {
      const lane = laneOf(row)
      this.#lanes.set(row.id, lane)
      if (row.keyed === 1) this.#keyed.add(row.id)
      this.#numbers.set(nameOf(lane, { again: row.again === 1, keyed: row.keyed === 1 }), row.id)
    }
    this.#version = version
  }

  /** Of every lane there is. */
  numbers(): Iterable<number> {
    if (this.#version === -1) this.refresh()
    return this.#lanes.keys()
  }

  /** A transaction was rolled back: lanes and holds that it made are gone. */
  forget(): void {
    this.#version = -1
    this.#holdsVersion = -1
    this.#numbers.clear()
    this.#lanes.clear()
    this.#keyed.clear()
    this.#served.clear()
  }
}

/** The common lane is a task alone; no other name begins with a bracket. */
function nameOf({ task, category, resource }: Lane, { again = false, keyed = false }: LaneKind): string {
  if (category === undefined && resource === undefined && !again && !keyed && !task.startsWith('[')) return task
  return JSON.stringify([task, category ?? null, resource ?? null, again, keyed])
}
