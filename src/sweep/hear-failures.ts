/**
 * The step that hears of failures: takes what services reported, finds the documents, and writes down what failed and when the next
 * attempt is due. A message is acknowledged after its document is written; one that nobody can read is put aside, so it blocks nobody.
 */
import type { BusMessage, Delivery } from '../ports/bus.ts'
import type { DocumentChange, SourceDocument } from '../ports/source.ts'
import type { Collection } from './collection.ts'
import { crashPoint } from './crash-point.ts'
import { tellEnd } from './end.ts'
import { type HeardFailure, readFailure } from './envelope.ts'
import { asRead, BATCH, type CollectionReport, type PassParts, trouble } from './pass-parts.ts'
import { verdictOnFailure } from './verdict.ts'

/** Messages of one queue in one pass, at most: the rest waits for the next. */
const HEAR_MAX = 100_000

/** Two sweepers that race for one document: the loser looks again, so often at most. */
const ROUNDS_MAX = 5

export const parkedQueue = (queue: string): string => `${queue}.parked`

export async function hearFailures(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  stretch: number,
): Promise<void> {
  const { bus, signal, dryRun } = parts
  if (!bus || !collection.failures || dryRun) return
  for (let taken = 0; taken < HEAR_MAX && !signal?.aborted; ) {
    const deliveries = await bus.take(collection.failures.queue, BATCH)
    if (deliveries.length === 0) return
    taken += deliveries.length
    try {
      // What went back would be taken again at once: it waits for the next pass.
      if (!(await hearBatch(parts, collection, report, deliveries, stretch))) return
    } catch (error) {
      // The source is gone: the messages go back, and the next pass hears them.
      await Promise.all(deliveries.map((delivery) => delivery.back().catch(() => undefined)))
      throw error
    }
  }
}

interface Item {
  readonly delivery: Delivery
  readonly heard: HeardFailure
  readonly id: string
}

/** True when every message has left its queue. */
async function hearBatch(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  deliveries: readonly Delivery[],
  stretch: number,
): Promise<boolean> {
  const open = new Map<Delivery, number>()
  let hasLeft = true
  let items: Item[] = []
  for (const delivery of deliveries) {
    const messageId = delivery.isNamed ? delivery.id : undefined
    const heard = readFailure(delivery.body, messageId, parts.now(), parts.rules ? { rules: parts.rules } : {})
    const ids = heard ? idsOf(collection, heard) : []
    if (!heard || ids.length === 0) {
      const reason = heard ? 'it names no document' : 'it is no failure event'
      hasLeft = (await park(parts, collection, report, delivery, reason)) && hasLeft
      continue
    }
    open.set(delivery, ids.length)
    for (const id of ids) items.push({ delivery, heard, id })
  }
  for (let round = 0; items.length > 0 && round < ROUNDS_MAX; round++) {
    items = await hearRound(parts, collection, report, items, stretch, (item) =>
      open.set(item.delivery, (open.get(item.delivery) ?? 1) - 1),
    )
  }
  crashPoint('sweep-after-hear')
  for (const [delivery, left] of open) {
    await (left > 0 ? delivery.back() : delivery.ack())
    if (left > 0) hasLeft = false
  }
  crashPoint('sweep-after-ack')
  return hasLeft
}

/** One write per document; what concerns a document twice, or lost a race, is left for the next round. */
async function hearRound(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  items: readonly Item[],
  stretch: number,
  done: (item: Item) => void,
): Promise<Item[]> {
  const { source } = parts
  const first = [...new Map([...items].reverse().map((item) => [item.id, item])).values()]
  const taken = new Set(first)
  const later = items.filter((item) => !taken.has(item))
  const found = await Promise.all(first.map(({ id }) => source.get(collection.shape, id)))
  const missing = new Map<Delivery, Item[]>()
  const writes: { item: Item; document: SourceDocument; change: DocumentChange; why?: string }[] = []
  for (const [index, item] of first.entries()) {
    const document = found[index]
    if (!document) {
      const gone = missing.get(item.delivery)
      if (gone) gone.push(item)
      else missing.set(item.delivery, [item])
      continue
    }
    const { failure, attempt, generation } = item.heard
    const verdict = verdictOnFailure(document, collection, {
      failure,
      stretch,
      ...(attempt === undefined ? {} : { attempt }),
      ...(generation === undefined ? {} : { generation }),
    })
    if (verdict.act === 'ignore') {
      done(item)
      continue
    }
    const { outbox: _sent, dueAt: _due, ...marks } = document.marks
    writes.push(
      verdict.act === 'retry'
        ? {
            item,
            document,
            change: { expect: asRead(document), marks: { ...marks, failure, dueAt: verdict.at } },
          }
        : {
            item,
            document,
            why: verdict.why,
            change: {
              expect: asRead(document),
              status: collection.shape.status.failed,
              marks: { ...marks, failure, endedAt: parts.now(), why: verdict.why },
            },
          },
    )
  }
  // One copy for a message, however many documents it names. Not put aside, it is not done either, and goes back to its queue.
  for (const [delivery, gone] of missing)
    if (await putAside(parts, collection, report, delivery, absence(gone))) for (const item of gone) done(item)
  const answers = await source.change(
    collection.shape,
    writes.map(({ change }) => change),
  )
  for (const [index, { item, document, change, why }] of writes.entries()) {
    if (answers[index] === 'lost') {
      later.push(item)
      continue
    }
    report.heard += 1
    if (why !== undefined && change.marks) tellEnd(parts, collection, report, document, change.marks, why)
    done(item)
  }
  return later
}

/** Ids that a reason names. */
const NAMED_MAX = 3

function absence(items: readonly Item[]): string {
  const [first] = items
  if (items.length === 1) return `there is no document ${first?.id}`
  const names = items.slice(0, NAMED_MAX).map(({ id }) => id)
  return `there are no documents ${names.join(', ')}${items.length > NAMED_MAX ? `, … (${items.length})` : ''}`
}

const IDS_MAX = 10_000

function idsOf({ failures }: Collection, { data }: HeardFailure): readonly string[] {
  try {
    return [...new Set(failures?.ids(data) ?? [])].filter((id) => id !== '').slice(0, IDS_MAX)
  } catch {
    return []
  }
}

/** A message that is nobody's: it leaves its queue once it is safe in the other. */
async function park(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  delivery: Delivery,
  reason: string,
): Promise<boolean> {
  const isSafe = await putAside(parts, collection, report, delivery, reason)
  await (isSafe ? delivery.ack() : delivery.back())
  return isSafe
}

/** A copy with its reason. True when the broker has it. */
async function putAside(
  parts: PassParts,
  { failures }: Collection,
  report: CollectionReport,
  delivery: Delivery,
  reason: string,
): Promise<boolean> {
  const { bus } = parts
  if (!bus || !failures) return false
  const parked: BusMessage = {
    id: `parked/${delivery.id}`,
    topic: parkedQueue(failures.queue),
    to: 'queue',
    body: JSON.stringify({ reason, parkedAt: new Date(parts.now()).toISOString(), body: delivery.body }),
  }
  const [answer] = await bus.send([parked])
  trouble(parts, report, 'unreadable', new Error(`A message of ${failures.queue} was put aside: ${reason}`))
  if (answer === 'sent') report.parked += 1
  return answer === 'sent'
}
