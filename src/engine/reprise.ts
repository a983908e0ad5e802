/**
 * `createReprise`: the library's front. Holds the handlers, submits runs, starts workers, and tells what happens.
 */
/// <reference lib="esnext.disposable" preserve="true" />
import type { ClassifyOptions } from '../failure/classify.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { createEmitter, type Emitter } from '../observe/emitter.ts'
import type { EventTracing } from '../observe/event-tracing.ts'
import type { PolicyInput } from '../policy/complete-policy.ts'
import type { PresetName } from '../policy/presets.ts'
import type { Artifacts } from '../ports/artifacts.ts'
import type { Bus } from '../ports/bus.ts'
import type { Created, CreatedRun, Limit, NewRun, RunRef, RunView, Store } from '../ports/store.ts'
import type { BudgetOptions } from '../run/define-budget.ts'
import type { Emit } from '../run/event.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { type Dice, randomId, systemDice } from '../time/dice.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { BudgetRegistry, type RepriseBudgets, repriseBudgets } from './budgets.ts'
import { hintedStore, tellEvents } from './bus-hints.ts'
import type { ContextMaker } from './context-maker.ts'
import { type Flow, type FlowOptions, type FlowSteps, newFlow } from './flow.ts'
import { type FlowHandle, flowHandle } from './flow-handle.ts'
import { Janitor } from './janitor.ts'
import { LeaseKeeper } from './lease-keeper.ts'
import { limitsOf, type WorkLimits } from './limits.ts'
import type { Handler } from './perform.ts'
import { type Retention, type RetentionOptions, retentionOf } from './retention.ts'
import { type RunHandle, runHandle } from './run-handle.ts'
import { StoreDoor } from './store-door.ts'
import { StoreTime } from './store-time.ts'
import { checkBatch, type InTransaction, newRun, newRunAtOnce, type SubmitOptions } from './submit.ts'
import { defineTask, type Task, type TaskOptions, withPolicy } from './task.ts'
import { type Assignment, Worker } from './worker.ts'

export interface RepriseOptions {
  readonly store: Store
  /** Where `ctx.artifact` keeps its objects. */
  readonly artifacts?: Artifacts
  /** Wakes workers of other processes and carries events out. Hints only; closed with the instance. */
  readonly bus?: Bus
  /** Policies by the name of their task, over what the task says: for operators who tune without touching code. */
  readonly policies?: Readonly<Record<string, PolicyInput | PresetName>>
  /** How many runs of a resource, task or category are out at a time or start in an interval, over all workers. */
  readonly limits?: WorkLimits
  /** Hard caps by name: calls and money per day and month, reserved before each send that names one. */
  readonly budgets?: Readonly<Record<string, BudgetOptions>>
  /** Of `traceEvents`: handlers and calls then run inside their spans. */
  readonly tracing?: EventTracing
  /** Your own rules of classification, asked before the built-in ones. */
  readonly rules?: ClassifyOptions['rules']
  /** How long ended runs are kept: idle workers delete what is older. Absent: everything is kept for ever. */
  readonly retention?: RetentionOptions
  readonly clock?: Clock
  readonly dice?: Dice
  /** Makes names of workers and claims, `bytes` × 8 bits each. Unguessable by default; a simulation hands in a sequence. */
  readonly ids?: (bytes: number) => string
}

export interface WorkOptions {
  /** Handlers at a time; 16 by default. */
  readonly concurrency?: number
  /** How long a silent worker keeps its runs; 30 s by default. */
  readonly leaseMs?: Duration
  /** How often the store is asked when no hint comes; 1 s by default. */
  readonly pollMs?: Duration
  /** How long handlers may go on after `stop()`; 30 s by default. */
  readonly drainMs?: Duration
  /** Only these of the tasks that have handlers. */
  readonly tasks?: readonly (Task | string)[]
  /** Only runs of these categories. */
  readonly categories?: readonly string[]
  /** When this process ends (a function's invocation), epoch milliseconds of the store's clock: what cannot be ended by then is not begun. */
  readonly endsAt?: number
  /** Kept back from every call's time for writing the end, where the task's policy says nothing of it; 0 by default. */
  readonly finalizeReserveMs?: Duration
}

