/**
 * Tells histories without an engine and without a store: each verb adds the lines and the rows that a right one would leave.
 * For testing the checker, which must take every history told here and refuse every one that was tampered with.
 */
import { createHash } from 'node:crypto'
import { failure as failureError } from '../../failure/own.ts'
import { EMPTY_LEDGERS, type Ledgers } from '../../policy/situation.ts'
import type { Change, RunView } from '../../ports/store.ts'
import { apply, type Ending } from '../../run/apply.ts'
import type { RepriseEvent } from '../../run/event.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { type AttemptRecord, isTerminal, type State } from '../../run/run.ts'
import { type Dice, seededDice } from '../../time/dice.ts'
import { budgetsOf, reserveFor, settleFor } from './budget-scene.fixtures.ts'
import type { History, LogLine, StoreOperation } from './history.ts'
import { SIM_TASKS } from './sim-tasks.ts'
import { WORLD_BEGINS_AT } from './world.ts'

const LEASE_MS = 3_000
const task = SIM_TASKS.plain
const WORKERS = ['w1', 'w2'] as const

interface Row {
  readonly id: string
  readonly item: number
  readonly key: string | undefined
  readonly submittedAt: number
  state: State
  generation: number
  attempt: number
  ledgers: Ledgers
  suspensions: number
  dueAt: number | undefined
  token: number
  worker: string
  claimedAt: number
  alone: boolean
  held: boolean
  endedBy: number | undefined
  output: string | undefined
  finishedAt: number | undefined
  readonly attempts: AttemptRecord[]
  readonly journals: Map<number, JournalEntry[]>
}

export class Teller {
  readonly #dice: Dice
  readonly #lines: LogLine[] = []
  readonly #rows = new Map<string, Row>()
  readonly #artifacts: Record<string, string> = {}
  #at = WORLD_BEGINS_AT
  #tokens = 0
  #ops = 0

  constructor(seed: number) {
    this.#dice = seededDice(seed)
  }

  pass(ms: number): void {
    this.#at += ms
  }

