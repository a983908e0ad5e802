/**
 * Writes the ends of attempts: those that come together go to the store in one call, if it takes many.
 * It knows nothing of what an end means; each one hears only what became of its own.
 */
import { isRepriseError, type RepriseError } from '../failure/reprise-error.ts'
import type { CommitAnswer, EndChange, Store } from '../ports/store.ts'

export type Outcome = Omit<CommitAnswer, 'now'>

interface PendingEnd {
  readonly change: EndChange
  readonly landed: (outcome: Outcome) => void
  readonly failed: (error: unknown) => void
}

export interface EndWriterOptions {
  readonly store: Store
  /** Learns the store's time. */
  readonly learn: (answer: CommitAnswer) => Outcome
  /** Asks again after an error until it is known what became of it. */
  readonly again: (change: EndChange, error: unknown) => Promise<Outcome>
}

export class EndWriter {
  readonly #options: EndWriterOptions
  #pending: PendingEnd[] = []

  constructor(options: EndWriterOptions) {
    this.#options = options
  }

  /** Calls one of the two, later. A call and not a promise: a worker writes as many ends as it executes runs. */
  write(change: EndChange, landed: PendingEnd['landed'], failed: PendingEnd['failed']): void {
    if (this.#pending.push({ change, landed, failed }) === 1) queueMicrotask(this.#flush)
  }

  readonly #flush = (): void => {
    const ends = this.#pending
    this.#pending = []
    const { store } = this.#options
    // Also for one alone: the store may put it together with what others ask of it in this turn.
    if (store.commitAll === undefined) {
      for (const end of ends) this.#writeOne(end)
      return
    }
    store.commitAll(ends.map(({ change }) => change)).then(
      (answers) => {
        for (const [index, answer] of answers.entries()) this.#answered(ends[index] as PendingEnd, answer)
      },
      (error: unknown) => {
        for (const end of ends) {
          if (isTrouble(error)) this.#askAgain(end, error)
          // One that the store does not understand must not take the others along.
          else this.#writeOne(end)
        }
      },
    )
  }

  #writeOne(end: PendingEnd): void {
    this.#options.store.commit(end.change).then(
      (answer) => this.#answered(end, answer),
      (error: unknown) => this.#askAgain(end, error),
    )
  }

  #answered({ landed }: PendingEnd, answer: CommitAnswer): void {
    landed(this.#options.learn(answer))
  }

  #askAgain({ change, landed, failed }: PendingEnd, error: unknown): void {
    this.#options.again(change, error).then(landed, failed)
  }
}

/** The store could not be asked, or did not say what became of it. */
export const isTrouble = (error: unknown): error is RepriseError =>
  isRepriseError(error) && error.code.startsWith('store.')
