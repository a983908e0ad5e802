/**
 * I7 to I9: one end for each generation, legal steps only, and a store that holds what its operations add up to.
 */
import { isTerminal, type State } from '../../run/run.ts'
import { endEvents } from './check-leases.ts'
import { type History, only } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { type Model, type Story, type StoryStep, stories } from './story.ts'

const TERMINAL_EVENTS: Readonly<Record<string, State>> = { 'run.succeeded': 'succeeded', 'run.failed': 'failed' }

/** What a step may lead from and to. Leases are not states: a claim and a lapse leave the run ready. */
const LEGAL: Readonly<Record<string, (before: Model, after: Model, at: number) => boolean>> = {
  claimed: ({ state, dueAt }, _after, at) =>
    state === 'ready' || ((state === 'waiting' || state === 'review') && due(dueAt, at)),
  lapsed: ({ state }) => state === 'ready',
  taken: ({ state }) => state === 'review',
  returned: ({ state }) => state === 'review',
  ended: ({ state, holder }, after) =>
    holder?.isPerson
      ? state === 'review' && ['ready', 'succeeded', 'failed'].includes(after.state)
      : state === 'ready' && after.state !== 'cancelled',
  written: ({ state }) => state === 'ready',
  cancelled: ({ state }) => !isTerminal(state),
  again: ({ state }) => isTerminal(state) || state === 'review',
  moved: ({ state, holder, dueAt }, _after, at) =>
    (state === 'ready' || state === 'waiting' || (state === 'review' && due(dueAt, at))) && !holder,
  forwarded: ({ state }) => state === 'waiting',
  unblocked: ({ state }) => state === 'blocked',
  endedByNeed: ({ state }) => state === 'blocked',
  pruned: ({ state }) => isTerminal(state),
}

const due = (dueAt: number | undefined, at: number): boolean => dueAt !== undefined && dueAt <= at

export const STATES_AND_ENDS = [
  invariant(
    'I7',
    'A generation ends once, nothing happens to it after, and its end is told at most once.',
    (history) => {
      const found = [...stories(history).values()].flatMap(({ run, steps }) =>
        steps.flatMap(({ kind, before, after }) => {
          const over = before !== undefined && isTerminal(before.state) && before.generation === after.generation
          return over && kind !== 'refused' && kind !== 'pruned' ? [`${run}: ${kind} after it was ${before.state}`] : []
        }),
      )
      const terminal = endEvents(history).filter(({ event }) => event.name in TERMINAL_EVENTS)
      for (const [name, told] of grouped([...terminal], ({ event }) => `${event.run} generation ${event.generation}`)) {
        if (told.length > 1) found.push(`${name}: its end was told ${told.length} times`)
        for (const { event } of told) {
          const ends = stories(history).get(event.run)?.steps ?? []
          const stored = ends.find(
            ({ kind, after }) => kind === 'ended' && after.generation === event.generation && isTerminal(after.state),
          )
          if (stored?.after.state !== TERMINAL_EVENTS[event.name])
            found.push(`${name}: told as ${event.name}, stored as ${stored?.after.state}`)
        }
      }
      return found
    },
  ),

  invariant(
    'I8',
    'Only legal steps: a run is claimed when it is due, ended by its owner, and begun again when it is over.',
    (history) =>
      [...stories(history).values()].flatMap(({ run, steps }) =>
        steps.flatMap(({ kind, before, after, line }) => {
          const legal = before === undefined || (LEGAL[kind]?.(before, after, line.at) ?? true)
          return legal
            ? []
            : [
                `${run}: ${kind} from ${before.state}${before.dueAt === undefined ? '' : ` due ${before.dueAt}`} to ${after.state} at ${line.at}`,
              ]
        }),
      ),
  ),

  invariant(
    'I9',
    'The store holds what its operations add up to, and a success is what its owner’s handler returned.',
    (history) => {
      const all = stories(history)
      const found = [...all.keys()]
        .filter((id) => !history.dump.runs.some((run) => run.id === id))
        .map((id) => `${id} is missing`)
      for (const run of history.dump.runs) {
        const story = all.get(run.id)
        if (!story) found.push(`${run.id}: no operation made it`)
        else
          found.push(
            ...differences(history, run.id, story),
            ...unearned(history, run.id, story),
            ...misplaced(run.id, story),
          )
      }
      return found
    },
  ),
]

function differences(history: History, id: string, { last, steps }: Story): string[] {
  const run = history.dump.runs.find((each) => each.id === id)
  if (!run) return []
  const state =
    (last.state === 'waiting' || last.state === 'review') && due(last.dueAt, history.dump.at) ? 'ready' : last.state
  const promoted = run.state === last.state ? last.state : state
  const rows = history.dump.attempts[id]?.length ?? 0
  const expectedRows = steps.filter(leavesRow).length
  const pairs: readonly (readonly [string, unknown, unknown])[] = [
    ['state', run.state, promoted],
    ['generation', run.generation, last.generation],
    ['attempt', run.attempt, last.attempt],
    ['priority', run.priority, last.priority],
    ['resource', run.resource, last.lane.resource],
    ['finish time', run.finishedAt, last.finishedAt],
    ['endedBy', run.endedBy, last.endedBy],
    ['output', run.output, last.output],
    ['suspensions', run.suspensions, last.suspensions],
    ['lease', run.lease?.token, last.holder?.token],
    ['rows of history', rows, expectedRows],
  ]
  return pairs
    .filter(([, held, folded]) => held !== folded)
    .map(([what, held, folded]) => `${id}: ${what} is ${held}, its operations give ${folded}`)
}

const leavesRow = ({ kind, change, from }: StoryStep): boolean =>
  kind === 'cancelled' ||
  kind === 'again' ||
  kind === 'moved' ||
  kind === 'endedByNeed' ||
  (kind === 'lapsed' && from?.alone === true) ||
  (kind === 'ended' && change?.type === 'end' && change.attempt !== undefined)

/** What a worker was given is a run of the lane that it waited in. */
function misplaced(id: string, { steps }: Story): string[] {
  return steps.flatMap(({ kind, line, before }) => {
    if (kind !== 'claimed' || line.verb !== 'claim') return []
    const given = line.runs.find((each) => each.id === id)?.resource
    const waitedFor = before?.lane.resource
    return given === waitedFor ? [] : [`${id}: claimed at ${line.at} for ${given}, it waited for ${waitedFor}`]
  })
}

/** A success must be the word of the handler that its owner executed, and not of one that was suspended; or that of a person. */
function unearned(history: History, id: string, { last, steps }: Story): string[] {
  if (last.state !== 'succeeded') return []
  const end = steps.find(({ kind, token }) => kind === 'ended' && token === last.endedBy)
  if (end?.before?.holder?.isPerson) {
    const said = only(history, 'client').find(({ does, token }) => does === 'review' && token === last.endedBy)
    return said?.value === last.output ? [] : [`${id}: holds ${last.output}, the person said ${said?.value}`]
  }
  const over = only(history, 'handler').find(
    (line) => line.run === id && line.token === last.endedBy && line.does !== 'begin',
  )
  if (!over) return [`${id}: succeeded by token ${last.endedBy}, whose handler never came to an end`]
  if (over.suspended) return [`${id}: succeeded by token ${last.endedBy}, whose handler was suspended`]
  return over.value === last.output ? [] : [`${id}: holds ${last.output}, its owner returned ${over.value}`]
}
