/**
 * The provider's log against the journal: an answer is bought again only when its buyer was hit between intent and answer, the repeat is
 * flagged, and a stored answer is never bought again.
 */
import { type Evidence, eventsOf } from './evidence.ts'
import { goneWorkers } from './gone-workers.ts'
import type { Send } from './job.ts'

export interface CallFigures {
  readonly breaches: readonly string[]
  /** Sends that repeat one of unknown outcome. */
  readonly resends: number
  /** Takes whose owner was hit between intent and answer: no more resends than these may be. */
  readonly openTakes: number
}

export function checkCalls(evidence: Evidence): CallFigures {
  const breaches: string[] = []
  const gone = goneWorkers(evidence)
  const flagged = new Set(eventsOf(evidence, 'call.ambiguous').map(({ run, attempt }) => `${run} ${attempt}`))
  const answered = new Set(eventsOf(evidence, 'call.answered').map(({ run, take }) => `${run} ${take}`))
  const sendsOf = Map.groupBy(evidence.sends, ({ run }) => run)
  let resends = 0
  let openTakes = 0

  for (const { id, journal } of evidence.runs) {
    const sends = [...(sendsOf.get(id) ?? [])].sort((a, b) => a.take - b.take)
    sendsOf.delete(id)
    const takes = journal.reduce((sum, entry) => sum + entry.takes, 0)
    breaches.push(...miscounted(id, sends, takes))
    let repeated = 0
    const sure = new Set<Send>()
    for (const [at, send] of sends.entries()) {
      const before = sends[at - 1]
      const isFlagged = flagged.has(`${id} ${send.attempt}`)
      // A sure failure is repeated inside the attempt, and that is nobody's fault.
      if (before?.failed && (before.attempt === send.attempt || !isFlagged)) sure.add(before)
      if (!before || sure.has(before)) continue
      repeated += 1
      if (!isFlagged) breaches.push(`${send.send}: repeats ${before.send}, and nobody said so`)
      if (answered.has(`${id} ${before.take}`))
        breaches.push(`${send.send}: repeats ${before.send}, whose answer was stored`)
      if (!gone(before.worker, id))
        breaches.push(`${send.send}: repeats ${before.send} of ${before.worker}, which was well`)
    }
    const unanswered = sends.filter(
      (send) => gone(send.worker, id) && !sure.has(send) && !answered.has(`${id} ${send.take}`),
    )
    const open = takes - sends.length + unanswered.length
    if (repeated > open) breaches.push(`${id}: sent again ${repeated} times, only ${open} takes were left open`)
    resends += repeated
    openTakes += open
  }
  for (const run of sendsOf.keys()) breaches.push(`${run} was sent, and is not there`)
  return { breaches, resends, openTakes }
}

function miscounted(id: string, sends: readonly Send[], takes: number): string[] {
  const kinds = new Set(sends.map(({ idempotencyKey, body }) => `${idempotencyKey} ${body}`))
  const numbers = new Set(sends.map(({ take }) => take))
  return [
    ...(sends.length > takes ? [`${id}: ${sends.length} sends, the journal has ${takes} takes`] : []),
    ...(numbers.size < sends.length ? [`${id}: a take was sent twice`] : []),
    ...(kinds.size > 1 ? [`${id}: one call with two keys or two bodies: ${[...kinds].join(', ')}`] : []),
  ]
}
