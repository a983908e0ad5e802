/**
 * Keeps the leases of everything a worker holds: renews them in one call, and tells executions whose lease is gone.
 * Safety is by the monotonic clock: past `sendUntil` nothing is sent before the store has confirmed the lease.
 */
import type { Clock } from '../time/clock.ts'
import { isTrouble } from './end-writer.ts'
import type { Execution } from './execution.ts'
import type { StoreDoor } from './store-door.ts'
import { leave } from './throwables.ts'

/** Leases are renewed this many times within their length, so that one lost renewal costs nothing. */
const RENEWALS_PER_LEASE = 3

/** Nothing is sent this long before the lease ends; a quarter of short leases. */
const MARGIN_MAX_MS = 5_000

export interface LeaseKeeperOptions {
  readonly worker: string
  readonly door: StoreDoor
  readonly clock: Clock
  readonly leaseMs: number
}

export class LeaseKeeper {
  readonly #options: LeaseKeeperOptions
  readonly #held = new Map<string, Execution>()
  readonly #stop = new AbortController()
  #confirming: Promise<void> | undefined

  constructor(options: LeaseKeeperOptions) {
    this.#options = options
  }

  /** The instant up to which a lease asked for at `askedAt` (both monotonic) surely holds. */
  sendUntil(askedAt: number): number {
    const { leaseMs } = this.#options
    return askedAt + leaseMs - Math.min(MARGIN_MAX_MS, leaseMs / 4)
  }

  get size(): number {
    return this.#held.size
  }

  executions(): Iterable<Execution> {
    return this.#held.values()
  }

  hold(execution: Execution): void {
    this.#held.set(execution.run.id, execution)
  }

  release(execution: Execution): void {
    if (this.#held.get(execution.run.id) === execution) this.#held.delete(execution.run.id)
  }

  /** Renews until stopped. */
  async keep(): Promise<void> {
    const { clock, leaseMs } = this.#options
    while (!this.#stop.signal.aborted) {
      try {
        await clock.sleep(leaseMs / RENEWALS_PER_LEASE, this.#stop.signal)
        await this.#renew()
      } catch (error) {
        // Stopped, or the door gave the store up because the worker leaves: there is nothing left to keep. Anything else is a bug.
        if (this.#stop.signal.aborted || isTrouble(error)) return
        throw error
      }
    }
  }

  stop(): void {
    this.#stop.abort()
  }

  /** Before a send: returns at once while the lease surely holds, else asks the store, and throws when it is lost. */
  async confirm(execution: Execution): Promise<void> {
    execution.check()
    if (this.#options.clock.monotonic() < execution.sendUntil) return
    this.#confirming ??= this.#renew().finally(() => {
      this.#confirming = undefined
    })
    await this.#confirming
    execution.check()
    if (this.#options.clock.monotonic() >= execution.sendUntil) {
      // The store took so long to answer that the lease may be gone again: the attempt is dropped, and that must not be silent.
      execution.emit('lease.lost', { token: execution.token })
      throw leave({ type: 'lost' }, 'the lease could not be confirmed')
    }
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return
    const { worker, door, clock, leaseMs } = this.#options
    const asked = [...this.#held.values()]
    const askedAt = clock.monotonic()
    const leases = asked.map(({ run, token }) => ({ run: run.id, token }))
    const { lost } = await door.renew({ worker, leaseMs, leases })
    const gone = new Set(lost)
    for (const execution of asked) {
      if (!gone.has(execution.run.id)) execution.sendUntil = this.sendUntil(askedAt)
      else if (!execution.settled) this.#lose(execution)
    }
  }

  #lose(execution: Execution): void {
    execution.emit('lease.lost', { token: execution.token })
    execution.leave({ type: 'lost' })
    this.release(execution)
  }
}