export interface RunningWorker {
  readonly id: string
  /** Resolves when nothing is claimable now and nothing is in hand; with `until: "settled"`, when no run waits either. People are not waited for. */
  idle(options?: { readonly until?: 'settled' }): Promise<void>
  stop(options?: { readonly drainMs?: Duration }): Promise<void>
  /** `await using worker = reprise.work()` stops it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void>
}

/** What the public face adds inside: the engine knows neither models nor people. */
export interface Inside {
  readonly contextOf?: ContextMaker
}

export interface Reprise<Verbs = unknown> {
  readonly store: Store
  /** Gives a task its handler. */
  handle<Input, Output>(task: Task<Input, Output>, handler: Handler<Input, Output, Verbs>): void
  /** Defines a task and gives it its handler at once. */
  task<Input = unknown, Output = unknown>(
    name: string,
    options: TaskOptions<Input, Output>,
    handler: Handler<Input, Output, Verbs>,
  ): Task<Input, Output>
  /** With `tx` it is done when it returns, and throws at once: the run is then part of that transaction. */
  submit<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    options: SubmitOptions & InTransaction,
  ): RunHandle<Output>
  submit<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    options?: SubmitOptions & { readonly tx?: undefined },
  ): Promise<RunHandle<Output>>
  /** All of them or none, but for an item whose key belongs to another input: it is refused alone, and the error says so. */
  submitMany(items: readonly SubmitItem[], options: InTransaction): readonly RunHandle[]
  submitMany(items: readonly SubmitItem[], options?: { readonly tx?: undefined }): Promise<readonly RunHandle[]>
  /** Submits a flow: all of its steps or none. Idempotent by its name and `key`. */
  submitFlow<Steps extends FlowSteps>(flow: Flow<Steps>, options?: FlowOptions): Promise<FlowHandle<Steps>>
  get(ref: string | { readonly task: string; readonly key: string }): Promise<RunView | undefined>
  work(options?: WorkOptions): RunningWorker
  readonly budgets: RepriseBudgets
  /** Calls back for one event, or for `*` all. Returns the way to stop. */
  readonly on: Emitter['on']
  /** Stops the workers of this instance and lets go of the store. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export type SubmitItem = readonly [task: Task, input: unknown, options?: SubmitOptions]

export function createReprise<Verbs = unknown>(given: RepriseOptions, inside: Inside = {}): Reprise<Verbs> {
  const { bus } = given
  const options = bus && given.store ? { ...given, store: hintedStore(given.store, bus) } : given
  const { store, clock = systemClock, dice = systemDice } = options
  if (typeof store?.claim !== 'function') {
    throw new RepriseError(
      'reprise.store',
      `store is ${typeof store}. Allowed: a store, such as sqlite({ file: 'reprise.db' }).`,
    )
  }
  const retention = options.retention && retentionFor(store, options.retention, options.artifacts)
  const limits = limitsOf(options.limits ?? {})
  const budgets = new BudgetRegistry(options.budgets)
  const emitter = createEmitter()
  const time = new StoreTime(clock)
  if (options.tracing) emitter.on('*', options.tracing.listen)
  if (bus) emitter.on('*', tellEvents(bus))
  const assignments = new Map<string, Assignment>()
  const workers = new Set<RunningWorker>()

  const reprise: Reprise<Verbs> = {
    store,
    handle(task, handler) {
      if (typeof handler !== 'function')
        throw new RepriseError('handler.invalid', `handler of ${task.name} is ${typeof handler}. Allowed: a function.`)
      if (assignments.has(task.name))
        throw new RepriseError('handler.twice', `Task ${task.name} has a handler already. Allowed: one for each name.`)
      const policy =
        options.policies && Object.hasOwn(options.policies, task.name) ? options.policies[task.name] : undefined
      const tuned = policy === undefined ? (task as Task) : withPolicy(task as Task, policy)
      assignments.set(task.name, { task: tuned, handler: handler as Handler })
    },
    task(name, taskOptions, handler) {
      const task = defineTask({ ...taskOptions, name })
      reprise.handle(task, handler)
      return task
    },
    submit,
    submitMany,
    async submitFlow(flow, flowOptions = {}) {
      if ('tx' in flowOptions)
        throw new RepriseError(
          'submit.tx_flow',
          `tx is given for flow ${flow.name}. Allowed for runs without needs only: submit the flow after the commit, with a key.`,
        )
      const wanted = await newFlow(flow, flowOptions, time.now())
      const { now, flow: made } = await store.createFlow(wanted)
      time.learn(now)
      if (made === 'conflict') {
        throw new RepriseError(
          'submit.key_conflict',
          `Key "${wanted.key}" of flow ${flow.name} belongs to a flow with other steps or inputs. Use another key, or submit the same.`,
        )
      }
      for (const { step, run: id, generation } of made.steps) {
        const run = wanted.steps.find((each) => each.step === step)
        if (run) told(run, { id, created: made.created, generation }, now)
      }
      return flowHandle(store, clock, made)
    },
    get: (ref) => store.get(typeof ref === 'string' ? { id: ref } : (ref satisfies RunRef)),
    work(workOptions = {}) {
      const worker = startWorker(options, workOptions, {
        clock,
        dice,
        time,
        emitter,
        assignments,
        retention,
        limits,
        inside,
        budgets,
      })
      workers.add(worker)
      return worker
    },
    budgets: repriseBudgets(store, budgets),
    on: emitter.on,
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop()))
      await bus?.close()
      await store.close()
    },
    [Symbol.asyncDispose]: () => reprise.close(),
  }
  return reprise

  function submit<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    given: SubmitOptions & InTransaction,
  ): RunHandle<Output>
  function submit<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    given?: SubmitOptions,
  ): Promise<RunHandle<Output>>
  function submit<Input, Output>(
    task: Task<Input, Output>,
    input: Input,
    { tx, ...given }: SubmitOptions & Partial<InTransaction> = {},
  ): RunHandle<Output> | Promise<RunHandle<Output>> {
    const items: readonly SubmitItem[] = [[task as Task, input, given]]
    const first = ([handle]: readonly RunHandle[]) => handle as RunHandle<Output>
    return tx === undefined ? create(items).then(first) : first(createIn(tx, items))
  }

  function submitMany(items: readonly SubmitItem[], given: InTransaction): RunHandle[]
  function submitMany(items: readonly SubmitItem[]): Promise<RunHandle[]>
  function submitMany(items: readonly SubmitItem[], { tx }: Partial<InTransaction> = {}) {
    return tx === undefined ? create(items) : createIn(tx, items)
  }

  async function create(items: readonly SubmitItem[]): Promise<RunHandle[]> {
    checkBatch(items)
    const runs = await Promise.all(items.map(([task, input, each = {}]) => newRun(task, input, each, time.now())))
    const created = await store.create(runs)
    time.learn(created.now)
    created.runs.forEach((answer, index) => {
      if (answer !== 'conflict') told(runs[index] as NewRun, answer, created.now)
    })
    return handlesOf(runs, created)
  }

  /** Nothing is told: whether the runs are ever there is decided by the application's commit. */
  function createIn(tx: object, items: readonly SubmitItem[]): RunHandle[] {
    if (!store.createIn)
      throw new RepriseError(
        'submit.tx_store',
        `tx is given, but the ${store.name} store cannot share a transaction. Allowed with a SQLite store, on a connection to its file. Nothing was submitted.`,
      )
    checkBatch(items)
    const runs = items.map(([task, input, each = {}]) => newRunAtOnce(task, input, each, time.now()))
    return handlesOf(runs, store.createIn(tx, runs))
  }

  function handlesOf(runs: readonly NewRun[], created: Created): RunHandle[] {
    return created.runs.map((answer, index) => {
      if (answer !== 'conflict') return runHandle(store, clock, answer.id, answer.created)
      const { key, task } = runs[index] as NewRun
      const refused = created.runs.filter((each) => each === 'conflict').length
      const of = runs.length === 1 ? '' : ` Refused are ${refused} of ${runs.length} items; the others are submitted.`
      throw new RepriseError(
        'submit.key_conflict',
        `Key "${key}" of ${task} belongs to a run with another input. Use another key, or submit the same input.${of}`,
      )
    })
  }

  function told(run: NewRun, { id, created, generation }: CreatedRun, at: number): void {
    if (!emitter.listening) return
    const known = { at, run: id, task: run.task, generation, ...(run.key === undefined ? {} : { key: run.key }) }
    if (!created) emitter.emit({ name: 'run.returned', ...known })
    else
      emitter.emit({
        name: 'run.submitted',
        ...known,
        priority: run.priority,
        ...(run.dueAt === undefined ? {} : { dueAt: run.dueAt }),
      })
  }
}

