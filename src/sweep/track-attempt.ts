/**
 * For services: the four writes around the processing of a document, each safe under redelivery. What services in other languages do
 * instead is in the guide; the writes are the same.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { DocumentChange, Source, SourceDocument } from '../ports/source.ts'
import { type CollectionInput, defineCollection } from './collection.ts'
import { failureOf } from './envelope.ts'
import { verdictOnFailure } from './verdict.ts'

export interface TrackedAttempt {
  /** The fields that a new document begins with. */
  readonly init: Readonly<Record<string, unknown>>
  /**
   * Before the work. `attempt` is that of the event, `retry.attempt`; absent for the document's first event, which is counted here.
   * `"done"`: it is processed already. `"stale"`: a later attempt is out, or it failed for good. Both mean: acknowledge and do nothing.
   */
  before(event?: { readonly attempt?: number; readonly generation?: number }): Promise<'begin' | 'done' | 'stale'>
  /** After the work. `"lost"`: somebody else has ended it meanwhile. */
  success(): Promise<'ok' | 'lost'>
  /**
   * The work failed: written down at once, with the time of the next attempt. For services that publish no failure events. `"failed"`: for
   * good; the next pass of the sweep ends it, so that it is told, counted and alerted as every other.
   */
  failure(error: unknown): Promise<'retry' | 'failed' | 'ignored'>
}

/** A race is looked at again, so often at most. */
const TRIES_MAX = 10

export function trackAttempt(source: Source, id: string, given: CollectionInput): TrackedAttempt {
  const collection = defineCollection(given)
  const { shape } = collection
  const { status } = shape
  const processing = status.open.find((name) => name !== status.pending) ?? status.pending

  /** Reads, decides and writes until the write is not lost. */
  async function settled<Answer>(
    decide: (
      document: SourceDocument,
      now: number,
    ) => Answer | { readonly change: DocumentChange; readonly answer: Answer },
  ): Promise<Answer> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const document = await source.get(shape, id)
      if (!document) throw new RepriseError('sweep.document', `There is no document ${id} in ${shape.name}.`)
      const next = decide(document, await source.now())
      if (typeof next !== 'object' || next === null || !('change' in next)) return next
      const [written] = await source.change(shape, [next.change])
      if (written === 'ok') return next.answer
    }
    throw new RepriseError('sweep.contention', `Document ${id} of ${shape.name} changed ${TRIES_MAX} times in a row.`)
  }

  /** What this execution is, once it has begun: what it reports is of that attempt, however late. */
  let begun: { readonly attempt: number; readonly generation: number } | undefined

  const asIs = ({ key, rev, attempts, status: now }: SourceDocument) => ({ id, key, rev, attempts, status: now })

  return {
    init: { [shape.statusField]: status.pending, [shape.attemptsField]: 0, [shape.lastAttemptField]: null },
    async before(event = {}) {
      let mine: typeof begun
      const answer = await settled<'begin' | 'done' | 'stale'>((document, now) => {
        if (status.done.includes(document.status)) return 'done'
        if (!status.open.includes(document.status) || document.marks.ends !== undefined) return 'stale'
        const { attempt, generation } = event
        if (generation !== undefined && generation !== document.marks.generation) return 'stale'
        if (attempt !== undefined && attempt < document.attempts) return 'stale'
        // The sweep has counted its own delivery; the first event of a document nobody has.
        const isFirst = attempt === undefined && document.attempts === 0
        const counted = isFirst || collection.countedBy === 'service'
        const next = counted ? document.attempts + 1 : (attempt ?? document.attempts)
        mine = { attempt: next, generation: document.marks.generation }
        return {
          change: {
            expect: asIs(document),
            status: processing,
            ...(counted ? { attempts: next, lastAttemptAt: now } : {}),
          },
          answer: 'begin',
        }
      })
      if (answer === 'begin') begun = mine
      return answer
    },
    success: () =>
      settled<'ok' | 'lost'>((document) => {
        if (status.done.includes(document.status)) return 'ok'
        if (!status.open.includes(document.status)) return 'lost'
        return { change: { expect: asIs(document), status: status.done[0] as string }, answer: 'ok' }
      }),
    failure: (error) =>
      settled<'retry' | 'failed' | 'ignored'>((document, now) => {
        const failure = failureOf(error, now)
        const of = begun ?? { attempt: document.attempts }
        const verdict = verdictOnFailure(document, collection, { failure, ...of, stretch: 1 })
        const { outbox: _sent, dueAt: _due, ...marks } = document.marks
        if (verdict.act === 'ignore') return 'ignored'
        if (verdict.act === 'retry')
          return {
            change: { expect: asIs(document), marks: { ...marks, failure, dueAt: verdict.at } },
            answer: 'retry',
          }
        return {
          change: { expect: asIs(document), marks: { ...marks, failure, dueAt: now, ends: verdict.why } },
          answer: 'failed',
        }
      }),
  }
}
