/**
 * I17 to I24: artifacts, reviews, rest at the end, secrets, the store's own check, and nobody left waiting.
 */
import { endEvents } from './check-leases.ts'
import type { Span } from './gate-story.ts'
import { type History, only, type StoreLine } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { resting } from './simulate.ts'
import { gateStory, type Model, type Story, stories } from './story.ts'

/** However busy everybody is, nothing waits longer than this in the quiet phase. */
const WAIT_MAX_MS = 900_000

export const REST = [
  invariant(
    'I17',
    'An artifact has one content for ever, and what an attempt was told to be stored is there.',
    (history) => {
      const found: string[] = []
      for (const [path, lines] of grouped([...only(history, 'artifact')], ({ path }) => path)) {
        const hashes = new Set([...lines.map(({ sha256 }) => sha256), history.dump.artifacts[path]])
        if (hashes.size > 1) found.push(`${path} has ${hashes.size} contents`)
        if (lines.filter(({ answer }) => answer === 'created').length !== 1)
          found.push(`${path} was created more than once, or never`)
      }
      const told = only(history, 'event').flatMap(({ event }) => (event.name === 'artifact.stored' ? [event] : []))
      for (const { run, uri } of told)
        if (!(uri in history.dump.artifacts)) found.push(`${run}: ${uri} was told to be stored, and is not there`)
      const orphans = Object.keys(history.dump.artifacts).filter(
        (path) => !history.dump.runs.some(({ id }) => path.startsWith(`${id}/`)),
      )
      return [...found, ...orphans.map((path) => `${path} belongs to no run`)]
    },
  ),

  invariant('I18', 'A person is asked once each time a run comes to them, and it leaves them once.', (history) => {
    const found: string[] = []
    const told = endEvents(history).filter(({ event }) => event.name === 'run.review')
    for (const [name, lines] of grouped(
      [...told],
      ({ event }) => `${event.run} attempt ${event.generation}/${event.attempt}`,
    )) {
      if (lines.length > 1) found.push(`${name} was handed to a person ${lines.length} times`)
    }
    for (const { run, steps } of stories(history).values()) {
      const entries = steps.filter(({ kind, after }) => kind === 'ended' && after.state === 'review').length
      const tellings = told.filter(({ event }) => event.run === run).length
      if (tellings > entries) found.push(`${run}: told ${tellings} times to wait for a person, stored ${entries} times`)
      for (const { kind, before, line } of steps) {
        if (
          kind === 'claimed' &&
          before?.state === 'review' &&
          !(before.dueAt !== undefined && before.dueAt <= line.at)
        )
          found.push(`${run}: claimed away from a person who was not overdue`)
      }
    }
    return found
  }),

  invariant(
    'I19',
    'When faults are over everything comes to rest: no lease, nothing overdue, no timer of a stopped worker.',
    (history) => [
      ...history.dump.runs
        .filter((run) => !resting(run))
        .map(
          ({ id, state, lease, dueAt }) =>
            `${id} is ${state}${lease ? `, leased by ${lease.worker}` : ''}${dueAt === undefined ? '' : `, due ${dueAt}`}`,
        ),
      ...[...stories(history).values()]
        .filter(waitsInVain)
        .map(({ run }) => `${run} is blocked, and nobody can move it`),
      ...history.unstopped.map((name) => `${name} did not stop when told`),
      ...(history.timersLeft > 0 ? [`stopped workers left ${history.timersLeft} timers`] : []),
    ],
  ),

  invariant('I21', 'A secret is in no event, no row and no note.', (history) => {
    const places = { events: only(history, 'event'), dump: history.dump, 'client log': only(history, 'client') }
    return Object.entries(places).flatMap(([place, content]) => {
      const text = JSON.stringify(content)
      return history.canaries.filter((canary) => text.includes(canary)).map(() => `a secret is in the ${place}`)
    })
  }),

  invariant('I22', 'The store’s own check finds nothing.', (history) =>
    history.dump.findings.map(({ law, run, found }) => `${run ?? 'store'}: ${law}: ${found}`),
  ),

  invariant(
    'I24',
    'In the quiet phase nothing that could be claimed lies there while everybody is idle, and no claim is ever forgotten.',
    (history) => {
      const idleOfAll = idleTimes(history)
      const { closed } = gateStory(history)
      const waiting = [...stories(history).values()].flatMap((story) =>
        waits(story, history).flatMap(({ from, to, model: { lane, again } }) => {
          // Nobody could have claimed it while its own lane was closed.
          const idle = closed(lane, again).reduce<readonly Span[]>(without, idleOfAll)
          const idleMs = idle.reduce(
            (sum, time) => sum + Math.max(0, Math.min(to, time.to) - Math.max(from, time.from)),
            0,
          )
          if (idleMs > history.claimBoundMs)
            return [`${story.run}: claimable from ${from} to ${to}, and nobody did anything for ${idleMs} ms of it`]
          return to - from > WAIT_MAX_MS ? [`${story.run}: claimable for ${to - from} ms`] : []
        }),
      )
      return [...waiting, ...forgotten(history)]
    },
  ),
]

