/**
 * A process that can die and freeze: everything that reaches it comes through here, so that nothing of it goes on after a crash
 * and nothing of it moves during a pause. It does not know what runs in it.
 */
import { type Cancel, type Clock, sleepBy } from '../../time/clock.ts'
import { WORLD_BEGINS_AT, type World } from './world.ts'

export interface SimProcessOptions {
  readonly world: World
  readonly name: string
  /** Its wall clock is this far from the store's. */
  readonly skewMs: number
  /** Its monotonic clock runs this fast. */
  readonly rate: number
  readonly onCrash: (process: SimProcess) => void
}

export class SimProcess {
  readonly name: string
  readonly clock: Clock
  readonly #options: SimProcessOptions
  #alive = true
  #pausedUntil = 0
  #timers = 0

  constructor(options: SimProcessOptions) {
    this.#options = options
    this.name = options.name
    const { world, skewMs, rate } = options
    const after = (ms: number, run: () => void): Cancel => this.#after(Math.max(0, ms) / rate, run)
    this.clock = {
      now: () => world.now + skewMs,
      monotonic: () => (world.now - WORLD_BEGINS_AT) * rate,
      after,
      sleep: (ms, signal) => sleepBy(after, ms, signal),
    }
  }

  get alive(): boolean {
    return this.#alive
  }

  get paused(): boolean {
    return this.#options.world.now < this.#pausedUntil
  }

  /** Timers that were set in it and have neither fired nor been taken back: 0 after a clean stop. */
  get timers(): number {
    return this.#timers
  }

  /** As kill -9: nothing of it ever goes on. */
  crash(): void {
    if (!this.#alive) return
    this.#alive = false
    this.#options.onCrash(this)
  }

  /** As SIGSTOP and SIGCONT: what reaches it meanwhile is handled afterwards; its clocks go on. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#options.world.now + ms)
  }

  /** Something from outside reaches it after `ms`, if it lives, and not while it is frozen. */
  deliver(ms: number, run: () => void): Cancel {
    const { world } = this.#options
    const arrive = (): void => {
      if (!this.#alive) return
      if (this.paused) cancel = world.after(this.#pausedUntil - world.now, arrive)
      else run()
    }
    let cancel = world.after(ms, arrive)
    return () => cancel()
  }

  #after(ms: number, run: () => void): Cancel {
    let open = true
    const close = () => {
      if (open) this.#timers -= 1
      open = false
    }
    this.#timers += 1
    const cancel = this.deliver(ms, () => {
      close()
      run()
    })
    return () => {
      close()
      cancel()
    }
  }
}
