/**
 * Writes down what happens, each line with its place in one order. The store it wraps is recorded where operations are executed,
 * so the log holds what the store did and not what somebody was told about it.
 */
import type {
  Act,
  Change,
  ClaimRequest,
  CommitAnswer,
  Move,
  NewFlow,
  NewRun,
  NewStep,
  PruneRequest,
  RenewRequest,
  RunView,
  Store,
  TakeRequest,
} from '../../ports/store.ts'
import type { HoldOrder, HoldTarget } from '../../run/hold.ts'
import type { JournalEntry } from '../../run/journal.ts'
import type { AttemptRecord } from '../../run/run.ts'
import type { AskedRun, ClaimedLine, LogLine, StoreOperation } from './history.ts'
import type { World } from './world.ts'

/** More runs than any seed submits. */
export const RUNS_MAX = 1_000

type Unplaced<L> = L extends LogLine ? Omit<L, 'seq' | 'at'> : never

export class Recorder {
  readonly lines: LogLine[] = []
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  get now(): number {
    return this.#world.now
  }

  note(line: Unplaced<LogLine>): void {
    this.lines.push({ ...line, seq: this.lines.length, at: this.#world.now } as LogLine)
  }
}

/** A run with all that is kept of it. */
export interface Snapshot {
  readonly run: RunView
  readonly attempts: readonly AttemptRecord[]
  readonly journals: Readonly<Record<number, readonly JournalEntry[]>>
}

export async function snapshotOf(store: Store, run: RunView): Promise<Snapshot> {
  const journals: Record<number, readonly JournalEntry[]> = {}
  for (let each = 1; each <= run.generation; each += 1) journals[each] = await store.journal(run.id, each)
  return { run, attempts: await store.attempts(run.id), journals }
}

/** The verbs that a simulation asks for, executed and written down. */
export class RecordedStore {
  readonly store: Store
  /** Runs that were pruned, as they were just before. */
  readonly gone: Snapshot[] = []
  readonly #recorder: Recorder
  readonly #changed: () => void

  constructor(store: Store, recorder: Recorder, changed: () => void) {
    this.store = store
    this.#recorder = recorder
    this.#changed = changed
  }

  async create(process: string, runs: readonly NewRun[]) {
    const created = await this.store.create(runs)
    this.#note(process, { verb: 'create', asked: runs.map(askedOf), runs: created.runs })
    this.#changed()
    return created
  }

  async createFlow(process: string, flow: NewFlow) {
    const created = await this.store.createFlow(flow)
    const { flow: made } = created
    const runs = flow.steps.map(({ step }) => {
      const known = made === 'conflict' ? undefined : made.steps.find((each) => each.step === step)
      return made === 'conflict' || !known
        ? ('conflict' as const)
        : { id: known.run, created: made.created, generation: known.generation }
    })
    this.#note(process, { verb: 'create', asked: flow.steps.map(askedOf), runs })
    this.#changed()
    return created
  }

  async claim(process: string, request: ClaimRequest) {
    const claim = await this.store.claim(request)
    const runs = claim.runs.map(
      ({ id, generation, attempt, ledgers, resource, lapsed, deadlineAt, probes }): ClaimedLine => ({
        id,
        generation,
        attempt,
        lapses: ledgers.lapses,
        ...(resource === undefined ? {} : { resource }),
        ...(lapsed ? { lapsed: lapsed.counted } : {}),
        ...(deadlineAt === undefined ? {} : { deadlineAt }),
        ...(probes ? { probes } : {}),
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
    this.#note(process, { verb: 'commit', change, ...answered(committed) })
    if (change.type === 'end') this.#changed()
    return committed
  }

  async take(process: string, request: TakeRequest) {
    const taken = await this.store.take(request)
    const { run, by, leaseMs } = request
    this.#note(process, { verb: 'take', run, by, leaseMs, ...(taken.answer === 'ok' ? { token: taken.token } : {}) })
    return taken
  }

  async steer(process: string, act: Act) {
    const committed = await this.store.steer(act)
    this.#note(process, { verb: 'steer', act, ...answered(committed) })
    this.#changed()
    return committed
  }

  async reorder(process: string, move: Move) {
    const committed = (await this.store.reorder?.(move)) ?? { now: 0, answer: 'lost' }
    this.#note(process, { verb: 'reorder', move, ...answered(committed) })
    this.#changed()
    return committed
  }

  async hold(process: string, order: HoldOrder) {
    const committed = await this.store.hold(order)
    this.#note(process, { verb: 'hold', order, ...answered(committed) })
    return committed
  }

  async release(process: string, request: { readonly what: HoldTarget; readonly by: string }) {
    const committed = await this.store.release(request)
    this.#note(process, { verb: 'release', what: request.what, ...answered(committed) })
    this.#changed()
    return committed
  }

  async prune(process: string, request: PruneRequest) {
    const before = await this.#prunable(request)
    const pruned = (await this.store.prune?.(request)) ?? { now: 0, pruned: [], keys: 0, more: false }
    this.gone.push(...before.filter(({ run }) => pruned.pruned.includes(run.id)))
    this.#note(process, { verb: 'prune', request, pruned: pruned.pruned })
    return pruned
  }

  /** What may go now: looked at before, because afterwards nothing of it is left. */
  async #prunable({ keepMs, keepMax }: PruneRequest): Promise<readonly Snapshot[]> {
    const states = ['succeeded', 'failed', 'cancelled'] as const
    const { runs } = await this.store.find({ states, limit: RUNS_MAX })
    const keptMs = keepMax === undefined ? Math.min(...Object.values(keepMs)) : Number.NEGATIVE_INFINITY
    const old = runs.filter(({ finishedAt = 0 }) => finishedAt <= this.#recorder.now - keptMs)
    return Promise.all(old.map((run) => snapshotOf(this.store, run)))
  }

  #note(process: string, operation: StoreOperation): void {
    this.#recorder.note({ log: 'store', process, ...operation })
  }
}

function answered({ answer, moved, created, hold }: CommitAnswer) {
  const told = moved?.map(({ run, generation, state }) => ({ run, generation, state }))
  return { answer, ...(told ? { moved: told } : {}), ...(created ? { created } : {}), ...(hold ? { hold } : {}) }
}

/** What of a request the checker has to know. */
export function askedOf(run: NewRun | NewStep): AskedRun {
  const { task, category, resource, priority, dueAt, input, concurrency } = run
  const lane = {
    task,
    ...(category === undefined ? {} : { category }),
    ...(resource === undefined ? {} : { resource }),
  }
  const ofFlow = 'step' in run ? { step: run.step, needs: run.needs, onNeedFailed: run.onNeedFailed } : {}
  const place = { ...(dueAt === undefined ? {} : { dueAt }), ...(concurrency ? { concurrency } : {}) }
  return { item: itemOf(input), lane, priority, ...place, ...ofFlow }
}

/** Every simulated input names the item that it stands for. */
export const itemOf = (input: string): number => (JSON.parse(input) as { readonly item: number }).item

/** Whether a run was begun by another one and not by a client. */
export const isChild = (input: string): boolean => 'child' in (JSON.parse(input) as object)
