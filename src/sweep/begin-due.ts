/**
 * The step that begins documents again: finds those that are due and those that fell silent, counts the attempt together with the event
 * to be sent in one write, sends, and ends those whose attempts are spent. Batch by batch, so that memory does not grow with the backlog.
 */
import type { DocumentChange, DocumentFailure, Marks, SourceDocument, Where } from '../ports/source.ts'
import type { Collection } from './collection.ts'
import { crashPoint } from './crash-point.ts'
import { tellEnd } from './end.ts'
import { BODY_MAX, eventBody, eventId, failureOf } from './envelope.ts'
import { asRead, BATCH, type CollectionReport, type PassParts } from './pass-parts.ts'
import { type Outgoing, sendAll } from './send.ts'
import { verdictOn } from './verdict.ts'

/** Documents looked at in one pass for each one that may be begun: those that end or are lost cost a look, not a place. */
const LOOKS_PER_PLACE = 100

export async function beginDue(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  allowed: number,
): Promise<void> {
  // A broker that is away is noticed before anything is counted, so that an outage costs no document an attempt.
  if (!parts.dryRun) await parts.bus?.prepare([])
  const now = parts.now()
  const questions: readonly Where[] = [
    { is: 'due', by: now },
    { is: 'silent', before: now - collection.stuckAgeMs },
  ]
  let room = allowed
  let looks = Math.max(BATCH, allowed * LOOKS_PER_PLACE)
  for (const where of questions) {
    let cursor: string | undefined
    do {
      const limit = Math.min(BATCH, looks)
      const page = await parts.source.find(collection.shape, {
        where,
        order: collection.order,
        limit,
        ...(cursor === undefined ? {} : { cursor }),
      })
      cursor = page.cursor
      looks -= page.documents.length
      const { begun, stop } = await beginBatch(parts, collection, report, page.documents, room)
      room -= begun
      if (stop) return
    } while (cursor !== undefined && room > 0 && looks > 0 && !parts.signal?.aborted)
    if (room <= 0 || looks <= 0) return
  }
}

interface Planned {
  readonly document: SourceDocument
  readonly change: DocumentChange
  readonly end?: string
  readonly outgoing?: Outgoing
  readonly attempt?: number
}

async function beginBatch(
  parts: PassParts,
  collection: Collection,
  report: CollectionReport,
  documents: readonly SourceDocument[],
  room: number,
): Promise<{ readonly begun: number; readonly stop: boolean }> {
  const planned: Planned[] = []
  let places = room
  for (const document of documents) {
    const plan = planOf(parts, collection, document)
    if (!plan) continue
    // Ends need no place; a beginning that finds none waits for the next pass.
    if (plan.attempt !== undefined && places-- <= 0) continue
    planned.push(plan)
  }
  const begins = planned.filter(({ attempt }) => attempt !== undefined)
  if (parts.dryRun) {
    report.begun += begins.length
    report.ended += planned.filter(({ end }) => end !== undefined).length
    return { begun: begins.length, stop: false }
  }
  const answers = await parts.source.change(
    collection.shape,
    planned.map(({ change }) => change),
  )
  crashPoint('sweep-after-count')
  const done = planned.filter((_, index) => answers[index] === 'ok')
  report.lost += planned.length - done.length
  for (const { document, end, change } of done)
    if (end !== undefined && change.marks) tellEnd(parts, collection, report, document, change.marks, end)
  const outgoing = done.flatMap((plan) => plan.outgoing ?? [])
  const sent = new Set((await sendAll(parts, collection, report, outgoing)).map(({ document }) => document.id))
  const counted = done.filter(({ attempt }) => attempt !== undefined)
  for (const { document, attempt, outgoing: event } of counted) {
    if (event && !sent.has(document.id)) continue
    report.begun += 1
    parts.emit({
      name: 'sweep.begun',
      at: parts.now(),
      collection: report.collection,
      document: document.id,
      attempt: attempt as number,
      message: event?.marks.outbox.id ?? '',
    })
  }
  // A broker that takes nothing is not given more: what is counted already waits in its outbox.
  return { begun: counted.length, stop: sent.size < outgoing.length }
}

function planOf(parts: PassParts, collection: Collection, document: SourceDocument): Planned | undefined {
  const now = parts.now()
  const verdict = verdictOn(document, collection, now)
  const { dueAt: _due, ends: _ends, ...marks } = document.marks
  switch (verdict.act) {
    case 'leave':
      return undefined
    case 'see':
      return { document, change: { expect: asRead(document), marks: { ...document.marks, seenAt: now } } }
    case 'end':
      return ending(collection, document, {
        ...marks,
        failure: marks.failure ?? silenceOf(document, verdict.why, now),
        endedAt: now,
        why: verdict.why,
      })
    case 'begin':
      return beginning(parts, collection, document, marks, verdict.attempt)
  }
}

/** Nothing was ever heard of it: that is what failed, when it was last seen, so that it stands among the failed by its cause. */
function silenceOf({ lastAttemptAt, createdAt, marks }: SourceDocument, why: string, now: number): DocumentFailure {
  const at = lastAttemptAt ?? createdAt ?? marks.seenAt ?? now
  return failureOf({ code: 'sweep.silent', message: why }, at)
}

function ending(collection: Collection, document: SourceDocument, marks: Marks): Planned {
  const { failed } = collection.shape.status
  return { document, end: marks.why ?? '', change: { expect: asRead(document), status: failed, marks } }
}

function beginning(
  parts: PassParts,
  collection: Collection,
  document: SourceDocument,
  before: Marks,
  attempt: number,
): Planned {
  const { shape, event, countedBy } = collection
  const now = parts.now()
  const { why: _asked, ...kept } = before
  const marks: Marks = { ...kept, delivered: attempt }
  const counted: Omit<DocumentChange, 'marks'> = {
    expect: asRead(document),
    lastAttemptAt: now,
    ...(countedBy === 'sweep' ? { attempts: attempt } : {}),
  }
  // Without a bus the services look for pending documents themselves.
  if (!parts.bus) return { document, attempt, change: { ...counted, status: shape.status.pending, marks } }
  const of = { collection: shape.name, id: document.id, attempt, generation: marks.generation }
  try {
    const body = eventBody(event.type, of, event.data(document.document), now)
    if (body.length > BODY_MAX) throw new RangeError(`the event has ${body.length} characters, of ${BODY_MAX} allowed`)
    const outbox = { id: eventId(of), topic: event.topic, body, until: now + parts.sendLeaseMs }
    const withEvent = { ...marks, outbox }
    return {
      document,
      attempt,
      change: { ...counted, marks: withEvent },
      outgoing: { document, rev: document.rev + 1, marks: withEvent },
    }
  } catch (error) {
    // A document that no event can be made of would be found again in every pass: it ends here, with the reason.
    const broken = failureOf(error, now)
    const why = `no event can be made of it: ${broken.message}`
    return ending(collection, document, { ...kept, failure: broken, endedAt: now, why })
  }
}
