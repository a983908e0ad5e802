/**
 * A journalled call: look for a stored answer, write the intent, send, write the answer, and only then let anyone judge it.
 * Infrastructure failures are repeated here within the in-call policy; every other failure leaves as the original error.
 */
import { classify } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import { failure } from '../failure/own.ts'
import { quotasIn } from '../failure/quota-headers.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { inAttempt } from '../observe/ambient.ts'
import { applyEntry, decide } from '../policy/decide.ts'
import { inCall } from '../policy/defaults.ts'
import type { Policy } from '../policy/policy.ts'
import { EMPTY_LEDGERS } from '../policy/situation.ts'
import { endingsSoFar, innerHistory } from '../retry/history.ts'
import type { Reserve } from '../run/budget.ts'
import type { JournalEntry } from '../run/journal.ts'
import { isQuotaLow, type Quota } from '../run/quota.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { AmbientExecution } from './ambient-execution.ts'
import { lasting, reservesOf, type SpendOptions, wasNeverSent } from './call-budget.ts'
import { crashPoint } from './crash-point.ts'
import { callLimitMs } from './deadline.ts'
import { type Execution, journalKey } from './execution.ts'
import { fromJson, hashOf, toJson } from './json.ts'
import { checkResource } from './task.ts'
import { leaveOf } from './throwables.ts'

export interface CallOptions extends SpendOptions {
  /** What the call depends on: an answer is reused only for the same input. */
  readonly input?: unknown
  /** What it needs: `gemini:flash`. Told to wait, it is held for everyone; by default what the run's lane needs. */
  readonly resource?: string
  /** The send may take this long. */
  readonly timeout?: Duration
  /** Of repeats inside this attempt; `maxAttempts: 1` switches them off. */
  readonly policy?: Policy
  /** When an earlier send may or may not have arrived: send again (default), or ask a person. */
  readonly ambiguous?: 'again' | 'person'
}

export interface CallScope {
  /** Aborted when the call's time is up or the attempt must leave. */
  readonly signal: AbortSignal
  /** The same for every send of this call: providers that know it do the work once. */
  readonly idempotencyKey: string
  /** 1 for the first send under this name and input, over all attempts. */
  readonly take: number
  /** Tells what the send cost, in US dollars; 0 counts as told. Untold, a budget keeps the worst case. */
  cost(usd: number): void
  /**
   * Tells what the answer said about how much is left: its headers, or a `Response` that has them. When that is too little for the
   * runs that are out, what the call needs is held for everyone before anybody is refused.
   */
  limits(headersOrResponse: unknown): void
}

/** Waits up to here are waited out in the process; longer ones leave the attempt and are waited out by the store. */
export const WAIT_IN_PROCESS_MAX_MS = 60_000

export async function journalledCall<Value>(
  execution: Execution,
  name: string,
  send: (scope: CallScope) => Value | Promise<Value>,
  options: CallOptions,
): Promise<Value> {
  execution.check()
  execution.takeName(name)
  if (options.resource !== undefined) checkResource('resource', options.resource)
  const inputHash = options.input === undefined ? '' : hashOf(options.input)
  const stored = (await execution.journal()).get(journalKey(name, inputHash))
  if (stored?.answer !== undefined) return replay<Value>(execution, stored, stored.answer)
  if (stored && stored.failure === undefined) ambiguous(execution, stored, options)
  return new Sending(execution, name, inputHash, options, stored?.takes ?? 0).repeat(send)
}

function replay<Value>(execution: Execution, entry: JournalEntry, answer: string): Value {
  execution.emit('call.replayed', {
    call: entry.name,
    answeredAt: entry.answeredAt ?? entry.intentAt,
    late: entry.late === true,
  })
  return fromJson(answer) as Value
}

/** An intent without an answer: the send may have arrived. Asked again it may be paid twice, so that is said and counted. */
function ambiguous(execution: Execution, { name, intentAt }: JournalEntry, options: CallOptions): void {
  const recourse = options.ambiguous ?? 'again'
  execution.emit('call.ambiguous', { call: name, intentAt, recourse })
  if (recourse === 'again') return
  const reason = `${name} was sent and nobody knows whether it arrived`
  throw execution.suspend({ type: 'person', queue: 'review', reason }, reason)
}

class Sending {
  readonly #execution: Execution
  readonly #name: string
  readonly #inputHash: string
  readonly #options: CallOptions
  #take: number
  /** Of the latest take: each one is settled by itself. */
  #costUsd: number | undefined
  #quotas: readonly Quota[] = []
  /** What each take reserves; absent when nothing. */
  readonly #reserves: readonly Reserve[] | undefined

  constructor(execution: Execution, name: string, inputHash: string, options: CallOptions, takes: number) {
    this.#execution = execution
    this.#name = name
    this.#inputHash = inputHash
    this.#options = options
    this.#take = takes
    this.#reserves = reservesOf(execution, options)
  }

