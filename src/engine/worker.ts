/**
 * A worker: claims runs into a small queue, executes them in its slots, keeps their leases and writes their ends.
 * Slots are freed when a handler is done, not when its end is durable: ends and the next claim then share a transaction.
 */
import type { ClassifyOptions } from '../failure/classify.ts'
import type { Claim, Limit } from '../ports/store.ts'
import { nextTurn } from '../time/turn.ts'
import { crashPoint } from './crash-point.ts'
import { deadlineOf } from './deadline.ts'
import { Execution } from './execution.ts'
import type { Janitor } from './janitor.ts'
import { type Handler, leaving, type Performed, perform, timeUp, workerStops } from './perform.ts'
import { Prefetch } from './prefetch.ts'
import { settle } from './settle.ts'
import type { Task } from './task.ts'
import type { WorkerParts } from './worker-parts.ts'

/** A handler that does not leave when told is let alone after this long; whatever it does then is refused. */
const LEAVE_GRACE_MS = 1_000

/** Ends under way at most: past it no new run is started, so that a slow store slows the worker and not its memory. */
const ENDS_MAX = 2_000

/** Handlers that answer at once are called one after the other for this long; then timers and sockets have their turn. */
const STARTS_MAX_MS = 10

export interface Assignment {
  readonly task: Task
  readonly handler: Handler
}

export interface WorkerOptions {
  readonly parts: WorkerParts
  readonly assignments: ReadonlyMap<string, Assignment>
  readonly categories?: readonly string[]
  readonly limits?: readonly Limit[]
  readonly rules?: ClassifyOptions['rules']
  readonly concurrency: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly drainMs: number
  /** Lets go of old runs while there is nothing else to do. */
  readonly janitor?: Janitor
}

