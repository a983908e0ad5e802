/**
 * One execution of a handler, for its tests: the engine's own code on a store in memory and a clock that need not be waited for.
 * It starts no worker and touches no network, file or real time; what the handler itself touches is its own affair.
 */
import { memoryArtifacts } from '../artifacts/memory/index.ts'
import { BudgetRegistry } from '../engine/budgets.ts'
import { deadlineOf } from '../engine/deadline.ts'
import { Execution } from '../engine/execution.ts'
import { JOIN_HASH } from '../engine/join.ts'
import { fromJson, hashOf, toJson } from '../engine/json.ts'
import { KEPT_HASH } from '../engine/keep.ts'
import { LeaseKeeper } from '../engine/lease-keeper.ts'
import { type Handler, leaving, type Performed, perform, timeUp } from '../engine/perform.ts'
import { settle } from '../engine/settle.ts'
import { SLEEP_HASH } from '../engine/sleep.ts'
import { StoreDoor } from '../engine/store-door.ts'
import { StoreTime } from '../engine/store-time.ts'
import { newRun } from '../engine/submit.ts'
import { defineTask, type Task } from '../engine/task.ts'
import type { WorkerParts } from '../engine/worker-parts.ts'
import type { ClassifyOptions } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import { type Asks, askingContexts } from '../ladder/asking-context.ts'
import type { ModelOptions } from '../ladder/providers.ts'
import { createEmitter } from '../observe/emitter.ts'
import type { Decision } from '../policy/decision.ts'
import { say } from '../policy/say.ts'
import { EMPTY_LEDGERS } from '../policy/situation.ts'
import type { Artifacts, StoredArtifact } from '../ports/artifacts.ts'
import type { Change, Claim, ClaimedRun, NeedLink, RunView, Store } from '../ports/store.ts'
import type { Ending } from '../run/apply.ts'
import type { BudgetOptions } from '../run/define-budget.ts'
import type { RepriseEvent } from '../run/event.ts'
import type { JournalEntry } from '../run/journal.ts'
import { PERSON_HASH } from '../run/question.ts'
import type { Progress } from '../run/run.ts'
import { memory } from '../stores/memory/index.ts'
import { type Clock, turn } from '../time/clock.ts'
import type { Dice } from '../time/dice.ts'
import { type VirtualClock, virtualClock } from './virtual-clock.ts'

export interface RunOnceOptions<Input, Output> {
  /** The task it is for: its schemas are checked, its policy decides and its timeout holds. @default a task without any of them */
  readonly task?: Task<Input, Output>
  readonly key?: string
  /** Number of this execution; all before it count as errors. @default 1 */
  readonly attempt?: number
  /** What earlier attempts have asked: of `runOnce` itself, or by hand. With an answer it is given back instead of a send. */
  readonly journal?: readonly (Asked | JournalEntry)[]
  /** What the steps that it needs have put out, by their names: its `ctx.needs`. @default none */
  readonly needs?: Readonly<Record<string, unknown>>
  /** Where artifacts go. @default memory */
  readonly artifacts?: Artifacts
  /** Virtual clocks are moved on whenever the handler waits; any other runs by itself. @default a virtual clock */
  readonly clock?: Clock
  /** Of backoffs. @default 0.5 */
  readonly dice?: Dice
  /** The budgets that the handler's calls may name. */
  readonly budgets?: Readonly<Record<string, BudgetOptions>>
  /** Models by the ids that `ctx.ask` and `ctx.model` name: `fakeModel(…)`, or real ones. */
  readonly models?: ModelOptions['models']
  /** Your own rules of classification. */
  readonly rules?: ClassifyOptions['rules']
}

/** A call of an earlier attempt. Without an answer nobody knows whether it arrived. */
export interface Asked {
  readonly name: string
  /** As the call declares it. */
  readonly input?: unknown
  readonly answer?: unknown
}

/** One physical send of `ctx.call`. */
export interface Send {
  readonly name: string
  /** 1 for the first under this name and input, over all attempts. */
  readonly take: number
  /** Absent when it failed. */
  readonly answer?: unknown
  readonly failure?: Failure
  readonly costUsd?: number
}

