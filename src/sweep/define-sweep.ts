/**
 * What a `sweep.ts` exports: where the documents are, how their services are reached, and how each collection is looked after.
 * Types only; it is checked when it is opened.
 */
import type { Bus } from '../ports/bus.ts'
import type { Source } from '../ports/source.ts'
import type { Duration } from '../time/duration.ts'
import type { CollectionInput } from './collection.ts'
import type { SweepOptions } from './sweep.ts'

export interface SweepConfig extends Pick<SweepOptions, 'policy' | 'rules' | 'sendLease'> {
  /** `mongodb://host/database`, `sqlite:./documents.db`, or a source. Absent: by the MONGODB_* variables. */
  readonly source?: string | Source
  /** `amqp://host`, or a bus. Absent: by the RABBITMQ_* variables, and without those none. */
  readonly bus?: string | Bus
  /** The topic exchange of an address. @default 'events' */
  readonly exchange?: string
  /** @default archives, messages, chunks and threads */
  readonly collections?: readonly CollectionInput[]
  /** @default '15m' */
  readonly interval?: Duration
}

/** @example export default defineSweep({ source: 'sqlite:./documents.db', collections: [archives] }) */
export function defineSweep(config: SweepConfig): SweepConfig {
  return config
}
