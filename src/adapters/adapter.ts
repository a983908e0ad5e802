/**
 * What all adapters of clients share: one operation is sent by takes, each stamped and counted; in mode `own` infrastructure failures
 * are repeated in silence, in mode `observe` the client goes on by itself and what Reprise would do is told. It knows no vendor.
 */
import { type ClassifyOptions, classify } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import { failure, failureOf } from '../failure/own.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import { ambientAttempt, type ClientEventFields, type ClientEventName, wantAmbient } from '../observe/ambient.ts'
import { isPolicy, type PolicyInput } from '../policy/complete-policy.ts'
import { decide } from '../policy/decide.ts'
import { inCall } from '../policy/defaults.ts'
import { definePolicy } from '../policy/define-policy.ts'
import type { Policy } from '../policy/policy.ts'
import { EMPTY_LEDGERS } from '../policy/situation.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryOptions } from '../retry/options.ts'
import { retry } from '../retry/retry.ts'
import type { Emit, RepriseEvent } from '../run/event.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import { type Dice, randomId, systemDice } from '../time/dice.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { type Mode, modeOf } from './mode.ts'
import { watchStamp } from './wire.ts'

// At the door, so that also the first attempt of a process is known to the clients inside it.
wantAmbient()

export interface AdapterOptions {
  /** `own`: Reprise retries and nobody else. `observe`: the client's own retries stay. Else `REPRISE_MODE`, else `own`. */
  readonly mode?: Mode
  /** Of the silent repeats, or a part of one over the adapter's default. */
  readonly policy?: Policy | PolicyInput
  /** One operation, its waits included, may take this long. Inside a run its attempt's deadline holds as well. */
  readonly timeoutMs?: Duration
  /** Your own classification rules, asked before the built-in ones. */
  readonly rules?: NonNullable<ClassifyOptions['rules']>
  /** Hears events outside of a run, such as `emitter.emit` of `createEmitter()`. Inside a run they go to `reprise.on`. */
  readonly emit?: Emit
  readonly clock?: Clock
  readonly dice?: Dice
}

const OPTION_NAMES: ReadonlySet<string> = new Set([
  'mode',
  'policy',
  'timeoutMs',
  'rules',
  'emit',
  'clock',
  'dice',
] satisfies (keyof AdapterOptions)[])

export interface Take {
  /** 1 for the first send of this operation. */
  readonly take: number
  /** To be sent in the header `STAMP_HEADER`. */
  readonly stamp: string
  /** Aborts when time is up or the attempt must leave. */
  readonly signal: AbortSignal
}

export interface AdapterDefaults {
  readonly sdk: string
  readonly policy?: Policy
  /** Options that only this adapter has. */
  readonly options?: readonly string[]
}

export interface OperationOptions {
  /** The caller's own signal, as the client was given it. */
  readonly signal?: AbortSignal | undefined
  /** Makes a failure more exact: advice that names what was asked for. */
  readonly refine?: (failure: Failure) => Failure
  /** What is thrown leaves as it is; otherwise as a classified failure with it as the cause. */
  readonly bare?: boolean
  /** True for what somebody further out knows how to handle: not repeated here, not told, handed on as it is. */
  readonly handsOn?: (thrown: unknown) => boolean
}

export class Adapter {
  readonly mode: Mode
  readonly clock: Clock
  readonly #sdk: string
  readonly #policy: Policy
  readonly #options: AdapterOptions
  /** Failures of which was told: an operation of several requests hears of its request's failure too. */
  readonly #told = new WeakSet<object>()

  constructor(options: AdapterOptions, defaults: AdapterDefaults) {
    checkOptions(options, defaults)
    this.mode = modeOf(options.mode)
    this.clock = options.clock ?? systemClock
    this.#sdk = defaults.sdk
    this.#policy = completed(options.policy, defaults.policy ?? inCall)
    this.#options = options
  }

