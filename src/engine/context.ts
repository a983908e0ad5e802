/**
 * What a handler is given besides its input: its signal and deadline, and the verbs that are journalled.
 * It only hands on to the parts that do the work.
 */
import type { StoredArtifact } from '../ports/artifacts.ts'
import type { Level } from '../run/event-entry.ts'
import type { Reply } from '../run/question.ts'
import type { Duration } from '../time/duration.ts'
import { type ArtifactBody, type ArtifactOptions, putArtifact } from './artifact.ts'
import { type CallOptions, type CallScope, journalledCall } from './call.ts'
import { deadlineOf } from './deadline.ts'
import type { Execution } from './execution.ts'
import { type ChildResult, type JoinChild, type JoinOptions, journalledJoin } from './join.ts'
import { journalledPerson, type PersonOptions } from './person.ts'
import { journalledSleep } from './sleep.ts'
import type { SubmitOptions } from './submit.ts'
import { submitWithEnd } from './submit-with-end.ts'
import type { Task } from './task.ts'

export interface Context<Input = unknown> {
  /** Id of the run. */
  readonly run: string
  readonly key?: string
  readonly input: Input
  readonly generation: number
  /** Number of this execution, 1 for the first; also uncounted ones. */
  readonly attempt: number
  /** Aborted when the lease is lost, the worker stops, or time is up. Pass it on to everything that takes one. */
  readonly signal: AbortSignal
  /** When this attempt must be over, epoch milliseconds of the store's clock; absent without a limit. */
  readonly deadline?: number
  readonly log: Log
  /** Tells how far the work is; shown while the run is running. Stored at most once a second; never throws. */
  progress(done: number, of?: number, note?: string): Promise<void>
  /**
   * Does something in the world once: a stored answer is given back instead of a second call, in every later attempt.
   * Infrastructure failures are retried here, silently; what stays is thrown.
   */
  call<Value>(name: string, send: (scope: CallScope) => Value | Promise<Value>, options?: CallOptions): Promise<Value>
  /** Keeps an output that is too large for a row; create-only, so a repeat gives the stored one back. */
  artifact(name: string, body: ArtifactBody, options?: ArtifactOptions): Promise<StoredArtifact>
  /** Outputs of the steps that this one needs, by their names. Empty outside of a flow. */
  readonly needs: Readonly<Record<string, unknown>>
  /**
   * Begins children and waits for all of them without holding a slot: the attempt ends suspended, and the handler runs again from the
   * top when the last child has ended. Results in the order of the children. Up to 1,000.
   */
  join<Output>(
    name: string,
    children: readonly JoinChild<Output>[],
    options?: { readonly onFailure?: 'fail' },
  ): Promise<readonly Output[]>
  join<Output>(
    name: string,
    children: readonly JoinChild<Output>[],
    options: { readonly onFailure: 'collect' },
  ): Promise<readonly ChildResult<Output>[]>
  /**
   * Asks a person and waits for the reply without holding a slot: the attempt ends suspended in review, and the handler runs again from
   * the top when somebody has replied, or nobody has in time. A reply that is not good enough is asked for again with another `input`.
   */
  person(name: string, options: PersonOptions): Promise<Reply>
  /** Begins a run with this attempt's success, in the same commit; if the attempt ends in anything else, it is not begun. */
  submit<Input>(task: Task<Input>, input: Input, options?: SubmitOptions): Promise<void>
  /** Waits. Above a minute the attempt ends suspended, and the handler runs again from the top when the time has come. */
  sleep(name: string, duration: Duration): Promise<void>
}

export type Log = Readonly<Record<Level, (message: string, data?: Readonly<Record<string, unknown>>) => void>>

/** The store hears of progress this often at most. */
const PROGRESS_EVERY_MS = 1_000

export class HandlerContext<Input> implements Context<Input> {
  readonly input: Input
  readonly #execution: Execution
  #log: Log | undefined
  #progressAt = Number.NEGATIVE_INFINITY

  readonly needs: Readonly<Record<string, unknown>>

  constructor(execution: Execution, input: Input, needs: Readonly<Record<string, unknown>>) {
    this.needs = needs
    this.#execution = execution
    this.input = input
  }

  get run(): string {
    return this.#execution.run.id
  }

  get key(): string {
    // Typed as optional in the interface; a getter cannot be absent.
    return this.#execution.run.key as string
  }

  get generation(): number {
    return this.#execution.run.generation
  }

  get attempt(): number {
    return this.#execution.run.attempt
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }

  get deadline(): number {
    return deadlineOf(this.#execution) as number
  }

  get log(): Log {
    const say =
      (level: Level) =>
      (message: string, data?: Readonly<Record<string, unknown>>): void =>
        this.#execution.emit('log', { level, message: String(message), ...(data === undefined ? {} : { data }) })
    this.#log ??= { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
    return this.#log
  }

  async progress(done: number, of?: number, note?: string): Promise<void> {
    const execution = this.#execution
    // Handlers tell progress in passing and rarely wait for it, so it never throws: whoever must leave learns it by the signal.
    if (execution.left || execution.settled) return
    const progress = { done, ...(of === undefined ? {} : { of }), ...(note === undefined ? {} : { note }) }
    execution.emit('progress', progress)
    const now = execution.parts.clock.monotonic()
    if (now - this.#progressAt < PROGRESS_EVERY_MS && done !== of) return
    this.#progressAt = now
    const { run, token, parts } = execution
    const answer = await parts.door.commit({ type: 'progress', run: run.id, token, progress }).catch(() => 'ok')
    if (answer === 'lost' && !execution.settled) execution.refused('progress')
  }

  call<Value>(
    name: string,
    send: (scope: CallScope) => Value | Promise<Value>,
    options: CallOptions = {},
  ): Promise<Value> {
    return journalledCall(this.#execution, name, send, options)
  }

  artifact(name: string, body: ArtifactBody, options: ArtifactOptions = {}): Promise<StoredArtifact> {
    return putArtifact(this.#execution, name, body, options)
  }

  // One signature for both of the interface's: what is given back follows from `onFailure`.
  join<Output>(name: string, children: readonly JoinChild<Output>[], options: JoinOptions = {}): Promise<never> {
    return journalledJoin(this.#execution, name, children, options) as Promise<never>
  }

  person(name: string, options: PersonOptions): Promise<Reply> {
    return journalledPerson(this.#execution, name, options)
  }

  submit<Input>(task: Task<Input>, input: Input, options: SubmitOptions = {}): Promise<void> {
    return submitWithEnd(this.#execution, task as Task, input, options)
  }

  sleep(name: string, duration: Duration): Promise<void> {
    return journalledSleep(this.#execution, name, duration)
  }
}
