/**
 * Flows, joins and retention: who is unblocked, ended, begun again and let go with others, against the model of needs.
 */
import { isDeepStrictEqual } from 'node:util'
import { isTerminal, type TerminalState } from '../../run/run.ts'
import { type ChildrenLine, type History, only, type StoreLine } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { modelAt, movesOf, type Story, type StoryStep, stories } from './story.ts'
import type { ModelMove, Need } from './story-needs.ts'

type Moving = Extract<StoreLine, { verb: 'commit' | 'steer' }>

export const FLOWS = [
  invariant(
    'needs',
    'A dependent is unblocked once, by the end of its last need, and begins with the outputs of all of them.',
    (history) => [
      ...misled(history, (line) => line.verb === 'commit'),
      ...mistold(history),
      ...[...stories(history).values()].flatMap((story) => [
        ...tooEarly(history, story),
        ...wrongLinks(history, story),
      ]),
    ],
  ),

  invariant(
    'again',
    'A retry gives the next generation to exactly those that ended because of the run, and blocks them again.',
    (history) => [
      ...misled(history, (line) => line.verb === 'steer'),
      ...[...stories(history).values()].flatMap(({ run, steps }) =>
        steps.flatMap(({ kind, before, after }) =>
          kind === 'again' && after.generation !== (before?.generation ?? 0) + 1
            ? [`${run}: generation ${after.generation} after ${before?.generation}`]
            : [],
        ),
      ),
    ],
  ),

  invariant(
    'join',
    'The children of a join are begun once, with the end that suspends on them, and their parent gets what came of them in order.',
    (history) => [
      ...[...stories(history).values()].flatMap((story) => [...badJoins(story), ...lostChildren(history, story)]),
      ...only(history, 'children').flatMap((line) => wrongResults(history, line)),
    ],
  ),

  invariant('prune', 'Only what ended long ago goes, linked runs go together, and their keys stay.', (history) => {
    const all = stories(history)
    const gone = new Set(history.dump.gone)
    return only(history, 'store').flatMap((line) => {
      if (line.verb !== 'prune') return []
      const surplus = surplusOf(history, line)
      return line.pruned.flatMap((id) => {
        const story = all.get(id)
        if (!story) return [`${id} was pruned, and nobody made it`]
        const parted = linkedTo(all, story).filter((other) => !line.pruned.includes(other))
        return [
          ...tooYoung(story, line, surplus),
          ...parted.map((other) => `${id} was pruned at ${line.at} without ${other}, which it is linked to`),
          ...(gone.has(id) ? [] : [`${id} was pruned and is still there`]),
        ]
      })
    })
  }),
]

const shown = (moves: readonly Pick<ModelMove, 'run' | 'generation' | 'state'>[]): string =>
  moves.map(({ run, generation, state }) => `${run}/${generation} ${state}`).join(', ') || 'nobody'

/** Who the store says it moved must be who the model moves, each once. */
function misled(history: History, wanted: (line: Moving) => boolean): string[] {
  return only(history, 'store').flatMap((line) => {
    if ((line.verb !== 'commit' && line.verb !== 'steer') || !wanted(line)) return []
    const told = (line.moved ?? []).toSorted(byRun)
    const expected = (movesOf(history).get(line.seq) ?? []).toSorted(byRun)
    if (isDeepStrictEqual(plain(told), plain(expected))) return []
    const by = line.verb === 'commit' ? line.change.run : line.act.run
    return [`${by}: its ${line.verb} at ${line.at} moved ${shown(told)}, it should have moved ${shown(expected)}`]
  })
}

/** What another run's end did to a run is told once at most, and only after it was stored. */
function mistold(history: History): string[] {
  const told = only(history, 'event').flatMap(({ event, seq }) =>
    event.name === 'run.skipped' ||
    event.name === 'run.unblocked' ||
    (event.name === 'run.failed' && event.attempt === 0)
      ? [{ name: event.name, run: event.run, generation: event.generation, seq }]
      : [],
  )
  const groups = grouped(told, ({ name, run, generation }) => `${run} generation ${generation}: ${name}`)
  return [...groups].flatMap(([name, same]) => {
    const [{ run, generation, name: event }] = same as [(typeof same)[number]]
    const kind = event === 'run.unblocked' ? 'unblocked' : 'endedByNeed'
    const stored = stories(history)
      .get(run)
      ?.steps.filter((step) => step.kind === kind && step.after.generation === generation)
    const isEarly = same.some(({ seq }, index) => (stored?.[index]?.line.seq ?? Number.POSITIVE_INFINITY) > seq)
    return isEarly ? [`${name} was told ${same.length} times, stored ${stored?.length} times`] : []
  })
}