export interface PutOnce extends StoredArtifact {
  readonly path: readonly string[]
  readonly body: Uint8Array
  /** The body, read as UTF-8. */
  readonly text: string
}

export interface RanOnce<Output> {
  /** `suspended`: it sleeps for long, or waits for the children of a join. `later`: it threw `later(…)`. `person`: it asked one, threw `toPerson(…)`, or an ambiguous call did. */
  readonly outcome: 'value' | 'failure' | 'suspended' | 'later' | 'person'
  /** As a waiter for the run would get it: through JSON. */
  readonly value?: Output
  readonly failure?: Failure
  /** What follows a failure. */
  readonly decision?: Decision
  /** When it runs again, or the person is overdue; epoch milliseconds. */
  readonly dueAt?: number
  /** What follows, in one sentence; empty after a value. */
  readonly says: string
  /** Physical sends of this execution, in order; what was replayed from the journal is not among them. */
  readonly sends: readonly Send[]
  readonly events: readonly RepriseEvent[]
  readonly progress: readonly Progress[]
  readonly artifacts: readonly PutOnce[]
  /** For the next attempt: `runOnce(handler, input, { attempt: 2, journal })`. */
  readonly journal: readonly JournalEntry[]
  /** The run as this execution left it. */
  readonly run: RunView
}

/** Longer than any test's virtual day, so that no lease is in the way. */
const LEASE_MS = 30 * 86_400_000

/** A handler that does not leave when its time is up is let alone after this long, as by a worker. */
const LEAVE_GRACE_MS = 1_000

const WORKER = 'run-once'

/**
 * Executes a handler once and tells what it came to. It throws only for what `submit` would refuse.
 * @example const { outcome, value, sends } = await runOnce(summarize, { document: 'd1' })
 */
export function runOnce<Input, Output>(
  handler: Handler<Input, Output, Asks>,
  input: Input,
  options: RunOnceOptions<Input, Output> = {},
): Promise<RanOnce<Output>> {
  const { clock = virtualClock() } = options
  const running = execute(handler, input, options, clock)
  return isVirtual(clock) ? driven(clock, running) : running
}

async function execute<Input, Output>(
  handler: Handler<Input, Output, Asks>,
  input: Input,
  options: RunOnceOptions<Input, Output>,
  clock: Clock,
): Promise<RanOnce<Output>> {
  const store = memory({ clock })
  const task = (options.task ?? defineTask({ name: 'handler' })) as Task
  const claim = await claimed(store, task, input, options)
  const recorded = recording(needing(store, options.needs), options.artifacts ?? memoryArtifacts())
  const parts = partsOf(recorded, options, clock)
  const execution = new Execution(claim.run, claim.token, task, parts, parts.keeper.sendUntil(clock.monotonic()))
  const ending = await endingOf(execution, handler as Handler, options.rules)
  await new Promise<void>((resolve, reject) => {
    settle(execution, ending, (error) => (error === undefined ? resolve() : reject(error)))
  })
  const { events, sends, puts } = recorded
  const view = (await store.get({ id: claim.run.id })) as RunView
  const decision = (await store.attempts(view.id)).at(-1)?.decision
  const { output, dueAt, why } = view
  return {
    outcome: outcomeOf(ending),
    ...(output === undefined ? {} : { value: fromJson(output) as Output }),
    ...(ending.type === 'failure' ? { failure: ending.failure } : {}),
    ...(decision ? { decision } : {}),
    ...(dueAt === undefined ? {} : { dueAt }),
    says: why ? say(why, { now: clock.now() }) : '',
    sends,
    events,
    progress: events.flatMap((event) => (event.name === 'progress' ? [progressOf(event)] : [])),
    artifacts: puts,
    journal: await store.journal(view.id, view.generation),
    run: view,
  }
}