  /** Sends one operation: in mode `own` as often as the policy allows, in mode `observe` once. */
  send<Answer>(
    operation: string,
    send: (take: Take) => Promise<Answer>,
    options: OperationOptions = {},
  ): Promise<Answer> {
    return this.mode === 'own' ? this.#own(operation, send, options) : this.#observe(operation, send, options)
  }

  classify(thrown: unknown): Failure {
    const { rules } = this.#options
    return classify(thrown, { now: this.clock.now(), ...(rules === undefined ? {} : { rules }) })
  }

  tell<Name extends ClientEventName>(name: Name, fields: ClientEventFields<Name>): void {
    const attempt = ambientAttempt()
    if (attempt) attempt.tell(name, fields)
    // The compiler cannot see that a name and its fields make an event.
    else this.#options.emit?.({ name, at: this.clock.now(), ...fields } as unknown as RepriseEvent)
  }

  /** Told when more went out than is shown; on the run as a note, for everybody as an event. */
  hidden(operation: string, requests: number, shown: number): void {
    if (requests <= shown) return
    const found = { sdk: this.#sdk, operation, requests, shown, hidden: requests - shown }
    this.tell('client.hidden_retries', found)
    ambientAttempt()?.note('client.hidden_retries', found)
  }

  /** Told when a failure leaves uncured. */
  gaveUp(operation: string, takes: number, found: Failure): void {
    this.tell('client.failed', { sdk: this.#sdk, operation, takes, failure: found })
  }

  async #own<Answer>(
    operation: string,
    send: (take: Take) => Promise<Answer>,
    options: OperationOptions,
  ): Promise<Answer> {
    const id = randomId(8)
    const attempt = ambientAttempt()
    const endsAt = attempt?.deadlineAt
    let takes = 0
    let refused = false
    const again = (thrown: unknown) =>
      attempt?.repeating(this.classify(thrown), thrown).catch((error: unknown) => {
        refused = true
        throw error
      })
    let last: unknown
    try {
      return (await retry(
        async ({ signal }) => {
          if (takes > 0) await again(last)
          takes += 1
          return await this.#take(operation, id, takes, signal, send).catch((thrown: unknown) => {
            last = thrown
            throw thrown
          })
        },
        this.#retryOptions(operation, options, () => refused),
      )) as Answer
    } catch (thrown) {
      // What the engine says to a run that must leave, or has no time for another take, is nobody's failure here.
      if (refused || options.signal?.aborted || attempt?.signal.aborted) throw thrown
      throw this.#leaving(operation, this.#cut(thrown, endsAt), takes, options)
    }
  }