const byRun = (a: { readonly run: string }, b: { readonly run: string }) => (a.run < b.run ? -1 : a.run > b.run ? 1 : 0)

const plain = (moves: readonly Pick<ModelMove, 'run' | 'generation' | 'state'>[]) =>
  moves.map(({ run, generation, state }) => [run, generation, state])

const ofFlow = ({ needs }: Story): readonly Need[] => needs.filter(({ join }) => !join)

/** A handler began while something that it needs had not succeeded, or with other outputs than those. */
function tooEarly(history: History, story: Story): string[] {
  const needs = ofFlow(story)
  if (needs.length === 0) return []
  const begins = only(history, 'handler').filter(({ run, does }) => run === story.run && does === 'begin')
  return begins.flatMap((line) => {
    const claim = story.steps.find(({ kind, token }) => kind === 'claimed' && token === line.token)
    const states = needs.map(({ needed }) => [needed.run, modelAt(needed, claim?.line ?? line)] as const)
    const open = states.filter(([, model]) => model?.state !== 'succeeded')
    const outputs = states.flatMap(([, model]) => (model?.output === undefined ? [] : [model.output])).toSorted()
    const given = Object.values(JSON.parse(line.needs ?? '{}') as object).flatMap((value) =>
      value === undefined ? [] : [JSON.stringify(value)],
    )
    return [
      ...open.map(([run, model]) => `${story.run} began at ${line.at} while ${run} was ${model?.state}`),
      ...(isDeepStrictEqual(given.toSorted(), outputs)
        ? []
        : [`${story.run} was given ${given}, its needs hold ${outputs}`]),
    ]
  })
}

/** The needs that the store shows at the end are those that the operations add up to. */
function wrongLinks({ dump }: History, { run, needs }: Story): string[] {
  if (dump.gone.includes(run)) return []
  const held = dump.links[run]?.needs ?? []
  const nameOf = (need: { run: string; kind: string; open: boolean }) =>
    `${need.run} ${need.kind}${need.open ? ' open' : ''}`
  const told = held.map(nameOf).toSorted()
  const expected = needs.map(({ needed, kind, open }) => nameOf({ run: needed.run, kind, open })).toSorted()
  return isDeepStrictEqual(told, expected) ? [] : [`${run}: needs ${told.join(', ')}; should be ${expected.join(', ')}`]
}

function badJoins({ run, steps, needs }: Story): string[] {
  const found: string[] = []
  const joins = needs.filter(({ join }) => join)
  for (const [place, same] of grouped(joins, ({ join }) => `${join?.generation}.${join?.name}.${join?.index}`))
    if (same.length > 1) found.push(`${run}: child ${place} was begun ${same.length} times`)
  const suspended = steps.flatMap(({ kind, change, line, after }) =>
    kind === 'ended' && change?.type === 'end' && change.join ? [{ change, line, after }] : [],
  )
  for (const [name, same] of grouped(
    suspended,
    ({ change, after }) => `${change.join?.name} of generation ${after.generation}`,
  ))
    if (same.length > 1) found.push(`${run}: it joined ${name} ${same.length} times`)
  for (const { change, line } of suspended) {
    const asked = change.join?.children.length ?? 0
    const made = line.verb === 'commit' ? (line.created?.length ?? 0) : 0
    if (asked !== made) found.push(`${run}: its join ${change.join?.name} asked for ${asked} children and got ${made}`)
  }
  return found
}

