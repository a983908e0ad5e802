/**
 * Operators' verbs over runs: retry (the next generation), cancel, reprioritise and reschedule, by ids or by filter, looked at before they act.
 * Each run is compared and swapped by itself: what changed meanwhile is skipped and counted, never overwritten.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Why } from '../policy/why.ts'
import type { Act, Committed, MovedRun, RunView, Store } from '../ports/store.ts'
import type { Emit } from '../run/event.ts'
import { isEndedByNeed } from '../run/need.ts'
import type { State, StateWord } from '../run/run.ts'
import type { RunFilter } from './filter.ts'
import { matchingRuns } from './find-runs.ts'
import { tellSteered } from './tell-steered.ts'

export type Verb = Act['type'] | 'reprioritise' | 'reschedule'

export type Selection = { readonly ids: readonly string[] } | { readonly filter: RunFilter }

export interface SteerOptions {
  /** Who acts: stands in history and audit. */
  readonly by: string
  /** Only tell what would be done. By default true for a filter and false for ids. */
  readonly dryRun?: boolean
  /** Told of each run that was cancelled or retried, and of each that this moved. */
  readonly emit?: Emit
}

export interface Skipped {
  readonly run: string
  /**
   * `changed`: it was as expected when it was read, and not any more when it was written. `ended by its need`: it begins again when
   * the step that it needs is retried, by this very call or by another.
   */
  readonly reason: 'not found' | 'changed' | 'ended by its need' | StateWord
}

export interface Steered {
  readonly verb: Verb
  readonly dryRun: boolean
  /** Runs that were named or matched. */
  readonly matched: number
  /** Runs to which the verb applies: would be done, or was tried. */
  readonly eligible: number
  readonly done: number
  readonly skipped: readonly Skipped[]
  /** Other runs that went along: steps that ended with the ones they need, or began again with them. */
  readonly moved: readonly Moved[]
  /** What the eligible ones are, most first. */
  readonly groups: readonly Group[]
  /** More match than one call takes; the same call again goes on. */
  readonly more: boolean
}

export type Moved = Pick<MovedRun, 'run' | 'generation' | 'state'>

export interface Group {
  readonly task: string
  readonly state: State
  /** Of the last failure. */
  readonly code?: string
  readonly runs: number
}

/** A verb over more runs than this is several verbs; each is told by itself. */
const RUNS_MAX = 10_000

/** As at submit. */
const PRIORITY_MAX = 1_000

/** Acts under way at once: enough to share transactions, few enough to leave the workers their turn. */
const AT_ONCE = 100

/** The states that a verb applies to. A run that waits goes on by itself, and a succeeded one is submitted anew. */
const APPLIES: Readonly<Record<Verb, readonly State[]>> = {
  retry: ['failed', 'cancelled', 'review'],
  cancel: ['blocked', 'ready', 'waiting', 'review'],
  reprioritise: ['ready', 'waiting'],
  reschedule: ['ready', 'waiting'],
}

/** What is in a worker's hands has had its turn: there is nothing left to move. */
const applies = (verb: Verb, { state, lease }: RunView): boolean =>
  APPLIES[verb].includes(state) && (lease === undefined || verb === 'retry' || verb === 'cancel')

/** Does the verb to one run, if it is still as it was seen. */
type DoTo = (seen: RunView) => Promise<Committed>

export function retryRuns(store: Store, selection: Selection, options: SteerOptions): Promise<Steered> {
  return steerRuns('retry', store, selection, options, (seen) => {
    const why: Why = { code: 'run.again', params: { by: options.by, generation: seen.generation + 1 } }
    return store.steer({ ...asSeen(seen, options), type: 'retry', why })
  })
}

export function cancelRuns(store: Store, selection: Selection, options: SteerOptions): Promise<Steered> {
  const why: Why = { code: 'run.cancelled', params: { by: options.by } }
  return steerRuns('cancel', store, selection, options, (seen) =>
    store.steer({ ...asSeen(seen, options), type: 'cancel', why }),
  )
}

/** Another priority; smaller goes first. */
export async function reprioritiseRuns(
  store: Store,
  selection: Selection,
  options: SteerOptions & { readonly to: number },
): Promise<Steered> {
  const { to, by } = options
  if (!Number.isInteger(to) || Math.abs(to) > PRIORITY_MAX)
    throw new RangeError(`to: ${to}; allowed are whole numbers from -${PRIORITY_MAX} to ${PRIORITY_MAX}`)
  const reorder = orderOf(store)
  return steerRuns('reprioritise', store, selection, options, (seen) => {
    const why: Why = { code: 'run.reprioritised', params: { by, from: seen.priority, to } }
    return reorder({ ...asSeen(seen, options), priority: to, why })
  })
}

