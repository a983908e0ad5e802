/**
 * Sending what was counted: the event leaves with the broker's confirmation, and only then is it taken out of the document. What an
 * earlier sender left behind is taken over once its time is up, so an event is sent twice only after a crash, under the same id.
 */
import type { BusMessage } from '../ports/bus.ts'
import type { Marks, OutboxEvent, SourceDocument } from '../ports/source.ts'
import type { Collection } from './collection.ts'
import { crashPoint } from './crash-point.ts'
import { BATCH, type CollectionReport, type PassParts, trouble } from './pass-parts.ts'

/** A document whose event is to be sent, as it is after it was counted. */
export interface Outgoing {
  readonly document: SourceDocument
  readonly rev: number
  readonly marks: Marks & { readonly outbox: OutboxEvent }
}

/** Sends and clears. Answers with those that are safely sent; the others stay in their outboxes. */
export async function sendAll(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  outgoing: readonly Outgoing[],
): Promise<readonly Outgoing[]> {
  const { bus } = parts
  if (!bus || outgoing.length === 0) return []
  const messages = outgoing.map(({ marks: { outbox } }): BusMessage => {
    const { id, topic, body } = outbox
    return { id, topic, body }
  })
  const answers = await bus.send(messages)
  crashPoint('sweep-after-send')
  const sent = outgoing.filter((_, index) => answers[index] === 'sent')
  for (const kind of ['unroutable', 'unknown'] as const) {
    const count = answers.filter((answer) => answer === kind).length
    const { topic } = collection.event
    if (count > 0)
      trouble(
        parts,
        report,
        kind === 'unknown' ? 'bus.unknown' : kind,
        new Error(
          kind === 'unroutable'
            ? `${count} events to ${topic} were returned: no queue is bound to it. They stay in their documents and go out when one is.`
            : `${count} events to ${topic} were not confirmed. They stay in their documents and go out again.`,
        ),
      )
  }
  await clear(parts, collection, sent)
  crashPoint('sweep-after-clear')
  return sent
}

async function clear({ source }: PassParts, { shape }: Collection, sent: readonly Outgoing[]): Promise<void> {
  // Expects no more than its own mark: the service may have the document already, and that is as it should be.
  await source.change(
    shape,
    sent.map(({ document: { id, key }, rev, marks: { outbox: _sent, ...marks } }) => ({
      expect: { id, key, rev },
      marks,
    })),
  )
}

/** Takes over what others did not get rid of. */
export async function sendAgain(parts: PassParts, collection: Collection, report: CollectionReport): Promise<void> {
  const { source, bus, dryRun, signal } = parts
  if (!bus || dryRun) return
  const { shape } = collection
  let cursor: string | undefined
  do {
    const before = parts.now()
    const page = await source.find(shape, {
      where: { is: 'unsent', before },
      limit: BATCH,
      ...(cursor === undefined ? {} : { cursor }),
    })
    cursor = page.cursor
    const taken = page.documents.flatMap((document): Outgoing[] => {
      const { outbox } = document.marks
      if (!outbox) return []
      const marks = { ...document.marks, outbox: { ...outbox, until: before + parts.sendLeaseMs } }
      return [{ document, rev: document.rev + 1, marks }]
    })
    // One that is done or failed meanwhile needs no event any more.
    const isOpen = ({ document }: Outgoing) => shape.status.open.includes(document.status)
    const idle = taken.filter((each) => !isOpen(each))
    await clear(
      parts,
      collection,
      idle.map((each) => ({ ...each, rev: each.document.rev })),
    )
    const wanted = taken.filter(isOpen)
    const answers = await source.change(
      shape,
      wanted.map(({ document: { id, key, rev }, marks }) => ({ expect: { id, key, rev }, marks })),
    )
    crashPoint('sweep-after-take-over')
    const mine = wanted.filter((_, index) => answers[index] === 'ok')
    report.lost += wanted.length - mine.length
    const sent = await sendAll(parts, collection, report, mine)
    report.resent += sent.length
    if (sent.length < mine.length) return
  } while (cursor !== undefined && !signal?.aborted)
}