export class Worker {
  readonly id: string
  readonly #options: WorkerOptions
  readonly #parts: WorkerParts
  readonly #prefetch: Prefetch
  readonly #unwatch: () => void
  readonly #idlers: Array<{ readonly resolve: () => void; readonly reject: (error: unknown) => void }> = []
  #broken: { readonly error: unknown } | undefined
  #drained: (() => void) | undefined
  #queue: Execution[] = []
  #running = 0
  #ends = 0
  #claiming = false
  #starting = false
  #stopping: Promise<void> | undefined
  /** Something may be claimable: set by hints, by time, and by a claim that came back full. */
  #hungry = true
  /** The last claim found nothing, and nothing happened since. */
  #quiet = false
  /** An end has landed since the last claim was asked for: it may have unblocked what that claim did not see. */
  #landed = false
  /** Suspects wait: this worker empties its hands and takes one alone. */
  #suspects = false
  #alone = false
  /** A run was given back for want of time: the next would be too. */
  #late = false
  #released = 0
  #nap: { readonly endsAt: number; readonly controller: AbortController } | undefined

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#parts = options.parts
    this.id = options.parts.worker
    this.#prefetch = new Prefetch(options.concurrency)
    this.#unwatch = options.parts.store.watch(() => this.#wake())
    const { concurrency, leaseMs, assignments } = options
    const { emitter, time, store } = this.#parts
    emitter.emit({
      name: 'worker.started',
      at: time.now(),
      worker: this.id,
      store: store.name,
      tasks: [...assignments.keys()],
      concurrency,
      leaseMs,
    })
    void this.#parts.keeper.keep()
    this.#pump()
  }

  /** Resolves when nothing is claimable now and nothing is in hand. */
  idle(): Promise<void> {
    if (this.#broken) return Promise.reject(this.#broken.error)
    return new Promise((resolve, reject) => {
      this.#idlers.push({ resolve, reject })
      // A look from before this call does not count: what was submitted just now must be seen.
      this.#wake()
    })
  }

  /** No new claims; lets handlers end within `drainMs`, then gives their runs back. Nothing is lost and nothing counted. */
  stop(options: { readonly drainMs?: number } = {}): Promise<void> {
    this.#stopping ??= this.#stop(options.drainMs ?? this.#options.drainMs)
    return this.#stopping
  }

  #wake(): void {
    this.#hungry = true
    this.#quiet = false
    this.#pump()
  }

  #pump(): void {
    // Called from within by a handler that answered at once, or while the event loop has its turn: it goes on by itself.
    if (this.#starting) return
    this.#starting = true
    const pauseAt = this.#parts.clock.monotonic() + STARTS_MAX_MS
    let endedAt: number | undefined
    while (this.#running < this.#options.concurrency && this.#queue.length > 0 && this.#ends < ENDS_MAX) {
      if (endedAt !== undefined && endedAt >= pauseAt) {
        nextTurn(this.#resume)
        return
      }
      endedAt = this.#start(this.#queue.shift() as Execution)
      this.#refill()
    }
    this.#starting = false
    this.#refill()
  }

  readonly #resume = (): void => {
    this.#starting = false
    this.#pump()
  }

  #refill(): void {
    if (this.#stopping || this.#broken || this.#claiming || !this.#hungry || this.#alone) return
    if (this.#isLate()) {
      this.#rest()
      return
    }
    const { concurrency } = this.#options
    const empty = this.#handsAreEmpty()
    if (this.#suspects) {
      if (empty) void this.#claim(1, true)
      return
    }
    const ahead = this.#prefetch.size()
    if (this.#queue.length > ahead / 2 || this.#ends >= ENDS_MAX) return
    const wanted = concurrency - this.#running + ahead - this.#queue.length
    if (wanted > 0) void this.#claim(wanted, concurrency === 1 && empty && ahead === 0)
  }

  /** The process ends soon: what it took now it could only give back. Only the store's own time tells, so the first claim is free. */
  #isLate(): boolean {
    const { endsAt, finalizeReserveMs, time } = this.#parts
    return this.#late || (endsAt !== undefined && time.isTold && time.now() >= endsAt - finalizeReserveMs)
  }

  /** Looks for nothing more: whoever waits for this worker is told when its hands are empty. */
  #rest(): void {
    this.#hungry = false
    this.#suspects = false
    this.#quiet = true
    this.#tellWaiters()
  }

  async #claim(limit: number, alone: boolean): Promise<void> {
    this.#claiming = true
    this.#hungry = false
    this.#landed = false
    const { clock, door, keeper, ids } = this.#parts
    const { assignments, categories, limits, leaseMs } = this.#options
    const askedAt = clock.monotonic()
    try {
      const tasks = [...assignments.keys()]
      const filter = { ...(categories ? { categories } : {}), ...(limits ? { limits } : {}) }
      const claim = await door.claim({ worker: this.id, nonce: ids(8), limit, leaseMs, alone, tasks, ...filter })
      crashPoint('after-claim')
      this.#take(claim, limit, alone, keeper.sendUntil(askedAt))
    } catch (error) {
      // The door asks until the worker gives up, so this is the end, or a store that can never be used by this code.
      if (!this.#stopping) this.#break(error)
    } finally {
      this.#claiming = false
    }
    this.#pump()
    this.#tellWaiters()
    if (this.#isAtRest()) this.#options.janitor?.tidy(() => this.#isAtRest())
  }

  /** Nothing in hand, nothing to claim, and nothing happened since. */
  #isAtRest(): boolean {
    return this.#quiet && !this.#stopping && this.#handsAreEmpty()
  }

  #handsAreEmpty(): boolean {
    return this.#running === 0 && this.#queue.length === 0 && this.#ends === 0
  }

  /** Nothing more can be claimed: whoever waits for this worker is told, and if nobody does the process is. */
  #break(error: unknown): void {
    this.#broken = { error }
    const waiting = this.#idlers.splice(0)
    for (const { reject } of waiting) reject(error)
    if (waiting.length === 0) throw error
  }

  #take(claim: Claim, limit: number, alone: boolean, sendUntil: number): void {
    const { keeper } = this.#parts
    for (const run of claim.runs) {
      const { task } = this.#options.assignments.get(run.task) as Assignment
      const execution = new Execution(run, claim.token, task, this.#parts, sendUntil)
      keeper.hold(execution)
      this.#queue.push(execution)
    }
    this.#suspects = claim.suspects
    this.#alone = alone && claim.runs.length > 0
    const full = claim.runs.length >= limit
    if (full || claim.suspects) this.#hungry = true
    else this.#napUntil(claim.nextAt)
    this.#quiet = !this.#hungry && !this.#landed && claim.runs.length === 0
    if (this.#stopping) this.#releaseQueue()
  }

  /** Looks again when something becomes due, and at the latest after the poll interval: hints may be lost. */
  #napUntil(nextAt: number | undefined): void {
    const { clock, time } = this.#parts
    const waitMs = Math.min(this.#options.pollMs, Math.max(0, (nextAt ?? Number.POSITIVE_INFINITY) - time.now()))
    const endsAt = clock.monotonic() + waitMs
    if (this.#nap && this.#nap.endsAt <= endsAt) return
    this.#nap?.controller.abort()
    const controller = new AbortController()
    this.#nap = { endsAt, controller }
    clock.sleep(Math.max(1, waitMs), controller.signal).then(
      () => {
        this.#nap = undefined
        this.#wake()
      },
      () => {},
    )
  }

  /** Monotonic, when its handler answered at once; else it goes on by itself. */
  #start(execution: Execution): number | undefined {
    this.#running += 1
    const { clock } = this.#parts
    const { handler } = this.#options.assignments.get(execution.run.task) as Assignment
    const startedAt = clock.monotonic()
    const ending = perform(execution, handler, this.#options.rules)
    if (!(ending instanceof Promise)) return this.#performed(execution, ending, startedAt)
    ending.then((later) => this.#performed(execution, later, startedAt))
    if (execution.startedAt > 0) this.#limit(execution)
    return undefined
  }

  /** Both instants are monotonic. */
  #performed(execution: Execution, ending: Performed, startedAt: number): number {
    const endedAt = this.#parts.clock.monotonic()
    this.#prefetch.learn(endedAt - startedAt)
    this.#end(execution, ending)
    return endedAt
  }

  /** Watches the attempt's time, if it has a limit. */
  #limit(execution: Execution): void {
    const deadline = deadlineOf(execution)
    if (deadline === undefined) return
    execution.timer = new AbortController()
    const leftMs = Math.max(0, deadline - this.#parts.time.now())
    this.#parts.clock.sleep(leftMs, execution.timer.signal).then(
      () => this.#dismiss(execution, timeUp(execution)),
      () => {},
    )
  }

  /** Tells a handler to leave, and ends its attempt without it if it does not. */
  #dismiss(execution: Execution, failure: ReturnType<typeof timeUp>): void {
    if (execution.settled) return
    execution.leave({ type: 'stopped', failure })
    void this.#parts.clock.sleep(LEAVE_GRACE_MS).then(() => {
      if (!execution.settled) this.#end(execution, leaving(execution, { type: 'stopped', failure }))
    })
  }

  #end(execution: Execution, ending: Performed): void {
    if (execution.settled) return
    execution.settled = true
    execution.timer?.abort()
    this.#running -= 1
    if (ending) this.#write(execution, ending)
    else this.#parts.keeper.release(execution)
    if (!ending) this.#tellWaiters()
    if (this.#alone && this.#running === 0 && this.#queue.length === 0) this.#alone = false
    this.#pump()
  }

  #write(execution: Execution, ending: NonNullable<Performed>): void {
    this.#ends += 1
    if (ending.type === 'failure' && ending.failure.kind === 'interrupted') {
      this.#released += 1
      const { endsAt } = this.#parts
      if (endsAt !== undefined && deadlineOf(execution) === endsAt) this.#late = true
    }
    settle(execution, ending, (error) => {
      if (error !== undefined) this.#giveUp(execution, error)
      this.#ends -= 1
      this.#landed = true
      this.#quiet = false
      this.#parts.keeper.release(execution)
      if (this.#hungry || this.#suspects || this.#queue.length > 0) this.#pump()
      this.#tellWaiters()
    })
  }

  /** The end could not be written, and the door has stopped asking: the lease ends by itself, and another worker goes on. */
  #giveUp(execution: Execution, error: unknown): void {
    const { emitter, time } = this.#parts
    const message = error instanceof Error ? error.message : String(error)
    emitter.emit({
      name: 'store.trouble',
      at: time.now(),
      worker: this.id,
      verb: `end of ${execution.run.id}`,
      code: 'store.unavailable',
      message,
      retryInMs: 0,
    })
  }

  #releaseQueue(): void {
    for (const execution of this.#queue) {
      execution.settled = true
      this.#write(execution, { type: 'unstarted' })
    }
    this.#queue = []
  }

  #tellWaiters(): void {
    const empty = this.#handsAreEmpty() && !this.#claiming
    if (empty) this.#drained?.()
    if (this.#idlers.length === 0) return
    if ((empty && this.#quiet) || this.#stopping) for (const { resolve } of this.#idlers.splice(0)) resolve()
    // Nothing in hand, but the last look was before the last end: look once more.
    else if (empty) this.#wake()
  }

  async #stop(drainMs: number): Promise<void> {
    const { clock, emitter, keeper, time } = this.#parts
    this.#unwatch()
    this.#nap?.controller.abort()
    emitter.emit({ name: 'worker.stopping', at: time.now(), worker: this.id, running: this.#running })
    this.#releaseQueue()
    const drained = new AbortController()
    const late = clock.sleep(drainMs, drained.signal).then(
      () => {
        for (const execution of keeper.executions()) if (!execution.settled) this.#dismiss(execution, workerStops())
      },
      () => {},
    )
    await this.#emptied()
    drained.abort()
    await late
    await this.#options.janitor?.stop()
    keeper.stop()
    emitter.emit({ name: 'worker.stopped', at: time.now(), worker: this.id, released: this.#released })
    this.#tellWaiters()
  }

  #emptied(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = resolve
      this.#tellWaiters()
    })
  }
}
