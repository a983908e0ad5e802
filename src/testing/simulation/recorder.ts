/**
 * Writes down what happens, each line with its place in one order. The store it wraps is recorded where operations are executed,
 * so the log holds what the store did and not what somebody was told about it.
 */
import type { Act, Change, ClaimRequest, NewFlow, NewRun, RenewRequest, Store } from '../../ports/store.ts'
import type { ClaimedLine, LogLine, StoreOperation } from './history.ts'
import type { World } from './world.ts'

type Unplaced<L> = L extends LogLine ? Omit<L, 'seq' | 'at'> : never

export class Recorder {
  readonly lines: LogLine[] = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  note(line: Unplaced<LogLine>): void {
    this.lines.push({ ...line, seq: this.lines.length, at: this.#world.now } as LogLine)
  }
}

/** The verbs that a simulation asks for, executed and written down. */
export class RecordedStore {
  readonly store: Store
  readonly #recorder: Recorder
  readonly #changed: () => void

  constructor(store: Store, recorder: Recorder, changed: () => void) {
    this.store = store
    this.#recorder = recorder
    this.#changed = changed
  }

  async create(process: string, runs: readonly NewRun[]) {
    const created = await this.store.create(runs)
    const items = runs.map(({ input }) => itemOf(input))
    const [first] = runs
    const due = first?.dueAt === undefined ? {} : { dueAt: first.dueAt }
    this.#note(process, { verb: 'create', items, runs: created.runs, ...due })
    this.#changed()
    return created
  }

  async createFlow(process: string, flow: NewFlow) {
    const created = await this.store.createFlow(flow)
    const items = flow.steps.map(({ input }) => itemOf(input))
    const { flow: made } = created
    const runs =
      made === 'conflict'
        ? items.map(() => made)
        : made.steps.map(({ run: id, generation }) => ({ id, created: made.created, generation }))
    this.#note(process, { verb: 'create', items, runs })
    this.#changed()
    return created
  }

  async claim(process: string, request: ClaimRequest) {
    const claim = await this.store.claim(request)
    const runs = claim.runs.map(
      ({ id, generation, attempt, ledgers, lapsed, deadlineAt }): ClaimedLine => ({
        id,
        generation,
        attempt,
        lapses: ledgers.lapses,
        ...(lapsed ? { lapsed: lapsed.counted } : {}),
        ...(deadlineAt === undefined ? {} : { deadlineAt }),
      }),
    )
    const { worker, nonce, alone, leaseMs } = request
    this.#note(process, { verb: 'claim', worker, nonce, alone, leaseMs, token: claim.token, runs })
    return claim
  }

  async renew(process: string, request: RenewRequest) {
    const renewal = await this.store.renew(request)
    const { worker, leaseMs, leases } = request
    this.#note(process, { verb: 'renew', worker, leaseMs, leases, lost: renewal.lost })
    return renewal
  }

  async commit(process: string, change: Change) {
    const committed = await this.store.commit(change)
    this.#note(process, { verb: 'commit', change, answer: committed.answer })
    if (change.type === 'end') this.#changed()
    return committed
  }

  async steer(process: string, act: Act) {
    const committed = await this.store.steer(act)
    this.#note(process, { verb: 'steer', act, answer: committed.answer })
    this.#changed()
    return committed
  }

  #note(process: string, operation: StoreOperation): void {
    this.#recorder.note({ log: 'store', process, ...operation })
  }
}

/** Every simulated input names the item that it stands for. */
export const itemOf = (input: string): number => (JSON.parse(input) as { readonly item: number }).item
