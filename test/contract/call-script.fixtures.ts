/**
 * Seeded scripts of store calls: the same seed asks the same questions, and what is asked next follows from what was answered.
 * Stale tokens, strangers' ids, repeated nonces and hostile names are among them.
 */
import { EMPTY_LEDGERS } from '../../src/policy/situation.ts'
import type {
  Act,
  Change,
  Claim,
  ClaimRequest,
  CreatedFlow,
  EndChange,
  Limit,
  Move,
  NewFlow,
  NewRun,
  NewStep,
  PruneRequest,
  Store,
  Taken,
  TakeRequest,
} from '../../src/ports/store.ts'
import type { HoldOrder } from '../../src/run/hold.ts'
import type { Quota } from '../../src/run/quota.ts'
import type { State } from '../../src/run/run.ts'
import { BEGUN_AGAIN, CANCELLED, FAILURE, oneErrorMore } from '../../src/testing/store-contract/world.ts'
import { type Dice, seededDice } from '../../src/time/dice.ts'
import { BudgetScript } from './budget-script.fixtures.ts'

/** A call as data: what to ask of any store, and how to show it in a failure. */
export interface Call {
  readonly verb: keyof Store
  readonly args: readonly unknown[]
}

export const callOn = (store: Store, { verb, args }: Call): Promise<unknown> => {
  const call: unknown = Reflect.get(store, verb)
  if (typeof call !== 'function') throw new TypeError(`${verb} is no verb`)
  return Promise.resolve(Reflect.apply(call, store, [...args]))
}

const TASKS = ['t', 'u', '__proto__'] as const
const CATEGORIES = ['b', 'c', ''] as const
const STATES: readonly (readonly State[])[] = [
  ['ready'],
  ['ready', 'waiting', 'review', 'blocked'],
  ['failed', 'cancelled'],
  ['succeeded'],
]

/** Weights of what is asked: a script should keep most of its runs moving. */
const MIX = [
  ...Array(6).fill('create'),
  ...Array(3).fill('flow'),
  ...Array(10).fill('claim'),
  ...Array(2).fill('again'),
  ...Array(2).fill('renew'),
  ...Array(12).fill('end'),
  ...Array(6).fill('intent'),
  ...Array(6).fill('answer'),
  'progress',
  ...Array(5).fill('steer'),
  ...Array(2).fill('take'),
  'note',
  ...Array(3).fill('prune'),
  'move',
  'hold',
  'release',
  'budget',
] as const

const LIMITS: readonly (readonly Limit[])[] = [
  [{ what: 'task:t', running: 2 }],
  [{ what: 'resource:flash', running: 1, rate: { max: 3, perMs: 2_000 } }],
  [
    { what: 'category:b', rate: { max: 30, perMs: 10_000 } },
    { what: 'task:u', running: 3 },
  ],
]

interface Leased {
  readonly run: string
  readonly token: number
  readonly generation: number
  readonly worker: string
}

export class CallScript {
  readonly #dice: Dice
  readonly #store: Store
  readonly #budgets: BudgetScript
  readonly #leases: Leased[] = []
  readonly #steps: string[] = []
  #live: Leased[] = []
  readonly #requests: ClaimRequest[] = []
  #now: number

  /** Looks at `store` to ask sensible questions; the answers of the other store must be the same. */
  constructor(seed: number, store: Store, now: number) {
    this.#dice = seededDice(seed)
    this.#store = store
    this.#budgets = new BudgetScript(seed)
    this.#now = now
  }

  /** How far to let time go before the next calls. */
  pauseMs(now: number): number {
    this.#now = now
    return this.#pick([0, 0, 0, 1, 250, 1_000, 5_000, 30_000])
  }

