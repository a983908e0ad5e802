/**
 * One scenario's surroundings: a folder of its own, the store's file, worker processes, and a client. All of it is gone after `close`.
 * It also tells the seed, without which a scenario cannot be played again.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReprise, type Reprise } from '../../src/engine/reprise.ts'
import type { Store } from '../../src/ports/store.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type Clock, systemClock } from '../../src/time/clock.ts'
import { type Dice, seededDice } from '../../src/time/dice.ts'
import { Submitter } from './submitter.ts'
import { until } from './until.ts'
import { WorkerPool } from './worker-pool.ts'
import type { WorkerSetup } from './worker-process.ts'

/** `REPRISE_TEST_CHAOS=full` plays every scenario at the size of the proof; otherwise at the size of a test. */
export const FULL: boolean = process.env['REPRISE_TEST_CHAOS'] === 'full'

export const SEED: number = Number(process.env['REPRISE_TEST_CHAOS_SEED'] ?? Date.now() % 1_000_000)

export interface ArenaOptions extends Partial<Omit<WorkerSetup, 'folder' | 'file'>> {
  readonly name: string
  readonly seed?: number
  /** The client's. Workers have the system's unless `clockSeed` says otherwise. */
  readonly clock?: Clock
  /** Where the store's file lies, if not in the arena's folder. */
  readonly storeFolder?: string
}

export class Arena {
  readonly folder: string
  /** The store's. */
  readonly file: string
  readonly seed: number
  readonly dice: Dice
  readonly leaseMs: number
  readonly pool: WorkerPool
  readonly submitter: Submitter
  readonly #reprise: Reprise

  constructor({ name, seed = SEED, clock = systemClock, storeFolder, ...setup }: ArenaOptions) {
    this.folder = mkdtempSync(join(tmpdir(), 'reprise-chaos-'))
    for (const each of ['events', 'marks', 'submits', 'flows']) mkdirSync(join(this.folder, each))
    this.seed = seed
    this.dice = seededDice(seed)
    this.leaseMs = setup.leaseMs ?? 1_000
    this.file = join(storeFolder ?? this.folder, 'store.db')
    const { folder, file, leaseMs } = this
    this.pool = new WorkerPool({ concurrency: 8, drainMs: 5_000, ...setup, folder, file, leaseMs })
    this.#reprise = createReprise({ store: sqlite({ file, clock }), clock })
    this.submitter = new Submitter(this.#reprise)
    console.log(`chaos ${name}: REPRISE_TEST_CHAOS_SEED=${seed}`)
  }

  get store(): Store {
    return this.#reprise.store
  }

  async unfinished(): Promise<number> {
    const counts = await this.store.count({ states: ['blocked', 'ready', 'running', 'waiting'] })
    return counts.reduce((sum, { runs }) => sum + runs, 0)
  }

  /** Waits until every run is at an end or with a person. */
  async settled(withinMs?: number): Promise<void> {
    await until('every run is at an end or with a person', async () => (await this.unfinished()) === 0, withinMs)
  }

  async close(): Promise<void> {
    await this.pool.close()
    await this.#reprise.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
