/**
 * I4 to I6: one owner at a time, and no write of anybody else.
 */
import type { EventName, RepriseEvent } from '../../run/event.ts'
import { type EventLine, type History, only } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { endOf, modelAt, type Story, stories } from './story.ts'

/** Events that tell about the end of an attempt: they may be told only once it is durable. */
const ENDS: ReadonlySet<EventName> = new Set<EventName>([
  'run.succeeded',
  'run.failed',
  'run.review',
  'run.suspended',
  'run.interrupted',
  'run.escalated',
  'attempt.retried',
])

type OfAttempt = Extract<RepriseEvent, { readonly attempt: number; readonly worker: string }>

export function endEvents(history: History): readonly { readonly line: EventLine; readonly event: OfAttempt }[] {
  return only(history, 'event').flatMap((line) =>
    // What ended by its need ended without an attempt.
    ENDS.has(line.event.name) && (line.event as OfAttempt).attempt > 0
      ? [{ line, event: line.event as OfAttempt }]
      : [],
  )
}

/** The token under which a worker executed an attempt. */
function tokenOf(story: Story, { generation, attempt, worker }: OfAttempt, before: number): number | undefined {
  const given = story.steps.filter(
    ({ kind, line, after }) =>
      kind === 'claimed' &&
      line.seq < before &&
      after.generation === generation &&
      after.attempt === attempt &&
      after.holder?.worker === worker,
  )
  return given.at(-1)?.token
}

export const LEASES = [
  invariant('I4', 'Tokens of a run strictly rise, and its attempts are counted without gaps or repeats.', (history) => {
    const found: string[] = []
    for (const { run, steps } of stories(history).values()) {
      let token = 0
      for (const step of steps) {
        if (step.kind !== 'claimed' && step.kind !== 'taken') continue
        const { attempt, generation } = step.after
        const expected = (step.before?.attempt ?? 0) + (step.kind === 'claimed' ? 1 : 0)
        if ((step.token ?? 0) <= token) found.push(`${run}: token ${step.token} after ${token}`)
        if (attempt !== expected)
          found.push(`${run}: attempt ${attempt} of generation ${generation}, expected ${expected}`)
        token = Math.max(token, step.token ?? 0)
      }
    }
    for (const [name, lines] of grouped(
      only(history, 'handler').filter(({ does }) => does === 'begin'),
      ({ run, generation, attempt }) => `${run} attempt ${generation}/${attempt}`,
    )) {
      if (lines.length > 1) found.push(`${name} was begun ${lines.length} times`)
    }
    return found
  }),

  invariant('I5', 'Only the holder of the lease writes, and an end is told only after it was stored.', (history) => {
    const all = stories(history)
    const found: string[] = []
    for (const { run, steps } of all.values()) {
      for (const { kind, before, token, change } of steps) {
        const writes = kind === 'ended' || kind === 'written'
        if (writes && before?.holder?.token !== token)
          found.push(
            `${run}: ${change?.type} with token ${token} was taken, held by ${before?.holder?.token ?? 'nobody'}`,
          )
        if (kind === 'refused' && before?.holder?.token === token)
          found.push(`${run}: ${change?.type} of its holder, token ${token}, was refused`)
      }
    }
    for (const { line, event } of endEvents(history)) {
      const story = all.get(event.run)
      const token = story && tokenOf(story, event, line.seq)
      const end = story && token !== undefined ? endOf(story, token) : undefined
      if (!end || end.line.seq > line.seq)
        found.push(
          `${event.run}: ${event.name} of attempt ${event.attempt} was told by ${event.worker} before it was stored`,
        )
    }
    for (const { event, seq } of only(history, 'event')) {
      if (event.name !== 'write.refused' || event.what !== 'end') continue
      const story = all.get(event.run)
      // Who asks what became of an end after its run was pruned cannot be told any more.
      const isGone = story?.steps.some(({ kind, line }) => kind === 'pruned' && line.seq < seq)
      if (story && !isGone && modelAt(story, { seq })?.endedBy === event.token)
        found.push(`${event.run}: the end of token ${event.token} was told to be refused, and it is stored`)
    }
    return found
  }),

  invariant('I6', 'A run has at most one live lease, and who claims alone has nothing else in hand.', (history) => [
    ...notAlone(history),
    ...[...stories(history).values()].flatMap(({ run, steps }) => {
      const overlaps = steps.flatMap(({ kind, before, line }) => {
        const holder = kind === 'claimed' || kind === 'taken' ? before?.holder : undefined
        // Who has it in hand may take it again; from somebody who is gone anybody may.
        const isFree = line.verb === 'take' && (holder?.worker === line.by || (holder?.until ?? 0) <= line.at)
        if (!holder || isFree) return []
        return [`${run}: ${kind} at ${line.at}, held with token ${holder.token} until ${holder.until}`]
      })
      const early = steps.flatMap(({ kind, line, token }) => {
        const given =
          kind === 'ended' ? steps.find((each) => each.kind === 'claimed' && each.token === token) : undefined
        return given && given.line.at > line.at ? [`${run}: ended at ${line.at}, claimed at ${given.line.at}`] : []
      })
      return [...overlaps, ...early]
    }),
  ]),
]

/** Runs that a worker still held and executed when it claimed another one as if it were alone. */
function notAlone(history: History): string[] {
  const handlers = only(history, 'handler')
  return only(history, 'store').flatMap((line) => {
    if (line.verb !== 'claim' || !line.alone || line.runs.length === 0) return []
    return [...stories(history).values()].flatMap((story) => {
      const holder = modelAt(story, line)?.holder
      if (holder?.worker !== line.worker || holder.token === line.token) return []
      const ofToken = handlers.filter(
        ({ run, token, seq }) => run === story.run && token === holder.token && seq < line.seq,
      )
      return ofToken.length === 1
        ? [`${line.worker} claimed token ${line.token} alone while it executed ${story.run}`]
        : []
    })
  })
}
