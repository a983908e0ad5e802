/**
 * Those who steer: cancel, retry and reorder runs, hold and release what runs need. Each act is logged as a client's is.
 */
import { isRepriseError } from '../../failure/reprise-error.ts'
import type { Act, Committed, RunView, Store } from '../../ports/store.ts'
import type { HoldTarget } from '../../run/hold.ts'
import type { Dice } from '../../time/dice.ts'
import type { ClientLine } from './history.ts'
import { between, pick } from './script.ts'
import { SIM_RESOURCE } from './sim-tasks.ts'
import type { Stage } from './stage.ts'

const BY = 'ops'

const TARGETS: readonly HoldTarget[] = [
  `resource:${SIM_RESOURCE}`,
  `resource:${SIM_RESOURCE}`,
  'resource:small',
  'task:plain',
  'category:letters',
]

/** What an operator looks for before each act; it may have changed by then. */
const FITTING = {
  cancel: ['blocked', 'ready', 'waiting', 'running', 'review'],
  retry: ['failed', 'cancelled', 'review'],
  reorder: ['ready', 'waiting'],
} as const

const FOUND_MAX = 20

/** Late requests of before are executed by then. */
const LATE_MS = 20_000

type Told = Omit<ClientLine, 'log' | 'seq' | 'at' | 'process'>

export interface OperatorsOptions {
  readonly stage: Stage
  readonly store: Store
  readonly later: (ms: number, act: () => Promise<void>) => void
  readonly nextOp: () => number
  readonly tell: (line: Told) => void
}

export class Operators {
  readonly #options: OperatorsOptions
  readonly #dice: Dice

  constructor(options: OperatorsOptions) {
    this.#options = options
    this.#dice = options.stage.dice('operators')
  }

  plan(withinMs: number): void {
    const { later } = this.#options
    const dice = this.#dice
    for (let acts = between(dice, 0, 10); acts > 0; acts -= 1) {
      const does = pick(dice, ['cancel', 'retry', 'retry', 'reorder', 'reorder', 'hold', 'release'] as const)
      later(withinMs * (0.2 + 0.8 * dice()), () => this.#act(does))
    }
  }

  /** Releases what would be held for ever. */
  calm(): void {
    const { later, store } = this.#options
    const releaseAll = async () => {
      const { holds } = await store.holds()
      for (const { what, until } of holds) if (until === undefined) await this.#release(what)
    }
    for (const ms of [0, LATE_MS]) later(ms, releaseAll)
  }

  async #act(does: keyof typeof FITTING | 'hold' | 'release'): Promise<void> {
    if (does === 'hold') return this.#hold()
    if (does === 'release') return this.#release(pick(this.#dice, TARGETS))
    await this.#asked({ does }, async () => {
      const { runs } = await this.#options.store.find({ states: FITTING[does], limit: FOUND_MAX })
      if (runs.length === 0) return { now: 0, answer: 'lost' }
      const seen = pick(this.#dice, runs)
      return does === 'reorder' ? this.#reorder(seen) : this.#steer(does, seen)
    })
  }

  #steer(type: Act['type'], { id, generation, state }: RunView): Promise<Committed> {
    const states = type === 'retry' ? (['failed', 'cancelled', 'review'] as const) : ([state] as const)
    const why: Act['why'] =
      type === 'cancel'
        ? { code: 'run.cancelled', params: { by: BY } }
        : { code: 'run.again', params: { by: BY, generation: generation + 1 } }
    return this.#options.store.steer({ run: id, type, expect: { generation, states }, by: BY, why })
  }

  async #reorder({ id, generation, priority: from }: RunView): Promise<Committed> {
    const { store, stage } = this.#options
    const dice = this.#dice
    const expect = { generation, states: ['ready', 'waiting'] as const }
    const known = { run: id, expect, by: BY }
    const priority = between(dice, -3, 3)
    const dueAt = stage.world.now + between(dice, -2_000, 20_000)
    const moved =
      dice() < 0.5
        ? store.reorder?.({
            ...known,
            priority,
            why: { code: 'run.reprioritised', params: { by: BY, from, to: priority } },
          })
        : store.reorder?.({ ...known, dueAt, why: { code: 'run.rescheduled', params: { by: BY, at: dueAt } } })
    return (await moved) ?? { now: 0, answer: 'lost' }
  }

  async #hold(): Promise<void> {
    const { store, stage } = this.#options
    const dice = this.#dice
    const what = pick(dice, TARGETS)
    const end = dice() < 0.7 ? { until: stage.world.now + between(dice, 500, 15_000) } : {}
    const probe = dice() < 0.5
    await this.#asked({ does: 'hold' }, () => store.hold({ what, ...end, why: 'paused', by: BY, probe }))
  }

  async #release(what: HoldTarget): Promise<void> {
    await this.#asked({ does: 'release' }, () => this.#options.store.release({ what, by: BY }))
  }

  async #asked(asked: Pick<Told, 'does'>, act: () => Promise<Committed>): Promise<void> {
    const { tell, nextOp } = this.#options
    const told = { op: nextOp(), ...asked }
    tell({ ...told, phase: 'invoke' })
    try {
      const { answer } = await act()
      tell({ ...told, phase: answer })
    } catch (error) {
      const code = isRepriseError(error) ? error.code : String(error)
      tell({ ...told, phase: code === 'store.unavailable' ? 'fail' : 'unknown' })
    }
  }
}
