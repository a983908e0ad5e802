/**
 * `createSweep`: looks after documents in collections that other services own. One pass at a time, now or in an interval; any number of
 * sweepers may look after the same collections.
 */
import type { ClassifyOptions } from '../failure/classify.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { createEmitter, type Emitter } from '../observe/emitter.ts'
import type { PolicyInput } from '../policy/complete-policy.ts'
import type { PresetName } from '../policy/presets.ts'
import type { Bus, QueueShape } from '../ports/bus.ts'
import type { Source } from '../ports/source.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { type Collection, type CollectionInput, defineCollection } from './collection.ts'
import { parkedQueue } from './hear-failures.ts'
import { sweepCollection } from './pass.ts'
import { type CollectionReport, newReport, type PassParts, trouble, troubleType } from './pass-parts.ts'

export interface SweepOptions {
  readonly source: Source
  /** Absent: services look for pending documents themselves, and only silence is noticed. */
  readonly bus?: Bus
  readonly collections: readonly CollectionInput[]
  /** For collections without one of their own. */
  readonly policy?: PolicyInput | PresetName
  /** Rules of your own for what services report, asked before the built-in ones. */
  readonly rules?: ClassifyOptions['rules']
  /** An event that its sender did not get rid of within this is sent by another: longer than a bus waits for its broker. @default '2m' */
  readonly sendLease?: Duration
  readonly clock?: Clock
}

export interface PassReport {
  readonly startedAt: number
  readonly endedAt: number
  readonly ms: number
  readonly ok: boolean
  readonly dryRun: boolean
  readonly collections: readonly Readonly<CollectionReport>[]
}

export interface PassOptions {
  /** Says what would be done, and does nothing. */
  readonly dryRun?: boolean
  /** Only this one. */
  readonly collection?: string
  readonly signal?: AbortSignal
}

