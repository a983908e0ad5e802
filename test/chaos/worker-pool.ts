/**
 * Worker processes and what was done to them: started, killed, paused, told to stop. Each is ended by its own pid, whatever happens.
 * It judges nothing; faults are kept for whoever does.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { CrashPoint } from '../../src/engine/crash-point.ts'
import type { EventName } from '../../src/run/event.ts'
import { POISON_EXIT, POISON_WORDS } from './job.ts'
import { until } from './until.ts'
import type { Said, WorkerSetup } from './worker-process.ts'

const PROGRAM = fileURLToPath(new URL('./worker-process.ts', import.meta.url))

/** Halves the time that a process takes to start. */
const COMPILED = fileURLToPath(new URL('../../node_modules/.cache/chaos', import.meta.url))

const LOOK_EVERY_MS = 100

/** Long enough for the last words of a process on a busy machine. */
const STDERR_KEPT = 4_000

export interface Exit {
  readonly at: number
  readonly code: number | null
  readonly signal: string | null
}

/** `random` and `point` end the process, as does a poison job; a pause does not. */
export interface Fault {
  readonly kind: 'random' | 'pause' | 'poison' | CrashPoint
  readonly at: number
  readonly worker: string
  readonly pid: number
}

export class WorkerProcess {
  readonly pid: number
  readonly crashAt: CrashPoint | undefined
  readonly said: Said[] = []
  readonly exited: Promise<Exit>
  exit: Exit | undefined
  worker = ''
  /** When it was last heard to be well; 0 before. */
  beatAt = 0
  stderr = ''
  readonly #child: ChildProcess

