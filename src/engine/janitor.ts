/**
 * Retention at work: a worker that has nothing to do lets go of old runs, a small batch at a time, and stops as soon as it has.
 * Nothing correct depends on it, so trouble is told and the next look tries again.
 */
import { isRepriseError } from '../failure/reprise-error.ts'
import type { Artifacts } from '../ports/artifacts.ts'
import type { Pruned, Store } from '../ports/store.ts'
import type { Emit } from '../run/event.ts'
import { type Clock, turn } from '../time/clock.ts'
import type { Retention } from './retention.ts'
import type { StoreTime } from './store-time.ts'

export interface JanitorOptions {
  readonly retention: Retention
  readonly store: Store
  readonly artifacts?: Artifacts
  readonly clock: Clock
  readonly time: StoreTime
  readonly emit: Emit
  readonly worker: string
}

export class Janitor {
  readonly #options: JanitorOptions
  #dueAt = Number.NEGATIVE_INFINITY
  #round: Promise<void> | undefined
  #stopped = false

  constructor(options: JanitorOptions) {
    this.#options = options
  }

  /** Begins a round if one is due; it goes on while `isIdle` says so. */
  tidy(isIdle: () => boolean): void {
    if (this.#round || this.#stopped || this.#options.clock.monotonic() < this.#dueAt) return
    this.#round = this.#tidy(isIdle).finally(() => {
      this.#round = undefined
    })
  }

  /** Resolves when the batch under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#round
  }

  async #tidy(isIdle: () => boolean): Promise<void> {
    const { clock, retention } = this.#options
    const startedAt = clock.monotonic()
    let runs = 0
    let keys = 0
    let through = false
    try {
      while (!through && !this.#stopped && isIdle()) {
        const batch = await this.#batch()
        runs += batch.pruned.length
        keys += batch.keys
        through = !batch.more
        // Others first, if there is more to do.
        if (!through) await turn()
      }
    } catch (error) {
      through = true
      this.#tellTrouble(error)
    }
    // A round that work has interrupted goes on at the next rest.
    if (through) this.#dueAt = clock.monotonic() + retention.everyMs
    if (runs + keys > 0) this.#tell(runs, keys, Math.round(clock.monotonic() - startedAt))
  }

  async #batch(): Promise<Pruned> {
    const { store, retention, artifacts } = this.#options
    const nothing: Pruned = { now: 0, pruned: [], keys: 0, more: false }
    const batch = (await store.prune?.(retention.request)) ?? nothing
    // After the runs: an object without its run is litter, a run without its object would be a loss.
    if (retention.artifacts === 'with-run') for (const run of batch.pruned) await artifacts?.remove?.([run])
    return batch
  }

  #tell(runs: number, keys: number, ms: number): void {
    const { emit, time, worker } = this.#options
    emit({ name: 'store.pruned', at: time.now(), worker, runs, keys, ms })
  }

  #tellTrouble(error: unknown): void {
    const { emit, time, worker, retention } = this.#options
    const code = isRepriseError(error) ? error.code : 'store.unavailable'
    const message = error instanceof Error ? error.message : String(error)
    const retryInMs = retention.everyMs
    emit({ name: 'store.trouble', at: time.now(), worker, verb: 'prune', code, message, retryInMs })
  }
}
