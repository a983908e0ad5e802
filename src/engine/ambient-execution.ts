/**
 * An execution as adapters of other people's clients see it from deep inside a handler: its signal, its time, where to tell.
 * It decides nothing and gives no way to end the attempt.
 */
import type { Failure } from '../failure/failure.ts'
import type { AmbientAttempt, ClientEventFields, ClientEventName } from '../observe/ambient.ts'
import { callLimitMs } from './deadline.ts'
import type { Execution } from './execution.ts'

export class AmbientExecution implements AmbientAttempt {
  readonly #execution: Execution
  readonly #takeAgain: AmbientAttempt['repeating'] | undefined

  /** Inside a journalled call `takeAgain` ends its take and begins the next. */
  constructor(execution: Execution, takeAgain?: AmbientAttempt['repeating']) {
    this.#execution = execution
    this.#takeAgain = takeAgain
  }

  get signal(): AbortSignal {
    return this.#execution.signal
  }

  get deadlineAt(): number | undefined {
    const limitMs = callLimitMs(this.#execution, undefined)
    return limitMs === undefined ? undefined : this.#execution.parts.clock.now() + limitMs
  }

  tell<Name extends ClientEventName>(name: Name, fields: ClientEventFields<Name>): void {
    this.#execution.emit(name, fields)
  }

  async repeating(failed: Failure, thrown: unknown): Promise<void> {
    if (this.#takeAgain) await this.#takeAgain(failed, thrown)
    else this.#execution.takes += 1
  }

  note(what: string, data: Readonly<Record<string, string | number | boolean>>): void {
    const { run, parts } = this.#execution
    // A note is told in passing: a store that does not take it must not end the work that it is about.
    parts.store.note({ run: run.id, by: parts.worker, what, data }).catch(() => {})
  }
}