export interface Sweep {
  readonly source: Source
  readonly bus?: Bus
  readonly collections: readonly Collection[]
  /** What a reader should know before the first pass: indexes that are missing, collections of which only silence is noticed. */
  prepare(): Promise<readonly string[]>
  /** Looks after every collection once. Does not throw for what one collection suffers; the report tells. */
  pass(options?: PassOptions): Promise<PassReport>
  /** Passes in an interval until the signal aborts. The interval runs from start to start; passes never overlap. */
  run(options: {
    readonly interval: Duration
    readonly signal: AbortSignal
    /** Only this one. */
    readonly collection?: string
    readonly onPass?: (report: PassReport) => void
  }): Promise<void>
  readonly on: Emitter['on']
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** More would be a mistake: each costs queries in every pass. */
const COLLECTIONS_MAX = 200

export function createSweep(options: SweepOptions): Sweep {
  const { source, bus, clock = systemClock } = options
  if (typeof source?.find !== 'function')
    throw new RepriseError(
      'sweep.source',
      `source is ${typeof source}. Allowed: a source, such as mongodbSource({ url, database }) or sqliteSource({ file }).`,
    )
  if (bus !== undefined && typeof bus?.send !== 'function')
    throw new RepriseError(
      'sweep.bus',
      `bus is ${bus === null ? 'null' : typeof bus}. Allowed: a bus, such as rabbitmqBus({ url }) or memoryBus(), or none.`,
    )
  const collections = collectionsOf(options)
  const sendLeaseMs = parseDuration(options.sendLease ?? '2m', 'sendLease')
  const emitter = createEmitter()
  const queues: readonly QueueShape[] = collections.flatMap(({ failures }) =>
    failures
      ? [
          { queue: failures.queue, topics: failures.topics },
          { queue: parkedQueue(failures.queue), topics: [] },
        ]
      : [],
  )
  // In every pass: a broker may have come back without its queues, and asking costs little.
  const prepareBus = async (): Promise<void> => bus?.prepare(queues)

  async function pass({ dryRun = false, collection: only, signal }: PassOptions = {}): Promise<PassReport> {
    const wanted = only === undefined ? collections : [collectionNamed(collections, only)]
    const began = clock.monotonic()
    const reports: CollectionReport[] = []
    let startedAt = clock.now()
    const parts = (now: () => number): PassParts => ({
      source,
      emit: (event) => emitter.emit(event),
      now,
      dryRun,
      sendLeaseMs,
      ...(bus ? { bus } : {}),
      ...(options.rules === undefined ? {} : { rules: options.rules }),
      ...(signal ? { signal } : {}),
    })
    try {
      startedAt = await source.now()
      if (!dryRun) await prepareBus()
    } catch (error) {
      const [first] = wanted
      if (first) {
        const report = newReport(first)
        trouble(
          parts(() => clock.now()),
          report,
          troubleType(error),
          error,
        )
        return closing([report])
      }
    }
    const now = () => startedAt + Math.floor(clock.monotonic() - began)
    for (const collection of wanted) if (!signal?.aborted) reports.push(await sweepCollection(parts(now), collection))
    return closing(reports)

    function closing(done: readonly CollectionReport[]): PassReport {
      const ms = Math.round(clock.monotonic() - began)
      const sum = (of: (report: CollectionReport) => number) => done.reduce((total, each) => total + of(each), 0)
      const errors = sum((each) => Object.values(each.errors).reduce((total, count) => total + count, 0))
      emitter.emit({
        name: 'sweep.passed',
        at: startedAt + ms,
        collections: done.length,
        begun: sum((each) => each.begun),
        ended: sum((each) => each.ended),
        waiting: sum((each) => each.waiting),
        stuck: sum((each) => each.stuck),
        errors,
        ms,
      })
      return { startedAt, endedAt: startedAt + ms, ms, ok: !done.some(hasFailed), dryRun, collections: done }
    }
  }

  const sweep: Sweep = {
    source,
    ...(bus ? { bus } : {}),
    collections,
    async prepare() {
      const said = [...(await source.prepare(collections.map(({ shape }) => shape)))]
      await prepareBus()
      for (const { shape, failures } of collections)
        if (!bus || !failures)
          said.push(
            `${shape.name}: no failures are heard of ${bus ? '(no failures.queue)' : '(no bus)'}; documents are begun again only when they are silent for their stuck age.`,
          )
      return said
    },
    pass,
    async run({ interval, signal, onPass, collection }) {
      const intervalMs = parseDuration(interval, 'interval')
      if (intervalMs < INTERVAL_MIN_MS) throw new RangeError(`interval: ${interval}; allowed is 1s and more`)
      while (!signal.aborted) {
        const began = clock.monotonic()
        onPass?.(await pass({ signal, ...(collection === undefined ? {} : { collection }) }))
        const left = Math.max(INTERVAL_MIN_MS, intervalMs - (clock.monotonic() - began))
        await clock.sleep(left, signal).catch(() => undefined)
      }
    },
    on: emitter.on,
    async close() {
      await bus?.close()
      await source.close()
    },
    [Symbol.asyncDispose]: () => sweep.close(),
  }
  return sweep
}

/** A pass that takes longer than its interval is not followed at once by the next. */
export const INTERVAL_MIN_MS = 1_000

/** Messages that were put aside are trouble of others; everything else kept the pass from its work. */
const hasFailed = ({ errors }: CollectionReport): boolean => Object.keys(errors).some((type) => type !== 'unreadable')

function collectionsOf({ collections: given, policy }: SweepOptions): readonly Collection[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > COLLECTIONS_MAX)
    throw new RangeError(`collections: allowed are 1 to ${COLLECTIONS_MAX} collections`)
  const all = given.map((each: CollectionInput) =>
    defineCollection(policy === undefined || each.policy !== undefined ? each : { ...each, policy }),
  )
  for (const field of ['name', 'queue'] as const) {
    const words = all.flatMap(({ shape, failures }) => (field === 'name' ? shape.name : (failures?.queue ?? [])))
    const twice = words.find((word, index) => words.indexOf(word) !== index)
    if (twice !== undefined) throw new RangeError(`collections: ${field} "${twice}" is there twice; allowed is once`)
  }
  return all
}

export function collectionNamed(collections: readonly Collection[], name: string): Collection {
  const found = collections.find(({ shape }) => shape.name === name)
  if (found) return found
  const known = collections.map(({ shape }) => shape.name).join(', ')
  throw new RepriseError('sweep.collection', `There is no collection "${name}". Allowed: ${known}.`)
}
