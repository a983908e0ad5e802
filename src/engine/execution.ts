/**
 * One claimed run in a worker's hands, from claim to end: its lease, its signal, its journal, and whether it is still wanted.
 * Members that most runs never use are made on first use, because a no-op run should cost next to nothing.
 */

import { RepriseError } from '../failure/reprise-error.ts'
import type { AnswerChange, ClaimedRun, CommitAnswer, IntentChange, NewRun } from '../ports/store.ts'
import type { EventName, EventOf, RepriseEvent } from '../run/event.ts'
import type { HoldOrder } from '../run/hold.ts'
import type { JournalEntry } from '../run/journal.ts'
import { refusal, tellBudgets } from './call-budget.ts'
import type { Task } from './task.ts'
import { type Leave, leave } from './throwables.ts'
import type { WorkerParts } from './worker-parts.ts'

/** What the journal keeps; whose it is, the execution knows. */
type Journalled =
  | Omit<IntentChange, 'run' | 'token' | 'generation'>
  | Omit<AnswerChange, 'run' | 'token' | 'generation'>

/** The fields of an event that the execution itself knows. */
type Known = 'name' | 'at' | 'run' | 'task' | 'key' | 'generation' | 'attempt' | 'worker'

export class Execution {
  readonly run: ClaimedRun
  readonly token: number
  readonly task: Task
  readonly parts: WorkerParts
  /** Store time; 0 until the handler is called. */
  startedAt = 0
  /** Physical sends in this attempt. */
  takes = 0
  costUsd = 0
  /** Monotonic: past it nothing may be sent before the lease is confirmed, because somebody else may own the run. */
  sendUntil: number
  /** Set by what `ctx` throws to suspend, so that a handler that catches it suspends all the same. */
  suspendedOn: Leave | undefined
  /** Runs that begin with this attempt's success; checked and made while the handler goes on. */
  submitted: Promise<NewRun>[] | undefined
  /** The last call that failed for good, and what it needed. */
  failedOn: { readonly resource: string; readonly thrown: unknown } | undefined
  /** The last send that a budget refused: what was thrown, and what becomes of the attempt if nobody catches it. */
  overBudget: { readonly thrown: unknown; readonly leave: Leave | undefined } | undefined
  /** Ends the wait for its time limit, if it has one. */
  timer: AbortController | undefined
  /** True once its end is being written or it was given up: whatever the handler still does is not heard. */
  settled = false
  #left: Leave | undefined
  #controller: AbortController | undefined
  #names: Set<string> | undefined
  #journal: Promise<Map<string, JournalEntry>> | undefined

  constructor(run: ClaimedRun, token: number, task: Task, parts: WorkerParts, sendUntil: number) {
    this.run = run
    this.token = token
    this.task = task
    this.parts = parts
    this.sendUntil = sendUntil
  }

  /** The attempt's name in events and spans. */
  get ref(): { readonly run: string; readonly generation: number; readonly attempt: number } {
    const { id, generation, attempt } = this.run
    return { run: id, generation, attempt }
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#left) this.#controller.abort(this.#reason(this.#left))
    return this.#controller.signal
  }

  /** Why the handler was told to leave, if it was. */
  get left(): Leave | undefined {
    return this.#left
  }

  /** Tells the handler to leave. The first reason stays. */
  leave(reason: Leave): void {
    if (this.#left) return
    this.#left = reason
    this.#controller?.abort(this.#reason(reason))
  }

  /** Throws when the handler was told to leave: the next thing it asks of the engine ends it. */
  check(): void {
    if (this.#left) throw this.#reason(this.#left)
    if (this.settled) throw this.#reason({ type: 'lost' })
  }

  #reason(reason: Leave): Error {
    if (reason.type === 'lost') return leave(reason, `run ${this.run.id} is no longer owned by ${this.parts.worker}`)
    return leave(reason, reason.type === 'stopped' ? reason.failure.message : reason.type)
  }

  /** A suspension: remembered, then thrown through the handler. */
  suspend(reason: Leave, message: string): Error {
    this.suspendedOn = reason
    return leave(reason, message)
  }

  /** The journal is keyed by name, so a name used twice in one round would give the second call the first one's answer. */
  takeName(name: unknown, round = ''): asserts name is string {
    if (typeof name !== 'string' || name.length === 0 || name.length > 200) {
      throw new RepriseError('call.name', `call name is ${JSON.stringify(name)}. Allowed: text of 1 to 200 characters.`)
    }
    this.#names ??= new Set()
    if (this.#names.has(name + round)) {
      throw new RepriseError(
        'call.name_twice',
        `call name "${name}" is used twice in one execution of ${this.task.name}. Allowed: each name once; add what differs, such as "${name}-2".`,
      )
    }
    this.#names.add(name + round)
  }

  journal(): Promise<Map<string, JournalEntry>> {
    this.#journal ??= this.#loadJournal()
    return this.#journal
  }

  async #loadJournal(): Promise<Map<string, JournalEntry>> {
    if (!this.run.journaled) return new Map()
    const entries = await this.parts.door.journal(this.run.id, this.run.generation)
    return new Map(entries.map((entry) => [journalKey(entry.name, entry.inputHash), entry]))
  }

  /** Writes an intent or an answer; a lost lease ends the execution, and a budget that is used up fails the call. */
  async write(change: Journalled): Promise<void> {
    const answer = await this.#commit(change)
    if (answer === 'ok') return
    this.refused(change.type)
    if (change.type === 'answer' && change.answer !== undefined)
      this.emit('call.receipt', { call: change.name, token: this.token })
    throw leave({ type: 'lost' }, 'lost')
  }

  async #commit(change: Journalled): Promise<CommitAnswer['answer']> {
    const { id: run, generation } = this.run
    const committed = await this.parts.door.commitWhole({ ...change, run, token: this.token, generation })
    if (committed.hold) this.#tellSlowed(committed.hold)
    tellBudgets(this, change.name, committed)
    if (committed.over) throw refusal(this, change.name, committed.over)
    return committed.answer
  }

  #tellSlowed({ what, until, by, why }: HoldOrder): void {
    const { emitter, time, worker } = this.parts
    const ends = { until: until ?? time.now() }
    emitter.emit({ name: 'hold.slowed', at: time.now(), what, ...ends, by, left: why, foundBy: this.run.id, worker })
  }

  /** A write came after its lease: told, and the handler with it. */
  refused(what: EventOf<'write.refused'>['what']): void {
    this.emit('write.refused', { token: this.token, what })
    this.leave({ type: 'lost' })
  }

  emit<Name extends EventName>(
    name: Name,
    fields: Omit<EventOf<Name>, Known> & { readonly attempt?: number; readonly worker?: string },
  ): void {
    const { emitter, time, worker } = this.parts
    if (!emitter.listening) return
    const { id: run, task, key, generation, attempt } = this.run
    const known = {
      name,
      at: time.now(),
      run,
      task,
      generation,
      attempt,
      worker,
      ...(key === undefined ? {} : { key }),
    }
    // Every event an execution emits has these fields and the ones it is given; the compiler cannot add the two up.
    emitter.emit({ ...known, ...fields } as unknown as RepriseEvent)
  }
}

export const journalKey = (name: string, inputHash: string): string => `${inputHash} ${name}`