  constructor(setup: WorkerSetup, crashAt: CrashPoint | undefined) {
    const { REPRISE_CRASH_AT: _armed, ...env } = process.env
    const armed = crashAt === undefined ? {} : { REPRISE_CRASH_AT: crashAt }
    const child = spawn(process.execPath, [PROGRAM, JSON.stringify(setup)], {
      env: { ...env, ...armed, NODE_COMPILE_CACHE: COMPILED },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    if (child.pid === undefined) throw new Error(`${PROGRAM} could not be started`)
    this.#child = child
    this.pid = child.pid
    this.crashAt = crashAt
    child.stderr?.on('data', (chunk: Buffer) => {
      this.stderr = `${this.stderr}${chunk}`.slice(-STDERR_KEPT)
    })
    if (child.stdout) createInterface({ input: child.stdout }).on('line', (line) => this.#hear(line))
    this.exited = new Promise((resolve) => {
      // `close` and not `exit`: then everything that it said has been heard.
      child.once('close', (code, signal) => {
        this.exit = { at: Date.now(), code, signal }
        resolve(this.exit)
      })
    })
  }

  #hear(line: string): void {
    // A killed process may leave half a line.
    if (!line.endsWith('}')) return
    const said = JSON.parse(line) as Said
    if (said.says === 'ready') this.worker = said.worker
    if (said.says === 'ready' || said.says === 'beat') this.beatAt = Date.now()
    this.said.push(said)
  }

  /** Resolves with the first thing of that kind that it says. */
  hears<Says extends Said['says']>(
    says: Says,
    fits: (said: Extract<Said, { says: Says }>) => boolean = () => true,
  ): Promise<Extract<Said, { says: Says }>> {
    const isIt = (said: Said): said is Extract<Said, { says: Says }> =>
      said.says === says && fits(said as Extract<Said, { says: Says }>)
    return until(`process ${this.pid} says ${says}`, () => this.said.find(isIt) ?? this.#mustLive())
  }

  hearsEvent(name: EventName): Promise<unknown> {
    return this.hears('event', ({ event }) => event.name === name)
  }

  ready(): Promise<unknown> {
    return this.hears('ready')
  }

  send(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** A process that is gone will not say anything any more: an error at once, instead of a long wait. */
  #mustLive(): undefined {
    if (this.exit)
      throw new Error(`process ${this.pid} is gone (${this.exit.code ?? this.exit.signal}): ${this.stderr}`)
  }
}

/** It ended by itself, and a poison did that. */
export const isPoisoned = ({ exit, stderr }: Pick<WorkerProcess, 'exit' | 'stderr'>): boolean =>
  exit?.code === POISON_EXIT || (exit?.code === 1 && stderr.includes(POISON_WORDS))

export interface Supervisor {
  /** Processes that have ended without being told to. */
  readonly died: () => number
  /** Starts no more of them, once none is blocked. */
  readonly stop: () => Promise<void>
}

export class WorkerPool {
  readonly faults: Fault[] = []
  /** All that ever were. */
  readonly all: WorkerProcess[] = []
  readonly #setup: WorkerSetup

  constructor(setup: WorkerSetup) {
    this.#setup = setup
  }

  get living(): readonly WorkerProcess[] {
    return this.all.filter(({ exit }) => exit === undefined)
  }

  /** Starts a process; with a crash point, one that dies there by itself. */
  start(crashAt?: CrashPoint, setup: Partial<WorkerSetup> = {}): WorkerProcess {
    const started = new WorkerProcess({ ...this.#setup, ...setup }, crashAt)
    this.all.push(started)
    void started.exited.then(({ at, signal }) => {
      const { worker, pid } = started
      const isOver = signal === 'SIGKILL' || isPoisoned(started)
      if (!isOver || this.faults.some((fault) => fault.pid === pid && fault.kind !== 'pause')) return
      this.faults.push({ kind: crashAt ?? 'poison', at, worker, pid })
    })
    return started
  }

  /** As a supervisor does: for each of these that dies another one is started, and one whose loop is blocked is killed. */
  supervise(count: number, blockedMs: number): Supervisor {
    let died = 0
    let stopped = false
    const start = () => {
      const worker = this.start()
      const look = setInterval(() => {
        const isBlocked = worker.beatAt > 0 && Date.now() - worker.beatAt > blockedMs
        if (isBlocked && !stopped) worker.send('SIGKILL')
      }, LOOK_EVERY_MS)
      void worker.exited.then(() => {
        clearInterval(look)
        if (stopped) return
        died += 1
        start()
      })
    }
    for (let each = 0; each < count; each += 1) start()
    const stop = async () => {
      // Whoever is blocked would not hear that it is to stop.
      const isAwake = ({ beatAt }: WorkerProcess) => Date.now() - beatAt < blockedMs / 2
      await until('every worker is awake', () => this.living.every(isAwake))
      stopped = true
    }
    return { died: () => died, stop }
  }

  async startReady(count: number, setup: Partial<WorkerSetup> = {}): Promise<WorkerProcess[]> {
    const started = Array.from({ length: count }, () => this.start(undefined, setup))
    await Promise.all(started.map((each) => each.ready()))
    return started
  }

  async kill(victim: WorkerProcess): Promise<void> {
    const { worker, pid } = victim
    this.faults.push({ kind: 'random', at: Date.now(), worker, pid })
    victim.send('SIGKILL')
    await victim.exited
  }

  pause(victim: WorkerProcess): void {
    const { worker, pid } = victim
    this.faults.push({ kind: 'pause', at: Date.now(), worker, pid })
    victim.send('SIGSTOP')
  }

  resume(victim: WorkerProcess): void {
    victim.send('SIGCONT')
  }

  /** Tells all to stop, and gives their exits. */
  async stopAll(): Promise<Exit[]> {
    const { living } = this
    // Before it is ready a process does not know what to do when told to stop.
    await Promise.all(living.map((each) => each.ready()))
    for (const each of living) each.send('SIGTERM')
    return until('all workers stop when told', () => {
      const exits = living.flatMap(({ exit }) => exit ?? [])
      return exits.length === living.length && exits
    })
  }

  /** Ends whatever is left, also what is paused. */
  async close(): Promise<void> {
    const { living } = this
    for (const each of living) each.send('SIGKILL')
    await Promise.all(living.map(({ exited }) => exited))
  }
}