/** A run that its handler asked for begins with the success of that very attempt. */
function lostChildren(history: History, { run, steps }: Story): string[] {
  return only(history, 'children').flatMap(({ run: asker, token, joined }) => {
    if (asker !== run || joined) return []
    const returned = only(history, 'handler').some(
      (each) => each.token === token && each.run === run && each.does === 'return' && !each.suspended,
    )
    const end = steps.find((each: StoryStep) => each.kind === 'ended' && each.token === token)
    const created = end?.line.verb === 'commit' ? (end.line.created?.length ?? 0) : 0
    const expected = returned && end?.after.state === 'succeeded' ? 1 : 0
    const isJoin = end?.change?.type === 'end' && end.change.join !== undefined
    return isJoin || created === expected
      ? []
      : [`${run}: token ${token} began ${created} runs with its end, should be ${expected}`]
  })
}

function wrongResults(history: History, { run, generation, token, joined, seq }: ChildrenLine): string[] {
  if (!joined) return []
  const story = stories(history).get(run)
  const children = (story?.needs ?? [])
    .filter(({ join }) => join?.name === joined.name && join.generation === generation)
    .toSorted((a, b) => (a.join?.index ?? 0) - (b.join?.index ?? 0))
  const results = JSON.parse(joined.results) as readonly unknown[]
  if (results.length !== children.length)
    return [`${run}: ${joined.name} gave ${results.length} results of ${children.length} children`]
  return children.flatMap(({ needed }, index) => {
    // Whatever an operator did to a child later: some attempt of it came to this.
    const ends = endsBefore(needed, seq)
    const given = JSON.stringify(results[index])
    const possible = ends.map(({ after }) => {
      const value = after.output === undefined ? {} : { value: JSON.parse(after.output) as unknown }
      if (joined.onFailure === 'fail') return JSON.stringify('value' in value ? value.value : null)
      return JSON.stringify(after.state === 'succeeded' ? { ok: true, ...value } : { ok: false })
    })
    const isFailure = joined.onFailure === 'collect' && (results[index] as { ok?: boolean }).ok === false
    const told = isFailure ? JSON.stringify({ ok: false }) : given
    return possible.includes(told)
      ? []
      : [`${run} (token ${token}): child ${index} of ${joined.name} came to ${possible}, given was ${given}`]
  })
}

const endsBefore = ({ steps }: Story, seq: number): readonly StoryStep[] =>
  steps.filter(({ line, after, kind }) => line.seq < seq && isTerminal(after.state) && kind !== 'refused')

/** A run and all that it is linked to. */
function linkedTo(all: ReadonlyMap<string, Story>, first: Story): readonly string[] {
  const reached = new Set([first])
  for (const { needs, dependents, flow } of reached) {
    for (const { needed } of needs) reached.add(needed)
    for (const { dependent } of dependents) reached.add(dependent)
    if (flow !== undefined) for (const story of all.values()) if (story.flow === flow) reached.add(story)
  }
  return [...reached].map(({ run }) => run)
}

type PruneLine = Extract<StoreLine, { verb: 'prune' }>

function tooYoung(story: Story, { at, seq, request }: PruneLine, surplus: ReadonlySet<string>): string[] {
  const model = modelAt(story, { seq })
  if (!model || !isTerminal(model.state)) return [`${story.run} was pruned at ${at} as ${model?.state}`]
  const keptMs = request.keepMs[model.state as TerminalState] ?? Number.POSITIVE_INFINITY
  const endedAt = model.finishedAt ?? at
  return endedAt + keptMs <= at || surplus.has(story.run)
    ? []
    : [`${story.run} was pruned at ${at}, it ended at ${endedAt} and is kept for ${keptMs} ms`]
}

/** Ended runs beyond the newest of their task, if a number was said. */
function surplusOf(history: History, { seq, request }: PruneLine): ReadonlySet<string> {
  if (request.keepMax === undefined) return new Set()
  const ended = [...stories(history).values()].flatMap((story) => {
    const model = modelAt(story, { seq: seq - 1 })
    const isGone = story.steps.some(({ kind, line }) => kind === 'pruned' && line.seq < seq)
    return model && isTerminal(model.state) && !isGone ? [{ run: story.run, task: model.lane.task }] : []
  })
  const byTask = grouped(
    ended.toSorted((a, b) => Number(b.run.slice(1)) - Number(a.run.slice(1))),
    ({ task }) => task,
  )
  return new Set([...byTask.values()].flatMap((runs) => runs.slice(request.keepMax).map(({ run }) => run)))
}
