/**
 * The worker processes: each its own engine on the shared store. They crash, freeze, are stopped and started again.
 */
import { createReprise, type RunningWorker } from '../../engine/reprise.ts'
import type { Dice } from '../../time/dice.ts'
import { type Execution, play } from './play.ts'
import { between, scriptOf } from './script.ts'
import { SIM_BUDGETS } from './sim-budgets.ts'
import type { SimProcess } from './sim-process.ts'
import { SIM_TASKS, type SimInput } from './sim-tasks.ts'
import type { Stage } from './stage.ts'

interface Seat {
  readonly name: string
  readonly concurrency: number
  starts: number
  process: SimProcess | undefined
  worker: RunningWorker | undefined
  stopping: boolean
}

export class Fleet {
  readonly #stage: Stage
  readonly #dice: Dice
  readonly #seats: readonly Seat[]
  #ended = false
  #unrest: number

  constructor(stage: Stage) {
    this.#stage = stage
    this.#dice = stage.dice('fleet')
    this.#unrest = stage.character.unrest
    this.#seats = Array.from({ length: stage.character.workers }, (_, index) => ({
      name: `w${index + 1}`,
      concurrency: this.#dice() < 0.25 ? 1 : between(this.#dice, 2, 5),
      starts: 0,
      process: undefined,
      worker: undefined,
      stopping: false,
    }))
  }

  /** Runs that all workers together may execute at a time. */
  get slots(): number {
    return this.#seats.reduce((sum, { concurrency }) => sum + concurrency, 0)
  }

  start(): void {
    for (const seat of this.#seats) this.#start(seat)
    if (this.#unrest > 0) this.#disturb()
  }

  /** From here on nobody kills or freezes anybody; what handlers do to their process is their own. */
  calm(): void {
    this.#unrest = 0
  }

  /** Stops everybody for good. Resolves with the names of those that did not stop and the timers that were left. */
  async end(
    until: () => Promise<void>,
  ): Promise<{ readonly unstopped: readonly string[]; readonly timersLeft: number }> {
    this.#ended = true
    const running = new Map(
      this.#seats.flatMap(({ process, worker }) => (process && worker ? [[process, worker]] : [])),
    )
    for (const [process, worker] of running) {
      if (!process.alive) running.delete(process)
      else void worker.stop({ drainMs: 1_000 }).then(() => stopped.push(process))
    }
    const stopped: SimProcess[] = []
    await until()
    const unstopped = [...running.keys()].filter((process) => process.alive && !stopped.includes(process))
    const timersLeft = stopped.reduce((sum, { timers }) => sum + timers, 0)
    return { unstopped: unstopped.map(({ name }) => name), timersLeft }
  }

  #start(seat: Seat): void {
    if (this.#ended) return
    const stage = this.#stage
    seat.starts += 1
    seat.stopping = false
    const process = stage.process(`${seat.name}.${seat.starts}`, (dead) => this.#crashed(seat, dead))
    seat.process = process
    const store = stage.storeOf(process, true)
    let made = 0
    const reprise = createReprise({
      store,
      clock: process.clock,
      artifacts: stage.shelf.for(process),
      budgets: SIM_BUDGETS,
      dice: stage.dice(`engine ${process.name}`),
      ids: () => `${process.name}-${++made}`,
      limits: stage.character.limits,
      ...(stage.character.retention ? { retention: stage.character.retention } : {}),
    })
    const tokens = new Map<string, number>()
    reprise.on('*', (event) => {
      if (!process.alive) return
      stage.recorder.note({ log: 'event', process: process.name, event })
      if (event.name === 'attempt.started') tokens.set(`${event.run}/${event.generation}/${event.attempt}`, event.token)
    })
    for (const task of Object.values(SIM_TASKS)) {
      reprise.handle(task, (input: SimInput, ctx) => {
        const { run, generation, attempt } = ctx
        const script = scriptOf(stage.scripts, input)
        const isDown = () => stage.isDown(script.task)
        const token = tokens.get(`${run}/${generation}/${attempt}`) ?? 0
        const execution: Execution = { process, script, run, generation, attempt, token, isDown }
        return play(stage.recorder, execution, ctx)
      })
    }
    const { leaseMs, pollMs } = stage.character
    seat.worker = reprise.work({ concurrency: seat.concurrency, leaseMs, pollMs, drainMs: 2_000 })
  }

  #crashed(seat: Seat, process: SimProcess): void {
    this.#stage.recorder.note({ log: 'fault', process: process.name, fault: 'crash' })
    this.#startAgain(seat)
  }

  #startAgain(seat: Seat): void {
    this.#stage.world.after(this.#dice() * 1.5 * this.#stage.character.leaseMs, () => this.#start(seat))
  }

  #disturb(): void {
    const everyMs = between(this.#dice, 500, Math.ceil(9_000 / this.#unrest))
    this.#stage.world.after(everyMs, () => {
      if (this.#unrest === 0) return
      const seat = this.#seats[Math.floor(this.#dice() * this.#seats.length)] as Seat
      if (seat.process?.alive && !seat.stopping) this.#trouble(seat, seat.process)
      this.#disturb()
    })
  }

  #trouble(seat: Seat, process: SimProcess): void {
    const draw = this.#dice()
    const { leaseMs } = this.#stage.character
    if (draw < 0.45) {
      const ms = Math.ceil(leaseMs * (0.1 + 2.9 * this.#dice()))
      this.#stage.recorder.note({ log: 'fault', process: process.name, fault: 'pause', ms })
      process.pause(ms)
    } else if (draw < 0.65) process.crash()
    else if (draw < 0.95) this.#stop(seat, process)
  }

  #stop(seat: Seat, process: SimProcess): void {
    // A frozen process hears nothing, not even that it should stop.
    if (process.paused) return
    this.#stage.recorder.note({ log: 'fault', process: process.name, fault: 'stop' })
    seat.stopping = true
    void seat.worker?.stop({ drainMs: between(this.#dice, 0, 3_000) }).then(() => this.#startAgain(seat))
  }
}