/** What a living worker claimed it begins, ends or gives back, however long the answer took. */
function forgotten(history: History): string[] {
  const crashed = new Set(only(history, 'fault').flatMap(({ fault, process }) => (fault === 'crash' ? [process] : [])))
  const begun = new Set(only(history, 'handler').map(({ run, token }) => `${run}@${token}`))
  const claims = only(history, 'store').flatMap((line) => (line.verb === 'claim' ? [line] : []))
  const stopped = new Map(
    only(history, 'fault').flatMap((line) => (line.fault === 'stop' ? [[line.process, line]] : [])),
  )
  // A worker that was told to stop, and whose store does not answer, gives up what it could not give back, and says so: the lease
  // ends by itself. Nobody else may.
  const givenUp = (run: string, { process, seq }: StoreLine) =>
    only(history, 'event').some(
      ({ event, ...line }) =>
        line.process === process &&
        event.name === 'store.trouble' &&
        event.retryInMs === 0 &&
        event.verb === `end of ${run}` &&
        line.seq > Math.max(seq, stopped.get(process)?.seq ?? Number.POSITIVE_INFINITY),
    )
  // It asked again for an answer that it had not got, and by then the run was somebody else's.
  const tooLate = (run: string, line: StoreLine) =>
    line.verb === 'claim' &&
    claims.some(({ nonce, seq, runs }) => nonce === line.nonce && seq > line.seq && !runs.some(({ id }) => id === run))
  return [...stories(history).values()].flatMap(({ run, steps }) =>
    steps.flatMap(({ kind, token, line }) => {
      if (kind !== 'claimed' || crashed.has(line.process) || begun.has(`${run}@${token}`)) return []
      const written = steps.some((each) => each.token === token && each.change?.type === 'end')
      return written || tooLate(run, line) || givenUp(run, line)
        ? []
        : [`${run}: ${line.process} claimed it with token ${token} and forgot it`]
    }),
  )
}

/** Blocked, though nothing that it needs is with a person, blocked itself, or waits for an operator by its own wish. */
function waitsInVain({ last, needs }: Story): boolean {
  if (last.state !== 'blocked') return false
  return !needs.some(({ open, kind, needed }) => {
    const { state } = needed.last
    const isForPerson = state === 'review' || state === 'blocked'
    return open && (isForPerson || (kind === 'wait' && (state === 'failed' || state === 'cancelled')))
  })
}

interface Wait extends Span {
  readonly model: Model
}

/** When a run could have been claimed and was not yet, in the quiet phase. */
function waits({ steps, last }: Story, { quietFrom, dump }: History): Wait[] {
  const spans: Wait[] = []
  let since: number | undefined
  for (const { kind, before, after, line } of steps) {
    if (kind === 'claimed' && since !== undefined && before)
      spans.push({ from: Math.max(since, quietFrom), to: line.at, model: before })
    if (kind === 'refused' || kind === 'written') continue
    const open = !after.holder && (after.state === 'ready' || after.state === 'waiting')
    since = open ? Math.max(line.at, after.dueAt ?? 0) : undefined
  }
  if (since !== undefined && !last.holder && since < dump.at)
    spans.push({ from: Math.max(since, quietFrom), to: dump.at, model: last })
  return spans.filter(({ from, to }) => to > from)
}

/** What is left of some spans when another is cut out. */
const without = (spans: readonly Span[], cut: Span): Span[] =>
  spans.flatMap(({ from, to }) =>
    [
      { from, to: Math.min(to, cut.from) },
      { from: Math.max(from, cut.to), to },
    ].filter((part) => part.to > part.from),
  )

const isWorked = (model: Model | undefined): number => (model?.holder && !model.holder.isPerson ? 1 : 0)

/** When no worker had a run at all. */
function idleTimes(history: History): Span[] {
  const changes = [...stories(history).values()].flatMap(({ steps }) =>
    steps.flatMap(({ before, after, line }) => {
      const delta = isWorked(after) - isWorked(before)
      return delta === 0 ? [] : [{ at: line.at, seq: line.seq, delta }]
    }),
  )
  changes.sort((a, b) => a.seq - b.seq)
  const spans: Span[] = []
  let held = 0
  let since: number | undefined = history.quietFrom
  for (const { at, delta } of changes) {
    held += delta
    if (held > 0 && since !== undefined) {
      if (at > since) spans.push({ from: since, to: at })
      since = undefined
    } else if (held === 0) since = at
  }
  if (since !== undefined) spans.push({ from: since, to: history.dump.at })
  return spans
}