interface Shared {
  readonly clock: Clock
  readonly dice: Dice
  readonly time: StoreTime
  readonly emitter: Emitter
  readonly assignments: ReadonlyMap<string, Assignment>
  readonly retention: Retention | undefined
  readonly limits: readonly Limit[]
  readonly inside: Inside
  readonly budgets: BudgetRegistry
}

function startWorker(options: RepriseOptions, work: WorkOptions, shared: Shared): RunningWorker {
  const { store, artifacts, rules, ids = randomId } = options
  const { clock, dice, time, emitter } = shared
  const concurrency = work.concurrency ?? 16
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > 10_000) {
    throw new RepriseError(
      'work.concurrency',
      `concurrency is ${concurrency}. Allowed: a whole number from 1 to 10,000.`,
    )
  }
  const leaseMs = parseDuration(work.leaseMs ?? 30_000, 'leaseMs')
  if (leaseMs < 100) throw new RepriseError('work.lease', `leaseMs is ${leaseMs}. Allowed: 100 ms or more.`)
  if (work.endsAt !== undefined && !Number.isFinite(work.endsAt))
    throw new RepriseError('work.ends', `endsAt is ${work.endsAt}. Allowed: an instant in epoch milliseconds.`)
  const drainMs = parseDuration(work.drainMs ?? 30_000, 'drainMs')
  const id = `w-${ids(4)}`
  const gone = new AbortController()
  const served = servedTasks(shared.assignments, work.tasks)
  const door = new StoreDoor({
    store,
    clock,
    dice,
    time,
    emit: (event) => emitter.emit(event),
    worker: id,
    policies: new Map([...served.values()].map(({ task }) => [task.policyHash, JSON.stringify(task.policy)])),
    signal: gone.signal,
  })
  const keeper = new LeaseKeeper({ worker: id, door, clock, leaseMs })
  const worker = new Worker({
    parts: {
      worker: id,
      store,
      door,
      keeper,
      time,
      clock,
      dice,
      ids,
      emitter,
      budgets: shared.budgets,
      finalizeReserveMs: parseDuration(work.finalizeReserveMs ?? 0, 'finalizeReserveMs'),
      ...(artifacts ? { artifacts } : {}),
      ...(options.tracing ? { tracing: options.tracing } : {}),
      ...shared.inside,
      ...(work.endsAt === undefined ? {} : { endsAt: work.endsAt }),
    },
    assignments: served,
    ...(work.categories ? { categories: work.categories } : {}),
    ...(shared.limits.length === 0 ? {} : { limits: shared.limits }),
    ...(rules === undefined ? {} : { rules }),
    concurrency,
    leaseMs,
    pollMs: parseDuration(work.pollMs ?? 1_000, 'pollMs'),
    drainMs,
    ...(shared.retention ? { janitor: janitorOf(options, shared, shared.retention, id) } : {}),
  })
  const running: RunningWorker = {
    id,
    async idle(idleOptions = {}) {
      await worker.idle()
      while (idleOptions.until === 'settled' && (await moving(store, served))) {
        await clock.sleep(SETTLED_LOOK_MS)
        await worker.idle()
      }
    },
    async stop(stopOptions = {}) {
      const within = stopOptions.drainMs === undefined ? drainMs : parseDuration(stopOptions.drainMs, 'drainMs')
      // A store that stays away must not keep the process: what could not be written is given up, and its leases end by themselves.
      const cancel = clock.after(within + STORE_GIVE_UP_MS, () => gone.abort())
      await worker.stop({ drainMs: within })
      cancel()
      gone.abort()
    },
    [Symbol.asyncDispose]: () => running.stop(),
  }
  return running
}

