/**
 * What everybody in one simulation shares: the world, the recorded store, the faults, the log, and one stream of dice per purpose.
 */
import type { WorkLimits } from '../../engine/limits.ts'
import type { RetentionOptions } from '../../engine/retention.ts'
import type { Store } from '../../ports/store.ts'
import type { Clock } from '../../time/clock.ts'
import { type Dice, seededDice } from '../../time/dice.ts'
import { ArtifactShelf } from './artifact-shelf.ts'
import { Faults } from './faults.ts'
import { RecordedStore, Recorder } from './recorder.ts'
import { between, pick, type Script, type TaskName } from './script.ts'
import { SimProcess } from './sim-process.ts'
import { SIM_RESOURCE } from './sim-tasks.ts'
import { wire } from './wire.ts'
import { WORLD_BEGINS_AT, World } from './world.ts'

/** The character of a seed. */
export interface Character {
  readonly workers: number
  readonly items: number
  readonly leaseMs: number
  readonly pollMs: number
  /** How often processes are killed, frozen and stopped from outside: 0 never, 1 often. */
  readonly unrest: number
  /** Hosts whose wall clocks are wrong and whose monotonic clocks run fast or slow. */
  readonly badClocks: boolean
  /** How long faults go on at least. */
  readonly safetyMs: number
  readonly flows: number
  /** When the common resource fails for everybody, from the beginning. */
  readonly outage: { readonly fromMs: number; readonly toMs: number } | undefined
  readonly limits: WorkLimits
  readonly retention: RetentionOptions | undefined
  /** How long a run waits until it has caught up a step of priority. */
  readonly ageingMs: number
}

/** As it is by default, never, and within a seed. */
const AGEINGS_MS = [600_000, 0, 3_000, 15_000] as const

export class Stage {
  readonly seed: number
  readonly world = new World()
  readonly recorder: Recorder
  readonly recorded: RecordedStore
  readonly faults: Faults
  readonly shelf: ArtifactShelf
  readonly character: Character
  /** What each item will do. */
  readonly scripts = new Map<number, Script>()
  readonly #latency: Dice
  readonly #hosts: Dice
  readonly #hints = new Set<() => void>()

  constructor(seed: number, open: (clock: Clock, ageingMs: number) => Store) {
    this.seed = seed
    this.character = { ...characterOf(this.dice('character')), ageingMs: pick(this.dice('ageing'), AGEINGS_MS) }
    this.recorder = new Recorder(this.world)
    this.recorded = new RecordedStore(open(this.world.clock, this.character.ageingMs), this.recorder, () =>
      this.#hint(),
    )
    this.faults = new Faults(this.dice('faults'))
    this.shelf = new ArtifactShelf(this.recorder)
    this.#latency = this.dice('latency')
    this.#hosts = this.dice('hosts')
  }

  /** Dice of their own for each purpose, so that one more draw here changes nothing there. */
  dice(purpose: string): Dice {
    let mixed = this.seed >>> 0
    for (const char of purpose) mixed = (Math.imul(mixed, 31) + char.charCodeAt(0)) >>> 0
    return seededDice(mixed)
  }

  /** Whether the common resource fails for everybody who needs it. */
  isDown(task: TaskName | 'part'): boolean {
    const { outage } = this.character
    const at = this.world.now - WORLD_BEGINS_AT
    return task === 'metered' && outage !== undefined && at >= outage.fromMs && at < outage.toMs
  }

  process(name: string, onCrash: (process: SimProcess) => void = () => {}): SimProcess {
    const bad = this.character.badClocks
    const skewMs = bad ? between(this.#hosts, -600_000, 600_000) : 0
    const rate = bad ? pick(this.#hosts, [0.92, 1, 1, 1.08]) : 1
    return new SimProcess({ world: this.world, name, skewMs, rate, onCrash })
  }

  /** The store as this process reaches it. */
  storeOf(process: SimProcess, crashable: boolean): Store {
    const { world, recorder, recorded, faults } = this
    const { leaseMs } = this.character
    const watch = (listening: SimProcess, hint: () => void) => this.#watch(listening, hint)
    return wire({ world, process, recorded, recorder, faults, dice: this.#latency, leaseMs, watch, crashable })
  }

  #watch(process: SimProcess, hint: () => void): () => void {
    // One hint in three is lost: polling is the truth.
    const listener = () => {
      if (process.alive && this.#latency() > 0.33) process.deliver(between(this.#latency, 0, 30), hint)
    }
    this.#hints.add(listener)
    return () => this.#hints.delete(listener)
  }

  #hint(): void {
    for (const listener of this.#hints) listener()
  }
}

function characterOf(dice: Dice): Omit<Character, 'ageingMs'> {
  const leaseMs = between(dice, 1_500, 5_000)
  return {
    workers: dice() < 0.85 ? between(dice, 1, 4) : between(dice, 5, 8),
    items: between(dice, 3, 24),
    leaseMs,
    pollMs: between(dice, 2_000, 8_000),
    unrest: pick(dice, [0, 0.3, 1]),
    badClocks: dice() < 0.4,
    safetyMs: between(dice, 20_000, 90_000),
    flows: between(dice, 0, 3),
    outage: dice() < 0.25 ? outageOf(dice) : undefined,
    limits: dice() < 0.25 ? limitOf(dice) : {},
    retention: dice() < 0.35 ? retentionOf(dice) : undefined,
  }
}

function outageOf(dice: Dice) {
  const fromMs = between(dice, 1_000, 10_000)
  return { fromMs, toMs: fromMs + between(dice, 5_000, 30_000) }
}

const limitOf = (dice: Dice): WorkLimits => ({
  [SIM_RESOURCE]: { concurrency: between(dice, 1, 3), ...(dice() < 0.5 ? { perSecond: between(dice, 1, 4) } : {}) },
})

const retentionOf = (dice: Dice): RetentionOptions => ({
  succeeded: between(dice, 0, 20_000),
  failed: between(dice, 5_000, 60_000),
  cancelled: between(dice, 0, 30_000),
  ...(dice() < 0.3 ? { keepMax: between(dice, 0, 5) } : {}),
  every: between(dice, 1_000, 10_000),
})
