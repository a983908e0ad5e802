/**
 * The attempt in which code is running, for adapters of other people's clients that are called deep inside a handler.
 * The engine enters it, adapters look it up; nobody pays for it before the first adapter has asked for it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Failure } from '../failure/failure.ts'
import type { EventName, EventOf } from '../run/event.ts'

export type ClientEventName = Extract<EventName, `client.${string}` | `node.${string}`>

/** The fields that the attempt itself adds. */
type Known = 'name' | 'at' | 'run' | 'task' | 'key' | 'generation' | 'attempt' | 'worker'

export type ClientEventFields<Name extends ClientEventName> = Omit<EventOf<Name>, Known>

export interface AmbientAttempt {
  readonly signal: AbortSignal
  /** When a request must be over, epoch milliseconds; absent without a limit. */
  readonly deadlineAt: number | undefined
  /** Tells an event with the attempt's own fields. */
  tell<Name extends ClientEventName>(name: Name, fields: ClientEventFields<Name>): void
  /**
   * Before an adapter repeats a request that failed: the send is counted, and inside a journalled call the failed take is settled and
   * the intent of the next one written first.
   */
  repeating(failed: Failure, thrown: unknown): Promise<void>
  /** Leaves a note on the run. Never throws and is not waited for. */
  note(what: string, data: Readonly<Record<string, string | number | boolean>>): void
}

let storage: AsyncLocalStorage<AmbientAttempt> | undefined

/** To be called by every adapter when it is loaded: attempts that begin after it can be looked up. */
export function wantAmbient(): void {
  storage ??= new AsyncLocalStorage()
}

/** The attempt around the caller, if there is one and anybody wanted to know. */
export function ambientAttempt(): AmbientAttempt | undefined {
  return storage?.getStore()
}

/** Runs `body` inside an attempt. Without an adapter in the process it just runs it. */
export function inAttempt<Answer>(make: () => AmbientAttempt, body: () => Answer): Answer {
  return storage ? storage.run(make(), body) : body()
}
