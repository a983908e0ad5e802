/**
 * The engine's one way to the store: asks again while the store cannot be reached, and resolves outcomes that nobody knows.
 * It decides nothing about runs.
 */
import type {
  Change,
  Claim,
  ClaimRequest,
  CommitAnswer,
  EndChange,
  Links,
  Renewal,
  RenewRequest,
  Store,
} from '../ports/store.ts'
import type { Emit } from '../run/event.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { Clock } from '../time/clock.ts'
import type { Dice } from '../time/dice.ts'
import { EndWriter, isTrouble, type Outcome } from './end-writer.ts'
import type { StoreTime } from './store-time.ts'

/** First wait after a store did not answer, and the longest one: a repaired store is used again within ten seconds. */
const RETRY_FIRST_MS = 50
const RETRY_MAX_MS = 5_000

export interface StoreDoorOptions {
  readonly store: Store
  readonly clock: Clock
  readonly dice: Dice
  readonly time: StoreTime
  readonly emit: Emit
  readonly worker: string
  /** By hash: kept before the first claim, because an old decision must be computed with the policy of its day. */
  readonly policies: ReadonlyMap<string, string>
  /** Aborted when the worker gives up: waiting for the store ends. */
  readonly signal: AbortSignal
}

export class StoreDoor {
  readonly #options: StoreDoorOptions
  readonly #unkept: Map<string, string>
  readonly #ends: EndWriter
  #troubleSince: number | undefined

  constructor(options: StoreDoorOptions) {
    this.#options = options
    this.#unkept = new Map(options.policies)
    this.#ends = new EndWriter({
      store: options.store,
      learn: this.#learn,
      again: (change, error) => this.#commitAgain(change, error),
    })
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    for (const [hash, policy] of this.#unkept) {
      await this.#ask('keepPolicy', () => this.#options.store.keepPolicy(hash, policy))
      this.#unkept.delete(hash)
    }
    // The nonce makes a repeated claim answer with the runs of the first, so an unknown outcome is simply asked again.
    return this.#reach('claim', () => this.#options.store.claim(request))
  }

  renew(request: RenewRequest): Promise<Renewal> {
    return this.#reach('renew', () => this.#options.store.renew(request))
  }

  journal(run: string, generation: number): Promise<readonly JournalEntry[]> {
    return this.#ask('journal', () => this.#options.store.journal(run, generation))
  }

  links(run: string): Promise<Links> {
    return this.#ask('links', () => this.#options.store.links(run))
  }

  async commit(change: Change): Promise<CommitAnswer['answer']> {
    return (await this.commitWhole(change)).answer
  }

  /** With what the write did besides; unknown, and so left out, when only `endedBy` told that it had landed. */
  commitWhole(change: Change): Promise<Outcome> {
    return this.#options.store.commit(change).then(this.#learn, (error) => this.#commitAgain(change, error))
  }

  /** The end of an attempt. Calls one of the two, once it is known. */
  end(change: EndChange, landed: (outcome: Outcome) => void, failed: (error: unknown) => void): void {
    this.#ends.write(change, landed, failed)
  }

  readonly #learn = (committed: CommitAnswer): Outcome => {
    this.#options.time.learn(committed.now)
    return committed
  }

  /** A commit whose outcome is unknown may have landed: `endedBy` tells. Journal writes are idempotent and are repeated. */
  async #commitAgain(change: Change, error: unknown): Promise<Outcome> {
    let attempt = 0
    let thrown = error
    for (;;) {
      attempt += 1
      await this.#pause('commit', thrown, attempt)
      try {
        if (change.type === 'end' && (await this.#endedBy(change.run)) === change.token)
          return this.#recovered({ answer: 'ok' as const })
        const committed = await this.#options.store.commit(change)
        this.#options.time.learn(committed.now)
        return this.#recovered(committed)
      } catch (again) {
        thrown = again
      }
    }
  }

  async #endedBy(run: string): Promise<number | undefined> {
    return (await this.#options.store.get({ id: run }))?.endedBy
  }

  async #reach<Answer extends { readonly now: number }>(verb: string, ask: () => Promise<Answer>): Promise<Answer> {
    const answer = await this.#ask(verb, ask)
    this.#options.time.learn(answer.now)
    return answer
  }

  async #ask<Answer>(verb: string, ask: () => Promise<Answer>): Promise<Answer> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return this.#recovered(await ask())
      } catch (error) {
        await this.#pause(verb, error, attempt)
      }
    }
  }

  /** Waits before the next try; throws what is not the store's trouble, and everything once the worker gave up. */
  async #pause(verb: string, error: unknown, attempt: number): Promise<void> {
    const { clock, dice, emit, time, worker, signal } = this.#options
    if (!isTrouble(error) || signal.aborted) throw error
    this.#troubleSince ??= clock.monotonic()
    const capMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** Math.min(attempt - 1, 16))
    const retryInMs = Math.ceil(capMs / 2 + (dice() * capMs) / 2)
    emit({ name: 'store.trouble', at: time.now(), worker, verb, code: error.code, message: error.message, retryInMs })
    await clock.sleep(retryInMs, signal)
  }

  #recovered<Answer>(answer: Answer): Answer {
    if (this.#troubleSince === undefined) return answer
    const { clock, emit, time, worker } = this.#options
    emit({
      name: 'store.recovered',
      at: time.now(),
      worker,
      downMs: Math.round(clock.monotonic() - this.#troubleSince),
    })
    this.#troubleSince = undefined
    return answer
  }
}
