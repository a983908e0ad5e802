/** A small world for tests of the sweep: an embedded source and bus in virtual time, and one collection. */
import { type MemoryBus, memoryBus } from '../bus/memory/index.ts'
import type { RepriseEvent } from '../run/event.ts'
import { type SqliteSource, sqliteSource } from '../sources/sqlite/index.ts'
import { type VirtualClock, virtualClock } from '../testing/virtual-clock.ts'
import type { CollectionInput } from './collection.ts'
import { createSweep, type Sweep } from './sweep.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const archives: CollectionInput = {
  name: 'archives',
  idField: 'archive_id',
  maxAttempts: 3,
  event: { type: 'ArchiveIngested', topic: 'archive.ingested', data: ({ archive_id, path }) => ({ archive_id, path }) },
  failures: { queue: 'parsing.failed', topics: ['parsing.failed'] },
}

export interface SweepWorld {
  readonly clock: VirtualClock
  readonly source: SqliteSource
  readonly bus: MemoryBus
  readonly sweep: Sweep
  readonly events: RepriseEvent[]
  /** Another sweeper over the same source and bus. */
  another(): Sweep
  /** A service reports that it failed. */
  report(id: string, message?: string, more?: Readonly<Record<string, unknown>>): Promise<void>
  document(id: string): Promise<NonNullable<Awaited<ReturnType<SqliteSource['get']>>>>
}

export async function sweepWorld(
  collections: readonly CollectionInput[] = [archives],
  file = ':memory:',
): Promise<SweepWorld> {
  const clock = virtualClock()
  const source = sqliteSource({ file, clock })
  const bus = memoryBus()
  const make = () => createSweep({ source, bus, collections, clock })
  const sweep = make()
  const events: RepriseEvent[] = []
  sweep.on('*', (event) => events.push(event))
  await sweep.prepare()
  await bus.prepare([{ queue: 'parsing', topics: ['archive.ingested'] }])
  let reported = 0
  return {
    clock,
    source,
    bus,
    sweep,
    events,
    another: make,
    async report(id, message = 'connect ECONNREFUSED', more = {}) {
      reported += 1
      const event = {
        event_type: 'ParsingFailed',
        event_id: `f-${reported}`,
        data: { archive_id: id, error_message: message, ...more },
        ...(more['event_id'] === undefined ? {} : { event_id: more['event_id'] }),
      }
      await bus.send([{ id: `m-${reported}`, topic: 'parsing.failed', body: JSON.stringify(event) }])
    },
    async document(id) {
      const shape = sweep.collections[0]?.shape
      const found = shape && (await source.get(shape, id))
      if (!found) throw new Error(`there is no document ${id}`)
      return found
    },
  }
}