  submit(item: number, key?: string): string {
    const known = [...this.#rows.values()].find((row) => key !== undefined && row.key === key)
    const id = known?.id ?? `r${this.#rows.size + 1}`
    const told = {
      log: 'client',
      process: 'client',
      op: this.#ops++,
      does: 'submit',
      task: task.name,
      item,
      ...(key === undefined ? {} : { key }),
    } as const
    this.#note({ ...told, phase: 'invoke' })
    this.#store('client', {
      verb: 'create',
      asked: [{ item, lane: { task: task.name }, priority: 0 }],
      runs: [{ id, created: !known, generation: known?.generation ?? 1 }],
    })
    this.#note({ ...told, phase: 'ok', run: id, created: !known })
    if (!known) this.#rows.set(id, newRow(id, item, key, this.#at))
    return id
  }

  /** Leases a run; a lease that has run out before is found and counted by the way. */
  claim(id: string, alone = true): void {
    const row = this.#row(id)
    if (row.dueAt !== undefined) this.#at = Math.max(this.#at, row.dueAt)
    const lapsed = row.held
    if (lapsed) {
      this.#at = Math.max(this.#at, row.claimedAt + LEASE_MS)
      this.#lapse(row)
    }
    const worker = this.#dice() < 0.5 ? WORKERS[0] : WORKERS[1]
    Object.assign(row, {
      worker,
      alone,
      held: true,
      claimedAt: this.#at,
      token: ++this.#tokens,
      state: 'ready',
      dueAt: undefined,
    })
    row.attempt += 1
    const { generation, attempt, ledgers, token } = row
    const runs = [{ id, generation, attempt, lapses: ledgers.lapses, ...(lapsed ? { lapsed: row.alone } : {}) }]
    this.#store(worker, { verb: 'claim', worker, nonce: `n${token}`, alone, leaseMs: LEASE_MS, token, runs })
    this.#event(row, { name: 'attempt.started', token, retry: 0, retriesMax: 3 })
    this.#note({ log: 'handler', process: worker, does: 'begin', run: id, generation, attempt, token })
    this.pass(5)
  }

  #lapse(row: Row): void {
    this.#note({ log: 'fault', process: row.worker, fault: 'crash' })
    row.held = false
    if (!row.alone) return
    const { generation, attempt, token, worker, claimedAt: startedAt } = row
    row.ledgers = { ...row.ledgers, lapses: row.ledgers.lapses + 1 }
    row.attempts.push({ generation, attempt, token, worker, startedAt, endedAt: this.#at, outcome: 'lapsed' })
  }

  /** A call: sent once for each failure and once more for its answer; a stored answer is not bought again. */
  call(id: string, name: string, failures = 0): void {
    const row = this.#row(id)
    const journal = row.journals.get(row.generation) ?? []
    row.journals.set(row.generation, journal)
    const inputHash = createHash('sha256').update(`${row.item} ${name}`).digest('hex').slice(0, 32)
    const known = journal.find((entry) => entry.name === name)
    if (known?.answer !== undefined) {
      this.#event(row, { name: 'call.replayed', call: name, answeredAt: known.answeredAt ?? 0, late: false })
      return
    }
    for (let take = (known?.takes ?? 0) + 1, left = failures; ; take += 1, left -= 1) {
      const { generation, attempt, token, worker } = row
      this.#commit(row, { type: 'intent', run: id, token, generation, name, inputHash, take, ...reserveFor(name) })
      this.#event(row, { name: 'call.sent', call: name, take })
      const idempotencyKey = `${id}.${generation}.${name}.${inputHash}`
      this.#note({
        log: 'provider',
        process: worker,
        run: id,
        generation,
        attempt,
        token,
        call: name,
        inputHash,
        take,
        idempotencyKey,
        body: `${row.item}`,
        costUsd: 0,
      })
      this.pass(20)
      const failed = left > 0 ? { failure: unavailable } : { answer: '"fine"' }
      const settled = { ...failed, ...settleFor(name, take) }
      this.#commit(row, { type: 'answer', run: id, token, generation, name, inputHash, ...settled })
      const entry = { name, inputHash, token, takes: take, intentAt: this.#at - 20, answeredAt: this.#at, ...failed }
      journal.splice(0, journal.length, ...journal.filter((each) => each.name !== name), entry)
      if (left <= 0) return
      this.pass(2_000 - 20)
      this.#store(worker, { verb: 'renew', worker, leaseMs: LEASE_MS, leases: [{ run: id, token }], lost: [] })
      row.claimedAt = this.#at
    }
  }

  artifact(id: string, name: string): void {
    const row = this.#row(id)
    const path = row.generation === 1 ? `${id}/${name}` : `${id}/g${row.generation}/${name}`
    const sha256 = createHash('sha256').update(path).digest('hex')
    const reused = path in this.#artifacts
    this.#artifacts[path] = sha256
    this.#note({ log: 'artifact', process: row.worker, path, answer: reused ? 'reused' : 'created', sha256 })
    this.#event(row, { name: 'artifact.stored', artifact: name, uri: path, bytes: 3, reused })
  }

  end(id: string, how: 'value' | 'unavailable' | 'limited' | 'final' | 'later' | 'person'): void {
    const row = this.#row(id)
    const { generation, attempt, token, worker } = row
    this.pass(10)
    const output = how === 'value' ? JSON.stringify({ item: row.item, attempt }) : undefined
    const value = output === undefined ? {} : { value: output }
    this.#note({
      log: 'handler',
      process: worker,
      does: how === 'value' ? 'return' : 'throw',
      run: id,
      generation,
      attempt,
      token,
      ...value,
    })
    const claimedAt =
      this.#lines.findLast((line) => line.log === 'store' && line.verb === 'claim' && line.token === token)?.at ?? 0
    const execution = { token, worker, startedAt: claimedAt, now: this.#at, takes: 0, costUsd: 0 }
    const held = { ...row, task: task.name, rung: 0 }
    const { decision: _told, ...change } = apply(held, execution, this.#ending(how, output))
    this.#commit(row, { type: 'end', run: id, token, ...change })
    Object.assign(row, { held: false, endedBy: token, state: change.state, dueAt: change.dueAt, output })
    row.finishedAt = isTerminal(change.state) ? this.#at : undefined
    row.suspensions += change.suspensions ?? 0
    if (change.ledgers) row.ledgers = change.ledgers
    if (change.attempt) row.attempts.push(change.attempt)
    this.#tellEnd(row, how)
    this.pass(3)
  }

  #ending(how: string, output: string | undefined): Ending {
    const until = this.#at + 4_000
    if (how === 'value') return { type: 'value', ...(output === undefined ? {} : { output }) }
    if (how === 'later') return { type: 'suspend', dueAt: until, why: { code: 'run.later', params: { until } } }
    if (how === 'person')
      return { type: 'person', why: { code: 'run.handed_over', params: { queue: 'review', reason: 'look' } } }
    const failed = { unavailable, limited, final }[how as 'unavailable' | 'limited' | 'final']
    return { type: 'failure', failure: failed, dice: this.#dice(), policy: task.policy, policyHash: task.policyHash }
  }

  #tellEnd(row: Row, how: string): void {
    const name = { succeeded: 'run.succeeded', failed: 'run.failed', review: 'run.review' }[row.state as string]
    this.#event(row, { name: name ?? (how === 'later' ? 'run.suspended' : 'attempt.retried') })
  }

  steer(id: string, type: 'cancel' | 'retry'): void {
    const row = this.#row(id)
    const by = 'ops'
    const why =
      type === 'cancel'
        ? ({ code: 'run.cancelled', params: { by } } as const)
        : ({ code: 'run.again', params: { by, generation: row.generation + 1 } } as const)
    this.#store('client', {
      verb: 'steer',
      act: { run: id, type, expect: { generation: row.generation, states: [row.state] }, by, why },
      answer: 'ok',
    })
    if (type === 'cancel')
      Object.assign(row, { state: 'cancelled', held: false, dueAt: undefined, finishedAt: this.#at })
    else
      Object.assign(row, {
        state: 'ready',
        generation: row.generation + 1,
        attempt: 0,
        ledgers: EMPTY_LEDGERS,
        suspensions: 0,
        output: undefined,
        finishedAt: undefined,
      })
    row.attempts.push({
      generation: row.generation,
      attempt: 0,
      token: 0,
      worker: by,
      startedAt: this.#at,
      endedAt: this.#at,
      outcome: 'operator',
      why,
    })
  }

  history(seed: number): History {
    const rows = [...this.#rows.values()]
    return {
      seed,
      steps: this.#lines.length,
      lines: this.#lines,
      quietFrom: WORLD_BEGINS_AT,
      slots: 2,
      claimBoundMs: 60_000,
      limits: [],
      ageingMs: 0,
      timersLeft: 0,
      unstopped: [],
      policyOf: { [task.name]: task.policy },
      canaries: ['sk-canary'],
      dump: {
        at: this.#at,
        runs: rows.map(viewOf),
        gone: [],
        links: {},
        attempts: Object.fromEntries(rows.map((row) => [row.id, row.attempts])),
        journals: Object.fromEntries(rows.map((row) => [row.id, Object.fromEntries(row.journals)])),
        notes: [],
        policies: { [task.policyHash]: JSON.stringify(task.policy) },
        findings: [],
        artifacts: this.#artifacts,
        budgets: budgetsOf(this.#lines, this.#at),
      },
    }
  }

  #row(id: string): Row {
    const row = this.#rows.get(id)
    if (!row) throw new Error(`${id} was never submitted`)
    return row
  }

  #commit(row: Row, change: Change): void {
    this.#store(row.worker, { verb: 'commit', change, answer: 'ok' })
  }

  #store(process: string, operation: StoreOperation): void {
    this.#note({ log: 'store', process, ...operation })
  }

  /** Only the fields that the checker reads: the others would say nothing here. */
  #event({ id, generation, attempt, worker }: Row, fields: { readonly name: string } & Record<string, unknown>): void {
    const event = {
      ...fields,
      at: this.#at,
      run: id,
      task: task.name,
      generation,
      attempt,
      worker,
    } as unknown as RepriseEvent
    this.#note({ log: 'event', process: worker, event })
  }

  #note(line: object): void {
    this.#lines.push({ ...line, seq: this.#lines.length, at: this.#at } as LogLine)
  }
}