function outcomeOf(ending: Ending): RanOnce<unknown>['outcome'] {
  if (ending.type === 'value' || ending.type === 'failure' || ending.type === 'person') return ending.type
  return ending.type === 'suspend' && ending.why.code === 'run.later' ? 'later' : 'suspended'
}

async function claimed<Input, Output>(
  store: Store,
  task: Task,
  input: Input,
  { key, attempt = 1, journal = [], needs }: RunOnceOptions<Input, Output>,
): Promise<{ readonly run: ClaimedRun; readonly token: number }> {
  if (!Number.isSafeInteger(attempt) || attempt < 1)
    throw new RangeError(`attempt: ${attempt}; allowed are whole numbers from 1`)
  const { now } = await store.create([])
  await store.create([await newRun(task, input, key === undefined ? {} : { key }, now)])
  const request = { worker: WORKER, nonce: 'once', limit: 1, leaseMs: LEASE_MS, alone: true, tasks: [task.name] }
  const { runs, token }: Claim = await store.claim(request)
  const run = runs[0] as ClaimedRun
  const known = journal.filter((entry) => !isOpenJoin(entry))
  for (const entry of known) for (const change of changesOf(entry, run, token)) await store.commit(change)
  const ledgers = { ...EMPTY_LEDGERS, errors: attempt - 1 }
  const needing = needs === undefined ? {} : { needs: true }
  return { run: { ...run, attempt, ledgers, journaled: known.length > 0, ...needing }, token }
}

/** Nobody runs the children here: a join whose results are not given is one that still waits for them. */
const isOpenJoin = (entry: Asked | JournalEntry): boolean =>
  'inputHash' in entry && entry.inputHash === JOIN_HASH && entry.answer === undefined

/** The store with these outputs at the other ends of the run's needs. */
function needing(store: Store, outputs: Readonly<Record<string, unknown>> | undefined): Store {
  if (outputs === undefined) return store
  const needs = Object.entries(outputs).map(([step, value]): NeedLink => {
    const output = toJson(value, `needs.${step}`)
    const link = { run: step, task: step, state: 'succeeded', step, kind: 'fail', open: false, costUsd: 0 } as const
    return output === undefined ? link : { ...link, output }
  })
  return { ...store, links: async () => ({ needs, dependents: [] }) }
}

/** How an entry gets into the journal of the store: as its owner would have written it. */
function changesOf(entry: Asked | JournalEntry, run: ClaimedRun, token: number): Change[] {
  const inputHash = 'inputHash' in entry ? entry.inputHash : hashOfInput(entry)
  const where = { run: run.id, token, generation: run.generation, name: entry.name, inputHash }
  const take = 'takes' in entry ? entry.takes : 1
  const intent: Change = { type: 'intent', ...where, take }
  const answer = 'takes' in entry ? entry.answer : toJson(entry.answer, `journal "${entry.name}"`)
  if (answer !== undefined) return [intent, { type: 'answer', ...where, answer }]
  const failure = 'takes' in entry ? entry.failure : undefined
  return failure ? [intent, { type: 'answer', ...where, failure }] : [intent]
}

const hashOfInput = ({ input }: Asked): string => (input === undefined ? '' : hashOf(input))

interface Recorded {
  readonly store: Store
  readonly artifacts: Artifacts
  readonly events: RepriseEvent[]
  readonly sends: Send[]
  readonly puts: PutOnce[]
}

/** The store and the artifacts as the execution sees them, and all that goes through them. */
function recording(store: Store, artifacts: Artifacts): Recorded {
  const sends: Send[] = []
  const puts: PutOnce[] = []
  return {
    events: [],
    sends,
    puts,
    store: {
      ...store,
      commit: async (change) => {
        const committed = await store.commit(change)
        if (committed.answer !== 'over') keepSend(sends, change)
        return committed
      },
    },
    artifacts: {
      ...artifacts,
      put: async (request) => {
        const stored = await artifacts.put(request)
        const { path, body } = request
        if (stored !== 'conflict') puts.push({ ...stored, path, body, text: new TextDecoder().decode(body) })
        return stored
      },
    },
  }
}