/** Another due time; one that has come makes the run ready. */
export async function rescheduleRuns(
  store: Store,
  selection: Selection,
  options: SteerOptions & { readonly dueAt: number },
): Promise<Steered> {
  const { dueAt, by } = options
  if (!Number.isSafeInteger(dueAt) || dueAt < 0) throw new RangeError(`dueAt: ${dueAt}; allowed are epoch milliseconds`)
  const reorder = orderOf(store)
  const why: Why = { code: 'run.rescheduled', params: { by, at: dueAt } }
  return steerRuns('reschedule', store, selection, options, (seen) => reorder({ ...asSeen(seen, options), dueAt, why }))
}

const asSeen = ({ id: run, generation, state }: RunView, { by }: SteerOptions) => ({
  run,
  by,
  expect: { generation, states: [state] },
})

function orderOf(store: Store): NonNullable<Store['reorder']> {
  if (store.reorder) return store.reorder
  throw new RepriseError('steer.store', `The ${store.name} store has no order that could be changed.`)
}

async function steerRuns(
  verb: Verb,
  store: Store,
  selection: Selection,
  options: SteerOptions,
  doTo: DoTo,
): Promise<Steered> {
  const { by, dryRun = 'filter' in selection } = options
  const { runs, missing, more } = await select(store, selection)
  const eligible = runs.filter((run) => applies(verb, run))
  const passed: Skipped[] = [
    ...missing.map((run) => ({ run, reason: 'not found' as const })),
    ...runs
      .filter((run) => !eligible.includes(run))
      .map(({ id, state, lease }) => ({
        run: id,
        reason: APPLIES[verb].includes(state) && lease ? ('running' as const) : state,
      })),
  ]
  const common = { verb, dryRun, matched: runs.length + missing.length, eligible: eligible.length, more }
  const groups = groupsOf(eligible)
  if (dryRun) return { ...common, done: 0, skipped: passed, moved: [], groups }
  const answers = await actOn(eligible, doTo)
  const changed = eligible.filter((_, index) => answers[index]?.answer !== 'ok').map(({ id }) => id)
  const moved = answers.flatMap(({ moved: others = [] }) => others)
  if (options.emit) tellAll(options.emit, verb, by, eligible, answers)
  const done = eligible.length - changed.length
  const withNeed = new Set(eligible.filter(({ why }) => isEndedByNeed(why)).map(({ id }) => id))
  const skipped: Skipped[] = [
    ...passed,
    ...changed.map((run) => ({
      run,
      reason: withNeed.has(run) ? ('ended by its need' as const) : ('changed' as const),
    })),
  ]
  if ('filter' in selection || eligible.length > 1) {
    const filter = 'filter' in selection ? selection.filter.tokens.map(({ written }) => written).join(' ') : 'by id'
    await store.note({ by, what: `${verb}.many`, data: { filter, done, skipped: skipped.length } })
  }
  return {
    ...common,
    done,
    skipped,
    moved: moved.map(({ run, generation, state }) => ({ run, generation, state })),
    groups,
  }
}

async function select(
  store: Store,
  selection: Selection,
): Promise<{ readonly runs: RunView[]; readonly missing: string[]; readonly more: boolean }> {
  const runs: RunView[] = []
  if ('filter' in selection) {
    for await (const run of matchingRuns(store, selection.filter)) {
      if (runs.length === RUNS_MAX) return { runs, missing: [], more: true }
      runs.push(run)
    }
    return { runs, missing: [], more: false }
  }
  const missing: string[] = []
  for (const id of new Set(selection.ids)) {
    const run = await store.get({ id })
    if (run) runs.push(run)
    else missing.push(id)
  }
  return { runs, missing, more: false }
}

/** The store's answers, in the order of the runs. */
async function actOn(runs: readonly RunView[], doTo: DoTo): Promise<Committed[]> {
  const answers: Committed[] = []
  for (let from = 0; from < runs.length; from += AT_ONCE)
    answers.push(...(await Promise.all(runs.slice(from, from + AT_ONCE).map(doTo))))
  return answers
}

function tellAll(emit: Emit, verb: Verb, by: string, runs: readonly RunView[], answers: readonly Committed[]): void {
  if (verb !== 'cancel' && verb !== 'retry') return
  for (const [index, seen] of runs.entries()) {
    const committed = answers[index]
    if (committed?.answer === 'ok') tellSteered(emit, { type: verb, by, seen, committed })
  }
}

function groupsOf(runs: readonly RunView[]): Group[] {
  const groups = Map.groupBy(runs, ({ task, state, failure }) => JSON.stringify([task, state, failure?.code]))
  return [...groups.values()]
    .map((members): Group => {
      const [{ task, state, failure }] = members as [RunView]
      return { task, state, ...(failure ? { code: failure.code } : {}), runs: members.length }
    })
    .sort((a, b) => b.runs - a.runs)
}
