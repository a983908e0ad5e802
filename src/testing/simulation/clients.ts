/**
 * Those who submit runs and flows, each with a log of what was asked and what was heard.
 * An unknown answer to a keyed submit is asked again, as a careful client would.
 */
import { type FlowStep, flow } from '../../engine/flow.ts'
import { createReprise, type Reprise } from '../../engine/reprise.ts'
import type { SubmitOptions } from '../../engine/submit.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import type { Dice } from '../../time/dice.ts'
import type { ClientLine } from './history.ts'
import { Operators, type OperatorsOptions } from './operators.ts'
import { Reviewers } from './reviewers.ts'
import { between, pick, type Script, simpleScript, throwScript } from './script.ts'
import type { SimProcess } from './sim-process.ts'
import { SIM_TASKS } from './sim-tasks.ts'
import type { Stage } from './stage.ts'

/** How often a client asks again after an answer that it did not get. */
const ASKS_MAX = 4

/** Items of flows and herds are numbered apart, so that more of one does not renumber the other. */
const FLOW_ITEMS_FROM = 1_000
const HERD_ITEMS_FROM = 5_000

type Steps = Readonly<Record<string, FlowStep>>

export class Clients {
  readonly #stage: Stage
  readonly #process: SimProcess
  readonly #reprise: Reprise
  readonly #operators: Operators
  readonly #reviewers: Reviewers
  readonly #dice: Dice
  readonly #keys: Dice
  #ops = 0
  #under = 0

  constructor(stage: Stage) {
    this.#stage = stage
    // Clients keep true time: a host that says "in ten seconds" before it ever heard the store means its own ten seconds.
    this.#process = stage.process('client')
    const store = stage.storeOf(this.#process, false)
    const { clock } = this.#process
    this.#reprise = createReprise({ store, clock: { ...clock, now: stage.world.clock.now } })
    this.#reprise.on('*', (event) => stage.recorder.note({ log: 'event', process: 'client', event }))
    this.#dice = stage.dice('clients')
    this.#keys = stage.dice('concurrency keys')
    const asked = {
      ...{ stage, store },
      later: (ms, act) => this.#later(ms, act),
      nextOp: () => this.#ops++,
      tell: (line) => this.#tell(line),
    } satisfies OperatorsOptions
    this.#operators = new Operators(asked)
    this.#reviewers = new Reviewers(asked)
  }

  /** Things that clients have begun and not heard the end of. */
  get busy(): boolean {
    return this.#under > 0
  }

  /** Plans everything that clients and operators will do, within `withinMs`. */
  plan(withinMs: number): void {
    const { items, leaseMs, flows } = this.#stage.character
    const dice = this.#dice
    for (let item = 1; item <= items; item += 1) {
      this.#stage.scripts.set(item, throwScript(dice, item, leaseMs))
      const keyed = dice() < 0.5
      const asked = this.#options(keyed ? `k${keyed && dice() < 0.15 ? Math.max(1, item - 1) : item}` : undefined)
      const options = this.#apart(item, asked)
      const times = keyed ? between(dice, 1, 3) : 1
      for (let time = 0; time < times; time += 1) {
        this.#later(dice() * withinMs * 0.7, () => this.#submit(item, options, 1))
      }
    }
    for (let each = 1; each <= flows; each += 1) this.#planFlow(each, withinMs)
    this.#planHerd()
    this.#operators.plan(withinMs)
    this.#reviewers.plan(withinMs)
  }

  /** Nobody pauses anything for ever any more. */
  calm(): void {
    this.#operators.calm()
  }

  /** Steps that need some of those before them. */
  #planFlow(number: number, withinMs: number): void {
    const dice = this.#stage.dice(`flow ${number}`)
    const first = FLOW_ITEMS_FROM + 10 * number
    const entries = Array.from({ length: between(dice, 2, 6) }, (_, index): [string, FlowStep] => {
      const item = first + index
      const { task } = this.#keep(throwScript(dice, item, this.#stage.character.leaseMs))
      const needs = Array.from({ length: index }, (_each, earlier) => `s${earlier}`).filter(() => dice() < 0.5)
      const onNeedFailed = pick(dice, ['fail', 'fail', 'skip', 'wait'] as const)
      return [`s${index}`, [SIM_TASKS[task], { item }, { needs, onNeedFailed }]]
    })
    const keyed = dice() < 0.6 ? { key: `f${number}` } : {}
    const again = 'key' in keyed && dice() < 0.3 ? { onExisting: 'retry' as const } : {}
    const late = dice() < 0.15 ? { at: `${between(dice, 1, 10)}s` } : {}
    const options: SubmitOptions = { ...keyed, ...again, ...late }
    const times = 'key' in keyed ? between(dice, 1, 3) : 1
    const steps = Object.fromEntries(entries)
    for (let time = 0; time < times; time += 1)
      this.#later(dice() * withinMs * 0.6, () => this.#submitFlow(number, steps, options, 1))
  }

