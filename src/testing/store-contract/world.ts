/**
 * What a law is proved with: a fresh store, a clock that moves only when told to, and short ways to say the usual things.
 * What is said here is consistent with itself, so that `verify` has nothing to find after a law is proved.
 */
import assert from 'node:assert/strict'
import type { Failure } from '../../failure/failure.ts'
import { EMPTY_LEDGERS, type Ledgers } from '../../policy/situation.ts'
import type { Why } from '../../policy/why.ts'
import type { Claim, ClaimRequest, CommitAnswer, EndChange, NewRun, RunView, Store } from '../../ports/store.ts'
import type { AttemptRecord } from '../../run/run.ts'
import type { VirtualClock } from '../virtual-clock.ts'

export const LEASE_MS = 30_000

export const FAILURE: Failure = {
  kind: 'transient',
  code: 'http.503',
  layer: 'infrastructure',
  message: 'the service is unavailable',
  advice: 'Try again later.',
  rule: 'http/status',
  facts: { status: 503 },
}

export const CANCELLED: Why = { code: 'run.cancelled', params: { by: 'ann' } }
export const BEGUN_AGAIN: Why = { code: 'run.ready', params: { since: 0 } }

/** A store as the driver under test opens it. */
export interface OpenedStore {
  readonly store: Store
  /** Lets go of the store and opens what it left behind. Absent: nothing outlives it, and the law of durability is skipped by name. */
  readonly reopen?: () => Promise<Store>
  /** Ways to damage what is stored past the store's verbs, by what they do to the run that is handed in. */
  readonly damages?: Readonly<Record<string, (run: string) => void | Promise<void>>>
  /** Ways to damage what is of no run; each is found by itself. */
  readonly damagesBeside?: Readonly<Record<string, () => void | Promise<void>>>
}

/** A run in a worker's hands. */
export interface Held {
  readonly run: string
  readonly token: number
}

/** What a law may say about the end of an attempt; the rest follows. */
type Ending = Partial<Omit<EndChange, 'type' | 'run' | 'token'>>

export class World {
  store: Store
  readonly clock: VirtualClock
  readonly opened: OpenedStore
  #nonces = 0

  constructor(opened: OpenedStore, clock: VirtualClock) {
    this.opened = opened
    this.store = opened.store
    this.clock = clock
  }

  get now(): number {
    return this.clock.now()
  }

  /** Submits one run and gives its id. */
  async submit(run: Partial<NewRun> = {}): Promise<string> {
    const [created] = (await this.store.create([newRun(run)])).runs
    assert.ok(created !== undefined && created !== 'conflict', 'the run is created')
    return created.id
  }

  claim(request: Partial<ClaimRequest> = {}): Promise<Claim> {
    return this.store.claim(this.request(request))
  }

  /** A claim with a nonce of its own. */
  request(request: Partial<ClaimRequest> = {}): ClaimRequest {
    this.#nonces += 1
    const nonce = `nonce-${this.#nonces}`
    return { worker: 'w1', nonce, limit: 100, leaseMs: LEASE_MS, alone: false, tasks: ['t'], ...request }
  }

  /** Claims everything there is, and gives the ids in order. */
  async claimedIds(request: Partial<ClaimRequest> = {}): Promise<string[]> {
    return (await this.claim(request)).runs.map(({ id }) => id)
  }

  /** Submits one run and claims it, alone unless told otherwise. */
  async hold(run: Partial<NewRun> = {}, request: Partial<ClaimRequest> = {}): Promise<Held> {
    const id = await this.submit(run)
    const { token, runs } = await this.claim({ alone: true, limit: 1, tasks: [run.task ?? 't'], ...request })
    assert.deepEqual(
      runs.map((claimed) => claimed.id),
      [id],
      'the run is claimed',
    )
    return { run: id, token }
  }

  /** Claims a run that is there already. */
  async take(run: string, request: Partial<ClaimRequest> = {}): Promise<Held> {
    const { token, runs } = await this.claim({ alone: true, limit: 1, ...request })
    assert.deepEqual(
      runs.map(({ id }) => id),
      [run],
      'the run is claimed',
    )
    return { run, token }
  }

  end(held: Held, ending: Ending = {}): Promise<CommitAnswer> {
    return this.store.commit({ type: 'end', run: held.run, token: held.token, state: 'succeeded', ...ending })
  }

  /** Ends an attempt in {@link FAILURE}, counted: waiting until `dueAt`, or failed without one. */
  async fail(held: Held, { dueAt, ...ending }: Ending = {}): Promise<CommitAnswer> {
    const { ledgers } = await this.view(held.run)
    return this.end(held, {
      ...(dueAt === undefined ? { state: 'failed' } : { state: 'waiting', dueAt }),
      failure: FAILURE,
      ledgers: oneErrorMore(ledgers),
      attempt: await this.failedAttempt(held),
      why: { code: 'end.final', params: { message: FAILURE.message, advice: FAILURE.advice } },
      ...ending,
    })
  }

  async failedAttempt({ run, token }: Held): Promise<AttemptRecord> {
    const { generation, attempt, lease } = await this.view(run)
    const why: Why = { code: 'end.final', params: { message: FAILURE.message, advice: FAILURE.advice } }
    return {
      generation,
      attempt,
      token,
      worker: lease?.worker ?? 'w1',
      startedAt: this.now,
      endedAt: this.now,
      outcome: 'failed',
      failure: FAILURE,
      dice: 0.5,
      policy: 'policy-1',
      rung: 0,
      noProgress: false,
      decision: { act: 'fail', counted: true, entry: 'errors', why },
      takes: 2,
    }
  }

  intent(held: Held, name = 'call', take = 1, inputHash = 'hash', generation = 1): Promise<CommitAnswer> {
    return this.store.commit({ type: 'intent', ...held, generation, name, inputHash, take })
  }

  answer(held: Held, answer: string, name = 'call', inputHash = 'hash', generation = 1): Promise<CommitAnswer> {
    return this.store.commit({ type: 'answer', ...held, generation, name, inputHash, answer })
  }

  async view(run: string): Promise<RunView> {
    const view = await this.store.get({ id: run })
    assert.ok(view, `run ${run} is there`)
    return view
  }

  /** Lets every lease end that was given until now. */
  outliveLeases(): Promise<void> {
    return this.clock.advance(LEASE_MS)
  }

  /** All that a run is, for "nothing changed". */
  async everythingOf(run: string): Promise<unknown> {
    const { generation } = await this.view(run)
    return [await this.view(run), await this.store.attempts(run), await this.store.journal(run, generation)]
  }
}

export const newRun = (run: Partial<NewRun> = {}): NewRun => ({ task: 't', input: '{}', priority: 0, ...run })

export const keyed = (key: string, run: Partial<NewRun> = {}): NewRun => newRun({ key, fingerprint: 'print', ...run })

export const oneErrorMore = (ledgers: Ledgers): Ledgers => ({
  ...EMPTY_LEDGERS,
  ...ledgers,
  errors: ledgers.errors + 1,
  errorsByKind: { ...ledgers.errorsByKind, transient: (ledgers.errorsByKind.transient ?? 0) + 1 },
})
