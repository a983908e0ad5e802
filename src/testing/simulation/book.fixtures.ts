/**
 * Tells what a store executed, line by line, without a store and without an engine: short histories of flows, holds, limits and
 * retention for testing the checker. A good one breaks no law of those; each bad one is a good one with one thing told wrongly.
 */
import type { EndChange, Links } from '../../ports/store.ts'
import type { Lane } from '../../run/run.ts'
import { type Dice, seededDice } from '../../time/dice.ts'
import type { AskedRun, History, LogLine, StoreOperation } from './history.ts'
import { SIM_TASKS } from './sim-tasks.ts'
import { type Story, stories } from './story.ts'
import { WORLD_BEGINS_AT } from './world.ts'

type Line = LogLine extends infer L ? (L extends LogLine ? Omit<L, 'seq' | 'at'> : never) : never
type Commit = Extract<StoreOperation, { verb: 'commit' }>

export const API: Lane = { task: 'metered', resource: 'api' }
export const PLAIN: Lane = { task: 'plain' }
const LEASE_MS = 3_600_000

export class Book {
  readonly dice: Dice
  readonly lines: LogLine[] = []
  at = WORLD_BEGINS_AT
  #runs = 0
  #tokens = 0
  readonly #held = new Map<string, { readonly token: number; readonly attempt: number }>()

  constructor(seed = 1) {
    this.dice = seededDice(seed)
  }

  /** A while passes: at least `leastMs`, and at most twice as much. */
  pass(leastMs: number): this {
    this.at += Math.ceil(leastMs * (1 + this.dice()))
    return this
  }

  note(line: Line): void {
    this.lines.push({ ...line, seq: this.lines.length, at: this.at } as LogLine)
  }

  does(operation: StoreOperation, process = 'w1'): void {
    this.note({ log: 'store', process, ...operation } as Line)
  }

  create(...asked: readonly (Partial<AskedRun> & { readonly step?: string })[]): string[] {
    const runs = asked.map(() => ({ id: `r${++this.#runs}`, created: true, generation: 1 }))
    const whole = asked.map((each, index) => ({ item: this.#runs + index, lane: PLAIN, priority: 0, ...each }))
    this.does({ verb: 'create', asked: whole, runs }, 'client')
    return runs.map(({ id }) => id)
  }

  /** One claim of these runs. */
  claim(...ids: readonly string[]): void {
    const token = ++this.#tokens
    const runs = ids.map((id) => {
      const attempt = (this.#held.get(id)?.attempt ?? 0) + 1
      this.#held.set(id, { token, attempt })
      return { id, generation: 1, attempt, lapses: 0 }
    })
    const asked = { worker: 'w1', nonce: `n${this.lines.length}`, alone: false, leaseMs: LEASE_MS }
    this.does({ verb: 'claim', ...asked, token: ids.length === 0 ? 0 : token, runs })
  }

  tokenOf(run: string): number {
    return this.#held.get(run)?.token ?? 0
  }

  begin(run: string, needs?: Readonly<Record<string, unknown>>): void {
    const given = needs === undefined ? {} : { needs: JSON.stringify(needs) }
    this.note({ log: 'handler', process: 'w1', does: 'begin', ...this.#place(run), ...given })
  }

  returns(run: string): void {
    this.note({ log: 'handler', process: 'w1', does: 'return', ...this.#place(run) })
  }

  #place(run: string) {
    const { token, attempt } = this.#held.get(run) ?? { token: 0, attempt: 0 }
    return { run, generation: 1, attempt, token }
  }

  end(run: string, change: Partial<EndChange> = {}, told: Partial<Pick<Commit, 'moved' | 'created'>> = {}): void {
    const end: EndChange = { type: 'end', run, token: this.tokenOf(run), state: 'succeeded', ...change }
    this.does({ verb: 'commit', change: end, answer: 'ok', ...told })
  }

  retry(run: string, told: Partial<Pick<Commit, 'moved'>> = {}): void {
    const why = { code: 'run.again', params: { by: 'ops', generation: 2 } } as const
    const act = { run, type: 'retry', by: 'ops', why, expect: { generation: 1, states: ['failed'] } } as const
    this.does({ verb: 'steer', act, answer: 'ok', ...told }, 'client')
  }

  prune(keptMs: number, ...pruned: readonly string[]): void {
    const keepMs = { succeeded: keptMs, failed: keptMs, cancelled: keptMs }
    this.does({ verb: 'prune', request: { keepMs, keysMs: 700_000_000, limit: 10 }, pruned })
  }

  history(change: Partial<History> = {}, dump: Partial<History['dump']> = {}): History {
    const base: History = {
      ...{ seed: 0, steps: this.lines.length, lines: this.lines, quietFrom: this.at, slots: 1, claimBoundMs: 60_000 },
      ...{ limits: [], ageingMs: 0, timersLeft: 0, unstopped: [], canaries: [] },
      policyOf: Object.fromEntries(Object.values(SIM_TASKS).map(({ name, policy }) => [name, policy])),
      dump: {
        ...{ at: this.at, runs: [], gone: [], links: {}, attempts: {}, journals: {}, notes: [], policies: {} },
        ...{ findings: [], artifacts: {}, budgets: [] },
        ...dump,
      },
      ...change,
    }
    const links = Object.fromEntries([...stories(base).values()].map((story) => [story.run, linksOf(story)]))
    const gone = this.lines.flatMap((line) => (line.log === 'store' && line.verb === 'prune' ? line.pruned : []))
    return { ...base, dump: { ...base.dump, links, gone, ...dump } }
  }
}

const linksOf = ({ needs }: Story): Links => ({
  needs: needs.map(({ needed: { run, last }, kind, open }) => ({
    ...{ run, task: last.lane.task, state: last.state, kind, open, costUsd: 0 },
  })),
  dependents: [],
})

/** How to tell it wrongly; rightly when it is absent. */
export type Scene<Wrong extends string = string> = (book: Book, wrong?: Wrong) => History

export const wrongly = <Wrong extends string>(scene: Scene<Wrong>, ...ways: readonly Wrong[]) =>
  Object.fromEntries(ways.map((wrong) => [wrong, () => scene(new Book(), wrong)]))