  async repeat<Value>(send: (scope: CallScope) => Value | Promise<Value>): Promise<Value> {
    const { clock } = this.#execution.parts
    const firstAt = clock.monotonic()
    let ledgers = EMPTY_LEDGERS
    for (;;) {
      const limitMs = await this.#begin()
      const sentAt = clock.monotonic()
      const mark = endingsSoFar()
      let thrown: unknown
      try {
        return await this.#answered<Value>(await this.#send(send, limitMs), sentAt)
      } catch (error) {
        if (leaveOf(error) || this.#execution.left || error instanceof RepriseError) throw error
        thrown = error
      }
      const now = this.#execution.parts.time.now()
      const failed = classify(thrown, { now })
      const decision = this.#decide(failed, ledgers)
      const waitMs = decision.act === 'retry' ? (decision.at ?? 0) - now : Number.POSITIVE_INFINITY
      // What an inner retry, or an adapter with one, has given up on is not tried again here: layers do not multiply.
      const isSpent = innerHistory(thrown, mark) !== undefined
      const isOver =
        isSpent || failed.layer !== 'infrastructure' || waitMs > WAIT_IN_PROCESS_MAX_MS || this.#isFailing(failed)
      if (!isOver) this.#quotas = this.#refusedBy(failed)
      await this.#endTake(failed, thrown)
      if (isOver) {
        const ms = Math.round(clock.monotonic() - firstAt)
        this.#execution.emit('call.failed', { call: this.#name, take: this.#take, ms, failure: failed })
        const { resource } = this.#options
        if (resource !== undefined) this.#execution.failedOn = { resource, thrown }
        throw thrown
      }
      ledgers = applyEntry(ledgers, decision, failed)
      const leftMs = (decision.at ?? 0) - this.#execution.parts.time.now()
      await this.#pause(failed, ledgers.errors + ledgers.rateWaits, Math.max(0, leftMs))
    }
  }

  #decide(failed: Failure, ledgers: typeof EMPTY_LEDGERS) {
    const { parts } = this.#execution
    const now = parts.time.now()
    const limitMs = callLimitMs(this.#execution, undefined)
    const deadline = limitMs === undefined ? {} : { deadlineAt: now + Math.max(0, limitMs) }
    return decide({
      failure: failed,
      policy: this.#options.policy ?? inCall,
      ledgers,
      now,
      dice: parts.dice(),
      ...deadline,
    })
  }

  async #pause(failed: Failure, retry: number, delayMs: number): Promise<void> {
    const retriesMax = (this.#options.policy ?? inCall).maxAttempts - 1
    const { code } = failed
    this.#execution.emit('call.repeated', {
      call: this.#name,
      take: this.#take,
      retry,
      retriesMax,
      delayMs,
      code,
      failure: failed,
    })
    await this.#execution.parts.clock.sleep(delayMs, this.#execution.signal)
  }

  /** Writes the intent of the next take, and tells how long its send may last. What stops it here was never sent. */
  async #begin(): Promise<number | undefined> {
    const execution = this.#execution
    await execution.parts.keeper.confirm(execution)
    const ownMs = this.#options.timeout === undefined ? undefined : parseDuration(this.#options.timeout, 'timeout')
    const limitMs = callLimitMs(execution, ownMs)
    if (limitMs !== undefined && limitMs <= 0) throw tooLittleTime(this.#name, limitMs)
    const take = this.#take + 1
    const reserve = this.#reserves && { reserve: lasting(this.#reserves, limitMs) }
    const entry = { name: this.#name, inputHash: this.#inputHash, take }
    await execution.write({ type: 'intent', ...entry, ...reserve })
    this.#take = take
    this.#costUsd = undefined
    this.#quotas = []
    execution.takes += 1
    // The write may have taken longer than the lease had left.
    await execution.parts.keeper.confirm(execution)
    execution.emit('call.sent', { call: this.#name, take: this.#take })
    crashPoint('after-intent')
    return limitMs
  }

  async #send<Value>(send: (scope: CallScope) => Value | Promise<Value>, limitMs: number | undefined): Promise<Value> {
    const execution = this.#execution
    const { run } = execution
    const scope = (signal: AbortSignal): CallScope => ({
      signal,
      idempotencyKey: `${run.id}.${run.generation}.${this.#name}.${this.#inputHash}`,
      take: this.#take,
      cost: (usd) => {
        this.#costUsd = (this.#costUsd ?? 0) + usd
      },
      limits: (told) => {
        this.#quotas = this.#quotasOf(told)
      },
    })
    // An adapter that repeats a request inside this send ends one take and begins another, as if it were repeated here.
    const again = async (failed: Failure, thrown: unknown) => {
      await this.#endTake(failed, thrown)
      await this.#begin()
    }
    const traced = (signal: AbortSignal) =>
      inAttempt(
        () => new AmbientExecution(execution, again),
        () => this.#inSpan(() => send(scope(signal))),
      )
    return limitMs === undefined ? traced(execution.signal) : withinLimit(execution, this.#name, limitMs, traced)
  }

  /** While most tries of a resource fail, its retries are few, and the store gives them out; repeats in here would multiply them. */
  #isFailing({ kind }: Failure): boolean {
    const { run } = this.#execution
    const resource = this.#options.resource ?? run.resource
    return kind === 'transient' && resource !== undefined && run.failing?.includes(resource) === true
  }

  /**
   * Told to wait, and it waits here: what it was told is for everyone, so that nobody else begins meanwhile. A probe keeps the others
   * away by itself, and a wait that ends the attempt holds the resource with that end.
   */
  #refusedBy({ kind, code, message: why, retryAfterMs }: Failure): readonly Quota[] {
    const { run, parts } = this.#execution
    const resource = this.#options.resource ?? run.resource
    if (kind !== 'rate_limited' || retryAfterMs === undefined || resource === undefined) return this.#quotas
    if (run.probes?.includes(`resource:${resource}`)) return this.#quotas
    const resetAt = parts.time.now() + retryAfterMs
    return [{ resource, by: code, unit: 'requests', remaining: 0, resetAt, why }]
  }

  /** Those that can matter: most answers leave plenty, and a call that needs no resource holds none. */
  #quotasOf(told: unknown): Quota[] {
    const resource = this.#options.resource ?? this.#execution.run.resource
    if (resource === undefined) return []
    const now = this.#execution.parts.time.now()
    const low = quotasIn(told, now).filter(isQuotaLow)
    return low.map(({ resetMs, ...quota }) => ({ ...quota, resource, resetAt: now + resetMs }))
  }

  #inSpan<Value>(body: () => Value): Value {
    const { tracing } = this.#execution.parts
    return tracing ? tracing.withCallSpan({ ...this.#execution.ref, call: this.#name }, body) : body()
  }

  async #answered<Value>(value: Value, sentAt: number): Promise<Value> {
    const { clock } = this.#execution.parts
    crashPoint('after-send')
    // What is not JSON could not be given back by a later attempt, so it is not given now either.
    const answer = toJson(value, `answer of call "${this.#name}"`) ?? 'null'
    await this.#write({ answer })
    crashPoint('after-answer')
    const paid = this.#costUsd ? { costUsd: this.#costUsd } : {}
    this.#execution.emit('call.answered', {
      call: this.#name,
      take: this.#take,
      ms: Math.round(clock.monotonic() - sentAt),
      ...paid,
    })
    return value === undefined ? (undefined as Value) : (fromJson(answer) as Value)
  }

  /** A take that failed, for good or not: what it reserved is spent, unless it surely never left. */
  #endTake(failed: Failure, thrown: unknown): Promise<void> {
    return this.#write({ failure: failed }, wasNeverSent(thrown) ? 'release' : 'spend')
  }

  #write(
    outcome: { readonly answer: string } | { readonly failure: Failure },
    verdict: 'spend' | 'release' = 'spend',
  ): Promise<void> {
    const costUsd = this.#costUsd
    this.#execution.costUsd += costUsd ?? 0
    // A cost of nothing is worth a word only where it frees what was reserved.
    const paid = costUsd === undefined || (costUsd === 0 && !this.#reserves) ? {} : { costUsd }
    const settle = this.#reserves && { take: this.#take, settle: verdict }
    const left = this.#quotas.length > 0 ? { quotas: this.#quotas } : {}
    const entry = { name: this.#name, inputHash: this.#inputHash }
    return this.#execution.write({ type: 'answer', ...entry, ...outcome, ...paid, ...left, ...settle })
  }
}

/** Released rather than begun: a send that cannot be finished in time is paid for nothing. */
const tooLittleTime = (name: string, leftMs: number) =>
  failure({
    kind: 'interrupted',
    code: 'deadline.short',
    message: `${name} was not sent: ${Math.round(leftMs)} ms are left after the reserve`,
  })

/** Runs a send with a time limit; its signal is aborted then, and the call fails even if the send does not listen. */
async function withinLimit<Value>(
  execution: Execution,
  name: string,
  limitMs: number,
  send: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Value> {
  const over = new AbortController()
  const timer = new AbortController()
  const timeout = execution.parts.clock.sleep(limitMs, timer.signal).then(() => {
    const error = failure({
      kind: 'transient',
      code: 'call.timeout',
      message: `${name} did not answer within ${limitMs} ms`,
      layer: 'infrastructure',
    })
    over.abort(error)
    throw error
  })
  try {
    return await Promise.race([send(AbortSignal.any([execution.signal, over.signal])), timeout])
  } finally {
    timeout.catch(() => {})
    timer.abort()
  }
}