/** How long a stopping worker still asks a store that does not answer, after its handlers had their time. */
const STORE_GIVE_UP_MS = 10_000

/** Refused at the door when the drivers cannot do it: a deletion that never happens is found out only when the disk is full. */
function retentionFor(store: Store, given: RetentionOptions, artifacts: Artifacts | undefined): Retention {
  const retention = retentionOf(given)
  if (!store.prune)
    throw new RepriseError('retention.store', `The ${store.name} store deletes nothing by itself: leave retention out.`)
  if (retention.artifacts === 'with-run' && !artifacts?.remove)
    throw new RepriseError(
      'retention.artifacts',
      `retention.artifacts is "with-run", but ${artifacts ? `${artifacts.name} artifacts cannot be removed` : 'there are no artifacts'}. Allowed: "keep".`,
    )
  return retention
}

function janitorOf({ store, artifacts }: RepriseOptions, shared: Shared, retention: Retention, worker: string) {
  const { clock, time, emitter } = shared
  const emit: Emit = (event) => emitter.emit(event)
  return new Janitor({ retention, store, clock, time, worker, emit, ...(artifacts ? { artifacts } : {}) })
}

/** How often `idle({ until: "settled" })` looks for waiting runs. */
const SETTLED_LOOK_MS = 100

async function moving(store: Store, served: ReadonlyMap<string, Assignment>): Promise<boolean> {
  // A blocked run moves only when one that it needs does, and that one is counted itself, unless a person has it.
  const counts = await store.count({ tasks: [...served.keys()], states: ['ready', 'running', 'waiting'] })
  return counts.some(({ runs }) => runs > 0)
}

function servedTasks(
  all: ReadonlyMap<string, Assignment>,
  wanted: WorkOptions['tasks'],
): ReadonlyMap<string, Assignment> {
  if (!wanted) {
    if (all.size > 0) return new Map(all)
    throw new RepriseError('work.tasks', 'work() has no handlers to run. Call handle(task, handler) first.')
  }
  return new Map(
    wanted.map((each) => {
      const name = typeof each === 'string' ? each : each.name
      const assignment = all.get(name)
      if (!assignment)
        throw new RepriseError(
          'work.tasks',
          `tasks names "${name}", which has no handler. Allowed: ${[...all.keys()].join(', ') || 'none yet'}.`,
        )
      return [name, assignment]
    }),
  )
}