  async #observe<Answer>(
    operation: string,
    send: (take: Take) => Promise<Answer>,
    options: OperationOptions,
  ): Promise<Answer> {
    const stamp = `${randomId(8)}.1`
    const watch = watchStamp(stamp)
    const signal = options.signal ?? new AbortController().signal
    try {
      return await send({ take: 1, stamp, signal })
    } catch (thrown) {
      if (this.#isTold(thrown)) throw thrown
      const found = this.classify(thrown)
      const now = this.clock.now()
      const dice = (this.#options.dice ?? systemDice)()
      const { act, at } = decide({ failure: found, policy: this.#policy, ledgers: EMPTY_LEDGERS, now, dice })
      // Only infrastructure is ours to repeat; the workflow hears of everything else.
      const would = found.layer === 'infrastructure' || act !== 'retry' ? act : 'fail'
      const delay = would === 'retry' && at !== undefined ? { delayMs: Math.max(0, at - now) } : {}
      const requests = Math.max(1, watch.requests)
      this.tell('client.observed', { sdk: this.#sdk, operation, requests, would, ...delay, failure: found })
      throw thrown
    } finally {
      this.hidden(operation, watch.requests, 1)
      watch.end()
    }
  }

  async #take<Answer>(
    operation: string,
    id: string,
    take: number,
    signal: AbortSignal,
    send: (take: Take) => Promise<Answer>,
  ): Promise<Answer> {
    const stamp = `${id}.${take}`
    const watch = watchStamp(stamp)
    try {
      return await send({ take, stamp, signal })
    } finally {
      this.hidden(operation, watch.requests, 1)
      watch.end()
    }
  }

  #retryOptions(operation: string, { signal, handsOn }: OperationOptions, isRefused: () => boolean): RetryOptions {
    const { timeoutMs, rules, dice } = this.#options
    const attempt = ambientAttempt()
    const signals = [signal, attempt?.signal].filter((each) => each !== undefined)
    const deadline = attempt?.deadlineAt
    return {
      policy: this.#policy,
      clock: this.clock,
      ...(signals.length > 0 ? { signal: AbortSignal.any(signals) } : {}),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(deadline === undefined ? {} : { deadline }),
      ...(rules === undefined ? {} : { rules }),
      ...(dice === undefined ? {} : { dice }),
      onDecision: ({ attempt: take, at, failure: found, decision, error }) => {
        if (decision.act !== 'retry') return
        // The workflow's failures are the workflow's to decide, whatever the policy would allow.
        if (found.layer !== 'infrastructure' || isRefused() || handsOn?.(error)) throw error
        const delayMs = Math.max(0, (decision.at ?? at) - at)
        const { code } = found
        this.tell('client.repeated', { sdk: this.#sdk, operation, take, delayMs, code, failure: found })
      },
    }
  }

  #leaving(operation: string, thrown: unknown, takes: number, options: OperationOptions): unknown {
    const { refine, bare, handsOn } = options
    if (this.#told.has(thrown as object)) return thrown
    const known = historyOf(thrown).at(-1)?.failure ?? this.classify(thrown)
    if (handsOn?.(thrown)) return thrown
    this.#isTold(thrown)
    const found = refine ? refine(known) : known
    this.gaveUp(operation, takes, found)
    if (bare || failureOf(thrown)) return thrown
    const { kind, code, layer, message, advice, retryAfterMs, rule, facts } = found
    const left = failure({
      ...{ kind, code, layer, message, advice, cause: thrown },
      facts: { ...facts, sdk: this.#sdk, operation, takes, rule },
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
    this.#told.add(left)
    return left
  }

  /** True from the second time on that the same error comes by. */
  #isTold(thrown: unknown): boolean {
    if (typeof thrown !== 'object' || thrown === null) return false
    if (this.#told.has(thrown)) return true
    this.#told.add(thrown)
    return false
  }

  /** Time is up. That of the attempt is nobody's failure: the run is given back and goes on later. */
  #cut(thrown: unknown, endsAt: number | undefined): unknown {
    if (!isRepriseError(thrown) || thrown.code !== 'retry.deadline') return thrown
    const message = `${this.#sdk}: ${thrown.message}`
    const isOfAttempt = endsAt !== undefined && this.clock.now() >= endsAt
    return isOfAttempt
      ? failure({ kind: 'interrupted', code: 'deadline.short', message, cause: thrown })
      : failure({ kind: 'exhausted', code: 'deadline.passed', message, cause: thrown })
  }
}

function checkOptions(options: AdapterOptions, { sdk, options: own = [] }: AdapterDefaults): void {
  if (typeof options !== 'object' || options === null)
    throw new RangeError(`${sdk}: options are ${String(options)}; allowed are objects`)
  if (options.timeoutMs !== undefined) parseDuration(options.timeoutMs, `${sdk}.timeoutMs`)
  const allowed = [...OPTION_NAMES, ...own]
  for (const name of Object.keys(options)) {
    if (!allowed.includes(name))
      throw new RangeError(`${sdk}: ${name} is not an option; allowed are ${allowed.join(', ')}`)
  }
}

function completed(policy: Policy | PolicyInput | undefined, base: Policy): Policy {
  if (policy === undefined) return base
  return isPolicy(policy) ? policy : definePolicy(policy, base)
}