  /** Enough runs that need the common resource for its failure to be noticed. */
  #planHerd(): void {
    const { outage } = this.#stage.character
    if (!outage) return
    const dice = this.#stage.dice('herd')
    for (let each = between(dice, 14, 20); each > 0; each -= 1) {
      const { item } = this.#keep(simpleScript(HERD_ITEMS_FROM + each, 'metered'))
      this.#later(outage.fromMs + dice() * 8_000 - 1_000, () => this.#submit(item, {}, 1))
    }
  }

  #keep(script: Script): Script {
    this.#stage.scripts.set(script.item, script)
    return script
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

  /**
   * Some runs of two tasks have a concurrency key, and then no category: what is parked is only guessed at by the checker, and must
   * not share a hold with runs that an answer brings forward.
   */
  #apart(item: number, { category, ...options }: SubmitOptions): SubmitOptions {
    const { task } = this.#stage.scripts.get(item) as Script
    const isApart = (task === 'plain' || task === 'limited') && this.#keys() < 0.5
    if (isApart) return { ...options, concurrencyKey: pick(this.#keys, ['red', 'red', 'blue']) }
    return { ...options, ...(category === undefined ? {} : { category }) }
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
    const { task } = this.#stage.scripts.get(item) as Script
    const key = options.key === undefined ? {} : { key: options.key }
    const op = this.#ops++
    const tell = (phase: ClientLine['phase'], heard: Partial<ClientLine> = {}) =>
      this.#tell({ op, does: 'submit', phase, task, item, ...key, ...heard })
    tell('invoke')
    try {
      const run = await this.#reprise.submit(SIM_TASKS[task], { item }, options)
      tell('ok', { run: run.id, created: run.created })
    } catch (error) {
      const refused = this.#refused(error, options, asked, (times) => this.#submit(item, options, times))
      tell(refused)
    }
  }

  async #submitFlow(number: number, steps: Steps, options: SubmitOptions, asked: number): Promise<void> {
    const flowKey = options.key === undefined ? {} : { flowKey: options.key }
    const op = this.#ops++
    const tell = (phase: ClientLine['phase'], heardOf: (step: string) => Partial<ClientLine> = () => ({})) => {
      for (const [step, [task, input]] of Object.entries(steps)) {
        const { item } = input as { readonly item: number }
        this.#tell({ op, does: 'submit', phase, task: task.name, item, ...flowKey, ...heardOf(step) })
      }
    }
    tell('invoke')
    try {
      const made = await this.#reprise.submitFlow(flow(`flow${number}`, steps), options)
      const runOf = (step: string) => made.steps[step]?.id ?? ''
      tell('ok', (step) => ({ run: runOf(step), created: made.created }))
    } catch (error) {
      tell(this.#refused(error, options, asked, (times) => this.#submitFlow(number, steps, options, times)))
    }
  }

  /** What the client makes of an error; it asks again when that can do no harm. */
  #refused(
    error: unknown,
    { key }: SubmitOptions,
    asked: number,
    again: (asked: number) => Promise<void>,
  ): ClientLine['phase'] {
    const code = isRepriseError(error) ? error.code : String(error)
    if (code === 'submit.key_conflict') return 'conflict'
    const mayAsk = key !== undefined || code === 'store.unavailable'
    if (mayAsk && asked < ASKS_MAX) this.#later(between(this.#dice, 50, 1_500), () => again(asked + 1))
    return code === 'store.unavailable' ? 'fail' : 'unknown'
  }

  #tell(line: Omit<ClientLine, 'log' | 'seq' | 'at' | 'process'>): void {
    this.#stage.recorder.note({ log: 'client', process: this.#process.name, ...line })
  }
}