const unavailable = failureError({ kind: 'transient', code: 'http.503' }).failure
const limited = failureError({ kind: 'rate_limited', code: 'http.429', retryAfterMs: 2_000 }).failure
const final = failureError({ kind: 'final', code: 'app.never' }).failure

const newRow = (id: string, item: number, key: string | undefined, submittedAt: number): Row => ({
  id,
  item,
  key,
  submittedAt,
  state: 'ready',
  generation: 1,
  attempt: 0,
  ledgers: EMPTY_LEDGERS,
  suspensions: 0,
  dueAt: undefined,
  token: 0,
  worker: '',
  claimedAt: 0,
  alone: true,
  held: false,
  endedBy: undefined,
  output: undefined,
  finishedAt: undefined,
  attempts: [],
  journals: new Map(),
})

const viewOf = (row: Row): RunView => {
  const { id, state, generation, attempt, ledgers, suspensions, submittedAt } = row
  return {
    ...{ id, state, generation, attempt, ledgers, suspensions, submittedAt },
    task: task.name,
    priority: 0,
    suspect: false,
    rung: 0,
    input: JSON.stringify({ item: row.item }),
    costUsd: 0,
    ...(row.key === undefined ? {} : { key: row.key }),
    ...(row.output === undefined ? {} : { output: row.output }),
    ...(row.endedBy === undefined ? {} : { endedBy: row.endedBy }),
    ...(row.dueAt === undefined ? {} : { dueAt: row.dueAt }),
    ...(row.finishedAt === undefined ? {} : { finishedAt: row.finishedAt }),
  }
}