  /** Calls that are made in one turn, in this order. */
  async calls(): Promise<Call[]> {
    const views = await Promise.all(this.#leases.map(({ run }) => this.#store.get({ id: run })))
    this.#live = this.#leases.filter(({ token }, index) => views[index]?.lease?.token === token)
    const calls: Call[] = []
    for (let left = this.#pick([1, 1, 1, 2, 3]); left > 0; left -= 1) calls.push(await this.#call())
    // A prune may read before it writes, so whether it comes before its neighbours is not the same in every store.
    const prune = calls.find(({ verb }) => verb === 'prune')
    return prune ? [prune] : calls
  }

  learn(call: Call, answer: unknown): void {
    if (call.verb === 'createFlow') {
      const { flow } = answer as CreatedFlow
      if (flow !== 'conflict') this.#steps.push(...flow.steps.map(({ run }) => run))
    }
    if (call.verb === 'take' && (answer as Taken).answer === 'ok') {
      const { run, by: worker, expect } = call.args[0] as TakeRequest
      const { token } = answer as Extract<Taken, { answer: 'ok' }>
      this.#leases.push({ run, token, generation: expect.generation, worker })
    }
    if (call.verb !== 'claim') return
    const { worker } = call.args[0] as ClaimRequest
    const { runs, token } = answer as Claim
    for (const { id: run, generation } of runs) this.#leases.push({ run, token, generation, worker })
  }

  async #call(): Promise<Call> {
    switch (this.#wish()) {
      case 'create':
        return { verb: 'create', args: [Array.from({ length: this.#pick([0, 1, 1, 2, 4]) }, () => this.#newRun())] }
      case 'flow':
        return { verb: 'createFlow', args: [this.#newFlow()] }
      case 'claim':
        return { verb: 'claim', args: [this.#request()] }
      case 'again':
        return { verb: 'claim', args: [this.#requests.length > 0 ? this.#pick(this.#requests) : this.#request()] }
      case 'renew':
        return { verb: 'renew', args: [{ worker: 'w1', leaseMs: 5_000, leases: [this.#held(), this.#held()] }] }
      case 'end':
        return { verb: 'commit', args: [await this.#end()] }
      case 'intent': {
        const take = this.#pick([1, 2, 3])
        const intent = { type: 'intent', ...this.#held(), ...this.#entry(), take } satisfies Change
        return { verb: 'commit', args: [this.#budgets.withReserve(intent)] }
      }
      case 'answer': {
        const outcome = this.#pick([{ answer: '{"a":1}' }, { answer: '"b"' }, { failure: FAILURE }, {}])
        const costUsd = this.#pick([{}, { costUsd: 0.25 }, { costUsd: 0 }])
        const left = this.#maybe(0.3, () => ({ quotas: [this.#quota()] }))
        const answer = { type: 'answer', ...this.#entry(), ...outcome, ...costUsd, ...left } satisfies Change
        return { verb: 'commit', args: [this.#budgets.withSettlement(answer)] }
      }
      case 'progress':
        return {
          verb: 'commit',
          args: [{ type: 'progress', ...this.#held(), progress: { done: 1, of: 2 } } satisfies Change],
        }
      case 'budget':
        return { verb: 'setBudget', args: [this.#budgets.order()] }
      case 'hold':
        return { verb: 'hold', args: [this.#order()] }
      case 'release':
        return { verb: 'release', args: [{ what: this.#order().what, by: 'bob' }] }
      case 'steer':
        return { verb: 'steer', args: [await this.#act()] }
      case 'take':
        return { verb: 'take', args: [await this.#take()] }
      case 'move':
        return { verb: 'reorder', args: [this.#move()] }
      case 'prune':
        return { verb: 'prune', args: [this.#retention()] }
      default:
        return { verb: 'note', args: [{ run: this.#held().run, by: 'ann', what: 'looked', data: { n: 1 } }] }
    }
  }

  /** Mostly something that can be answered with more than "lost". */
  #wish(): (typeof MIX)[number] {
    const wish = this.#pick(MIX)
    const needsLease = wish === 'end' || wish === 'intent' || wish === 'answer' || wish === 'renew'
    return needsLease && this.#live.length === 0 && this.#dice() < 0.7 ? this.#pick(['claim', 'create']) : wish
  }

  #newRun(): NewRun {
    return {
      task: this.#pick(TASKS),
      ...this.#maybe(0.4, () => ({ category: this.#pick(CATEGORIES) })),
      ...this.#maybe(0.3, () => ({ resource: this.#pick(['flash', 'pro']) })),
      ...this.#maybe(0.4, () => ({
        key: this.#pick(['k1', 'k2', 'k3']),
        fingerprint: this.#pick(['f', 'f', 'f', 'g']),
      })),
      ...this.#maybe(0.5, () => ({ onExisting: this.#pick(['return', 'retry'] as const) })),
      ...this.#maybe(0.3, () => ({ dueAt: this.#now + this.#pick([-5, 0, 1, 900, 20_000]) })),
      ...this.#maybe(0.2, () => ({ deadlineAt: this.#now + 60_000, maxCostUsd: 0.1 })),
      ...this.#maybe(0.2, () => ({ concurrency: { key: this.#pick(['c1', 'c2']), max: this.#pick([1, 1, 2]) } })),
      input: JSON.stringify('i'.repeat(this.#pick([1, 1, 2_000]))),
      priority: this.#pick([0, 0, 0, 5, -1]),
    }
  }

  #newFlow(): NewFlow {
    const steps = Array.from({ length: this.#pick([1, 2, 3, 5]) }, (_, index): NewStep => {
      const { key: _key, fingerprint: _print, onExisting: _again, ...run } = this.#newRun()
      const needs = Array.from({ length: index }, (_, earlier) => `s${earlier}`).filter(() => this.#dice() < 0.6)
      const onNeedFailed = this.#pick(['fail', 'fail', 'skip', 'wait'] as const)
      // One task, so that most of a flow is claimed and gets somewhere.
      return { ...run, task: 't', step: `s${index}`, needs, onNeedFailed }
    })
    const key = { key: this.#pick(['f1', 'f2']), fingerprint: this.#pick(['f', 'f', 'g']) }
    return {
      name: 'flow',
      steps,
      ...this.#maybe(0.4, () => key),
      ...this.#maybe(0.5, () => ({ onExisting: this.#pick(['return', 'retry'] as const) })),
    }
  }

  #quota(): Quota {
    const remaining = this.#pick([0, 1, 2, 5, 40])
    const left = { resource: this.#pick(['flash', 'pro']), by: 'x-left', remaining, limit: 100 }
    return {
      ...left,
      unit: this.#pick(['requests', 'requests', 'tokens']),
      resetAt: this.#now + this.#pick([0, 900, 8_000]),
    }
  }

  #order(): HoldOrder {
    return {
      what: this.#pick(['resource:flash', 'resource:pro', 'task:u', 'category:b', 'category:']),
      ...this.#maybe(0.9, () => ({ until: this.#now + this.#pick([-1, 0, 700, 2_000, 9_000]) })),
      why: 'told',
      by: 'ann',
      probe: this.#dice() < 0.7,
    }
  }

  #request(): ClaimRequest {
    const request = {
      worker: this.#pick(['w1', 'w2', 'w3']),
      nonce: `nonce-${this.#requests.length + 1}`,
      limit: this.#pick([1, 2, 3, 10]),
      leaseMs: this.#pick([900, 5_000, 30_000]),
      alone: this.#dice() < 0.4,
      tasks: this.#pick([['t'], ['t', 'u'], [...TASKS], []]),
      ...this.#maybe(0.3, () => ({ limits: this.#pick(LIMITS) })),
      ...this.#maybe(0.2, () => ({ categories: this.#pick([['b'], ['b', 'c'], [''], []]) })),
    }
    this.#requests.push(request)
    return request
  }

  /** Mostly a lease that is held, sometimes one that is long gone or never was. */
  #held(): { run: string; token: number } {
    const { run, token } = this.#lease()
    return this.#dice() < 0.05
      ? { run: this.#pick(['r1', 'r999', 'nobody']), token: this.#pick([0, 1, 999]) }
      : { run, token }
  }

  #lease(): Leased {
    const some = this.#live.length > 0 && this.#dice() < 0.8 ? this.#live : this.#leases
    return some.length > 0 ? this.#pick(some) : { run: 'nobody', token: 1, generation: 1, worker: 'w1' }
  }

  /** The address of a journal entry, in the generation that the lease is of. */
  #entry(): { run: string; token: number; generation: number; name: string; inputHash: string } {
    const { run, token, generation } = this.#lease()
    return {
      run,
      token,
      generation,
      name: this.#pick(['ask', 'ask', 'ask', 'nap']),
      inputHash: this.#pick(['h', 'h', 'h', '']),
    }
  }

  async #end(): Promise<EndChange> {
    const { run, token, generation, worker } = this.#lease()
    const view = await this.#store.get({ id: run })
    const { ledgers = EMPTY_LEDGERS, attempt = 1, rung = 0 } = view ?? {}
    const fenced = { type: 'end', run, token } as const
    const now = this.#now
    const record = { generation, attempt, token, worker, startedAt: now, endedAt: now }
    const lane = this.#maybe(0.3, () => ({
      lane: { task: view?.task ?? 't', category: this.#pick(CATEGORIES) },
      rung: rung + 1,
    }))
    const ways = [
      'succeed',
      'succeed',
      'output',
      'retry',
      'retry',
      'fail',
      'suspend',
      'review',
      'unstarted',
      'join',
      'submit',
    ]
    switch (this.#pick(ways)) {
      case 'submit':
        return { ...fenced, state: 'succeeded', children: [this.#newRun(), this.#newRun()].slice(this.#pick([0, 1])) }
      case 'join': {
        const children = Array.from({ length: this.#pick([1, 2, 3]) }, () => {
          const { key: _key, fingerprint: _print, onExisting: _again, ...child } = this.#newRun()
          return child
        })
        const join = { name: this.#pick(['j1', 'j2']) + attempt, children }
        return { ...fenced, state: 'blocked', suspensions: 1, join, attempt: { ...record, outcome: 'suspended' } }
      }
      case 'succeed':
        return { ...fenced, state: 'succeeded' }
      case 'output':
        return { ...fenced, state: 'succeeded', output: JSON.stringify('o'.repeat(this.#pick([1, 3_000]))) }
      case 'suspend': {
        const journal = { name: 'sleep', inputHash: '', token, takes: 1, intentAt: now }
        const dueAt = now + this.#pick([0, 2_000])
        return {
          ...fenced,
          state: 'waiting',
          dueAt,
          suspensions: 1,
          journal,
          attempt: { ...record, outcome: 'suspended' },
        }
      }
      case 'review':
        return {
          ...fenced,
          state: 'review',
          suspensions: 1,
          ...this.#maybe(0.5, () => ({ dueAt: now + 3_000 })),
          ...this.#maybe(0.7, () => ({
            journal: { name: 'desk', inputHash: '1', token, takes: 1, intentAt: now, question: '{"title":"x"}' },
          })),
          ...this.#maybe(0.5, () => ({ note: { by: worker, what: 'handed over' } })),
        }
      case 'unstarted':
        return { ...fenced, state: 'ready', unstarted: true }
      default: {
        const decision = { act: 'retry', counted: true, entry: 'errors', why: BEGUN_AGAIN } as const
        const failure = { ...FAILURE, code: this.#pick(['http.503', 'http.404', 'a%b']) }
        const row = { ...record, outcome: 'failed', failure, decision, dice: this.#dice() } as const
        const limited = this.#maybe(0.3, () => ({ hold: this.#order() }))
        const admits = this.#maybe(0.2, () => ({ admits: true }))
        const trouble = this.#maybe(0.6, () => ({ trouble: this.#pick(['flash', 'flash', 'pro']) }))
        const again = this.#maybe(0.2, () => ({ again: this.#dice() < 0.8 }))
        const told = { ...limited, ...admits, ...trouble, ...again }
        const failed = { ...fenced, failure, why: BEGUN_AGAIN, ledgers: oneErrorMore(ledgers), attempt: row, ...told }
        const wait = { state: 'waiting', dueAt: now + this.#pick([0, 500, 10_000]) } as const
        return { ...failed, ...(this.#dice() < 0.6 ? { ...wait, ...lane } : { state: 'failed' as const }) }
      }
    }
  }

  /** The limit is above what a script makes: how a store divides its work into calls is its own affair. */
  #retention(): PruneRequest {
    return {
      keepMs: this.#pick([{ succeeded: 0, failed: 0 }, { succeeded: 5_000, failed: 60_000 }, { cancelled: 1_000 }, {}]),
      ...this.#maybe(0.2, () => ({ keepMax: this.#pick([0, 1, 3]) })),
      keysMs: this.#pick([0, 0, 0, 30_000, 120_000]),
      limit: 1_000,
    }
  }

  /** Mostly a run that a person is asked about, by one of two people. */
  async #take(): Promise<TakeRequest> {
    const { runs } = await this.#store.find({ states: ['review'], limit: 3 })
    const view = runs.length > 0 && this.#dice() < 0.9 ? this.#pick(runs) : undefined
    return {
      run: view?.id ?? this.#held().run,
      by: this.#pick(['ann', 'bob']),
      leaseMs: this.#pick([0, 900, 5_000]),
      expect: { generation: this.#dice() < 0.9 ? (view?.generation ?? 1) : 7 },
    }
  }

  #move(): Move {
    return {
      run: this.#pick([this.#held().run, 'r1', 'r2', 'r5', 'r9']),
      by: 'ann',
      why: BEGUN_AGAIN,
      expect: { generation: this.#pick([1, 1, 2]), states: this.#pick(STATES) },
      ...this.#maybe(0.5, () => ({ priority: this.#pick([-3, 0, 8]) })),
      ...this.#maybe(0.5, () => ({ dueAt: this.#now + this.#pick([-5, 0, 700, 20_000]) })),
    }
  }

  async #act(): Promise<Act> {
    const type = this.#pick(['cancel', 'retry'] as const)
    const any = { generation: this.#pick([1, 1, 2]), states: this.#pick(STATES) }
    const act = {
      run: this.#held().run,
      type,
      by: 'ann',
      why: type === 'cancel' ? CANCELLED : BEGUN_AGAIN,
      expect: any,
    }
    if (this.#steps.length === 0 || this.#dice() < 0.5) return act
    // A step as it is now, so that the act is taken and the flow moves; one that took others along, if there is one.
    const run = (await this.#culprit()) ?? this.#pick(this.#steps)
    const { generation = 1, state = 'ready' } = (await this.#store.get({ id: run })) ?? {}
    const again = state === 'failed' || state === 'cancelled'
    const expect = { generation, states: [state] }
    return { ...act, run, expect, ...(again ? { type: 'retry' as const, why: BEGUN_AGAIN } : {}) }
  }

  /** A step that ended by itself without success, and because of which another one did. */
  async #culprit(): Promise<string | undefined> {
    const { runs } = await this.#store.find({ states: ['failed', 'cancelled'], limit: 20 })
    for (const { id, why } of runs) {
      if (why?.code !== 'end.need_failed' && why?.code !== 'run.skipped') continue
      const { needs } = await this.#store.links(id)
      const found = needs.find(({ state }) => state === 'failed' || state === 'cancelled')
      if (found) return found.run
    }
    return undefined
  }

  #pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.#dice() * choices.length)]
    if (choice === undefined) throw new RangeError('nothing to choose from')
    return choice
  }

  #maybe<T extends object>(chance: number, make: () => T): T | Record<never, never> {
    return this.#dice() < chance ? make() : {}
  }
}
