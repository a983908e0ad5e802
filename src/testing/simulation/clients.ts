/**
 * Those who submit, cancel and retry, each with a log of what was asked and what was heard.
 * An unknown answer to a keyed submit is asked again, as a careful client would.
 */
import { createReprise, type Reprise } from '../../engine/reprise.ts'
import type { SubmitOptions } from '../../engine/submit.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import type { Act, Store } from '../../ports/store.ts'
import type { Dice } from '../../time/dice.ts'
import type { ClientLine } from './history.ts'
import { between, pick, throwScript } from './script.ts'
import type { SimProcess } from './sim-process.ts'
import { SIM_TASKS } from './sim-tasks.ts'
import type { Stage } from './stage.ts'

/** How often a client asks again after an answer that it did not get. */
const ASKS_MAX = 4

const STEERED_BY = 'ops'

export class Clients {
  readonly #stage: Stage
  readonly #process: SimProcess
  readonly #reprise: Reprise
  readonly #store: Store
  readonly #dice: Dice
  readonly #known: string[] = []
  #ops = 0
  #under = 0

  constructor(stage: Stage) {
    this.#stage = stage
    // Clients keep true time: a host that says "in ten seconds" before it ever heard the store means its own ten seconds.
    this.#process = stage.process('client')
    this.#store = stage.storeOf(this.#process, false)
    const { clock } = this.#process
    this.#reprise = createReprise({ store: this.#store, clock: { ...clock, now: stage.world.clock.now } })
    this.#reprise.on('*', (event) => stage.recorder.note({ log: 'event', process: 'client', event }))
    this.#dice = stage.dice('clients')
  }

  /** Things that clients have begun and not heard the end of. */
  get busy(): boolean {
    return this.#under > 0
  }

  /** Plans everything that clients and operators will do, within `withinMs`. */
  plan(withinMs: number): void {
    const { items, leaseMs } = this.#stage.character
    const dice = this.#dice
    for (let item = 1; item <= items; item += 1) {
      const script = throwScript(dice, item, leaseMs)
      this.#stage.scripts.set(item, script)
      const keyed = dice() < 0.5
      const options = this.#options(keyed ? `k${keyed && dice() < 0.15 ? Math.max(1, item - 1) : item}` : undefined)
      const times = keyed ? between(dice, 1, 3) : 1
      for (let time = 0; time < times; time += 1) {
        this.#later(dice() * withinMs * 0.7, () => this.#submit(item, options, 1))
      }
    }
    for (let acts = between(dice, 0, 6); acts > 0; acts -= 1) {
      const type = pick(dice, ['cancel', 'retry', 'retry'] as const)
      this.#later(withinMs * (0.2 + 0.8 * dice()), () => this.#steer(type))
    }
  }

  #options(key: string | undefined): SubmitOptions {
    const dice = this.#dice
    return {
      ...(key === undefined ? {} : { key }),
      ...(key !== undefined && dice() < 0.2 ? { onExisting: 'retry' } : {}),
      ...(dice() < 0.3 ? { priority: between(dice, -2, 2) } : {}),
      ...(dice() < 0.15 ? { at: `${between(dice, 1, 20)}s` } : {}),
      ...(dice() < 0.15 ? { deadline: `${between(dice, 2, 60)}s` } : {}),
      ...(dice() < 0.2 ? { category: 'letters' } : {}),
    }
  }

  #later(ms: number, act: () => Promise<void>): void {
    this.#under += 1
    this.#process.deliver(ms, () => {
      void act().finally(() => {
        this.#under -= 1
      })
    })
  }

  async #submit(item: number, options: SubmitOptions, asked: number): Promise<void> {
    const { task } = this.#stage.scripts.get(item) as { task: keyof typeof SIM_TASKS }
    const op = this.#ops++
    const key = options.key === undefined ? {} : { key: options.key }
    const tell = (phase: ClientLine['phase'], heard: Partial<ClientLine> = {}) =>
      this.#tell({ op, does: 'submit', phase, task, item, ...key, ...heard })
    tell('invoke')
    try {
      const run = await this.#reprise.submit(SIM_TASKS[task], { item }, options)
      tell('ok', { run: run.id, created: run.created })
      this.#known.push(run.id)
    } catch (error) {
      const code = isRepriseError(error) ? error.code : String(error)
      if (code === 'submit.key_conflict') return tell('conflict')
      tell(code === 'store.unavailable' ? 'fail' : 'unknown')
      const again = options.key !== undefined || code === 'store.unavailable'
      if (again && asked < ASKS_MAX)
        this.#later(between(this.#dice, 50, 1_500), () => this.#submit(item, options, asked + 1))
    }
  }

  async #steer(type: Act['type']): Promise<void> {
    if (this.#known.length === 0) return
    const id = pick(this.#dice, this.#known)
    const op = this.#ops++
    this.#tell({ op, does: type, phase: 'invoke', run: id })
    try {
      const seen = await this.#store.get({ id })
      if (!seen) throw new Error(`run ${id} is gone`)
      const { generation, state } = seen
      const states = type === 'retry' ? (['failed', 'cancelled', 'review'] as const) : ([state] as const)
      const why: Act['why'] =
        type === 'cancel'
          ? { code: 'run.cancelled', params: { by: STEERED_BY } }
          : { code: 'run.again', params: { by: STEERED_BY, generation: generation + 1 } }
      const { answer } = await this.#store.steer({ run: id, type, expect: { generation, states }, by: STEERED_BY, why })
      this.#tell({ op, does: type, phase: answer, run: id })
    } catch (error) {
      const code = isRepriseError(error) ? error.code : String(error)
      this.#tell({ op, does: type, phase: code === 'store.unavailable' ? 'fail' : 'unknown', run: id })
    }
  }

  #tell(line: Omit<ClientLine, 'log' | 'seq' | 'at' | 'process'>): void {
    this.#stage.recorder.note({ log: 'client', process: this.#process.name, ...line })
  }
}