/** Entries of the journal that are no sends. */
const NO_SENDS: ReadonlySet<string> = new Set([SLEEP_HASH, KEPT_HASH])

function keepSend(sends: Send[], change: Change): void {
  if (change.type !== 'intent' && change.type !== 'answer') return
  if (NO_SENDS.has(change.inputHash) || change.inputHash.startsWith(PERSON_HASH)) return
  const { name } = change
  if (change.type === 'intent') sends.push({ name, take: change.take })
  else {
    const index = sends.findLastIndex((send) => send.name === name)
    const { answer, failure, costUsd } = change
    sends[index] = {
      ...(sends[index] as Send),
      ...(answer === undefined ? {} : { answer: fromJson(answer) }),
      ...(failure ? { failure } : {}),
      ...(costUsd === undefined ? {} : { costUsd }),
    }
  }
}

function partsOf(
  { store, artifacts, events }: Recorded,
  { dice = () => 0.5, budgets, models }: Pick<RunOnceOptions<never, never>, 'dice' | 'budgets' | 'models'>,
  clock: Clock,
): WorkerParts {
  const time = new StoreTime(clock)
  const emitter = createEmitter()
  emitter.on('*', (event) => events.push(event))
  const door = new StoreDoor({
    ...{ store, clock, dice, time, worker: WORKER, policies: new Map() },
    emit: (event) => emitter.emit(event),
    signal: new AbortController().signal,
  })
  const keeper = new LeaseKeeper({ worker: WORKER, door, clock, leaseMs: LEASE_MS })
  const ids = (bytes: number) => '0'.repeat(bytes * 2)
  const known = new BudgetRegistry(budgets)
  const tools = { store, door, keeper, time, clock, dice, ids, emitter, artifacts }
  const contextOf = askingContexts(models ? { models } : {})
  return { worker: WORKER, ...tools, budgets: known, finalizeReserveMs: 0, contextOf }
}

async function endingOf(execution: Execution, handler: Handler, rules: ClassifyOptions['rules']): Promise<Ending> {
  const performed = perform(execution, handler, rules)
  const limited = limit(execution)
  const ending = await (limited ? Promise.race([performed, limited]) : performed)
  execution.settled = true
  execution.timer?.abort()
  if (!ending) throw new Error('the execution was given up, which nobody but its owner can do here')
  return ending
}

/** Tells the handler to leave when its time is up, and ends without it if it does not. */
function limit(execution: Execution): Promise<Performed> | undefined {
  const deadline = deadlineOf(execution)
  if (deadline === undefined) return undefined
  const { clock, time } = execution.parts
  execution.timer = new AbortController()
  const { signal } = execution.timer
  const timedOut = async (): Promise<Performed> => {
    await clock.sleep(Math.max(0, deadline - time.now()), signal)
    const reason = { type: 'stopped', failure: timeUp(execution) } as const
    execution.leave(reason)
    await clock.sleep(LEAVE_GRACE_MS, signal)
    return leaving(execution, reason)
  }
  const limited = timedOut()
  limited.catch(() => {})
  return limited
}

function progressOf({ done, of, note }: Progress): Progress {
  return { done, ...(of === undefined ? {} : { of }), ...(note === undefined ? {} : { note }) }
}

const isVirtual = (clock: Clock): clock is VirtualClock => 'runUntilSettled' in clock && 'pending' in clock

/** Moves the clock on while the handler waits for it, and lets real events through while it waits for something else. */
async function driven<Answer>(clock: VirtualClock, running: Promise<Answer>): Promise<Answer> {
  let isSettled = false
  const settled = running.then(
    () => {
      isSettled = true
    },
    () => {
      isSettled = true
    },
  )
  while (!isSettled) {
    await turn()
    if (clock.pending() === 0) continue
    await clock.runUntilSettled(settled).catch((error: unknown) => {
      // Either it waits for something that is no timer, and goes on here, or it sets timers for ever.
      if (clock.pending() > 0) throw error
    })
  }
  return running
}
