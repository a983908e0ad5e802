/**
 * One transaction, and one fsync, for everything that is asked of the store in one turn of the event loop.
 * It knows transactions, locks and answers; what is written is the work's own affair.
 */
import { turn } from '../../time/clock.ts'
import type { SteadyTime } from '../../time/steady-time.ts'
import { nextTurn } from '../../time/turn.ts'
import { type Patience, patiently } from './patience.ts'
import type { Session, Tx } from './session.ts'
import { isConnectionSpent, isUnreachable, unavailable, unknownOutcome } from './trouble.ts'

/** The answer of a work that did one bounded step and wants to go on in the next transaction. */
export const AGAIN = Symbol('again')

/** A transaction of about this many rows takes a few milliseconds; what is beyond waits for the next turn, and others run between. */
const ROWS_MAX = 2_000

/** Two clocks are never read at quite the same moment; from here on it is a leap. Shorter than any lease. */
const LEAP_MIN_MS = 50

export interface Work<Answer = unknown> {
  /** About how many rows it writes. */
  readonly rows: number
  /** After it runs may be claimable that were not before. */
  readonly wakes: boolean
  /** May be executed more than once, on a transaction that was rolled back in between. */
  execute(tx: Tx): Answer | typeof AGAIN
  /** Neighbours that name the same set are executed by it at once. */
  readonly together?: WorkSet
}

/** Many works in few statements: answers in their order, or `undefined` when they must be executed one by one. */
export type WorkSet = (tx: Tx, works: readonly Work[]) => readonly unknown[] | undefined

interface Pending {
  readonly work: Work
  /** Its transaction failed once: now it gets a savepoint of its own, so that one bad work is refused alone. */
  alone: boolean
  /** Asked for by whom a hint told of the others' work in this transaction. */
  readonly hinted: boolean
  readonly resolve: (answer: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A work's own error, which the others of its transaction must not share. */
class Refused {
  readonly error: unknown

  constructor(error: unknown) {
    this.error = error
  }
}

export interface GroupCommitOptions extends Patience {
  readonly file: string
  readonly time: SteadyTime
  readonly ageingMs: number
  /** The open file; opened if need be. */
  readonly session: () => Session | Promise<Session>
  /** The connection is broken: the next transaction needs a new one. */
  readonly drop: () => void
  /** Called when runs are about to become claimable: who claims at once shares the transaction, and its fsync. */
  readonly waking: () => void
  /** Called after a commit that may have made runs claimable, when others had the time to look in vain since `waking`. */
  readonly woken: () => void
}

export class GroupCommit {
  readonly #options: GroupCommitOptions
  #queue: Pending[] = []
  /** True from the start of a transaction until the queue is empty; false again in the same turn, before anyone has an answer. */
  #busy = false
  #hinting = false
  #run: Promise<void> | undefined
  /** How far time leapt since the last transaction that was committed. */
  #leaptMs = 0

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  do<Answer>(work: Work<Answer>): Promise<Answer> {
    return new Promise<Answer>((resolve, reject) => {
      const hinted = this.#hinting
      this.#queue.push({ work, alone: false, hinted, resolve: resolve as (answer: unknown) => void, reject })
      if (this.#queue.length === 1 && !this.#busy) nextTurn(this.#start)
    })
  }

  /** Resolves when everything asked so far has been answered. */
  async drained(): Promise<void> {
    while (this.#queue.length > 0 || this.#busy) {
      await turn()
      await this.#run
    }
  }

  readonly #start = (): void => {
    if (!this.#busy && this.#queue.length > 0) this.#run = this.#empty()
  }

  async #empty(): Promise<void> {
    this.#busy = true
    while (this.#queue.length > 0) {
      const wakes = this.#hint()
      let session: Session
      let waited = false
      try {
        const opening = this.#options.session()
        waited = opening instanceof Promise
        session = opening instanceof Promise ? await opening : opening
        if (!tryBegin(session)) {
          waited = true
          await patiently(this.#options, () => begin(session))
        }
      } catch (error) {
        this.#failAll(this.#queue.splice(0), error)
        break
      }
      const landed = this.#transact(session, this.#take())
      if (landed && wakes && waited) this.#options.woken()
      if (this.#queue.length > 0) await turn()
    }
    this.#busy = false
  }

  /** Before the transaction, and with nothing between: what a listener asks for at once is in it, what it looks at later is written. */
  #hint(): boolean {
    if (!this.#queue.some(({ work }) => work.wakes)) return false
    this.#hinting = true
    this.#options.waking()
    this.#hinting = false
    return true
  }

  #take(): Pending[] {
    let rows = 0
    const over = this.#queue.findIndex(({ work }, index) => {
      rows += work.rows
      return rows > ROWS_MAX && index > 0
    })
    if (over === -1) return this.#queue.splice(0)
    return this.#queue.splice(0, over)
  }

  /** The transaction has begun. Afterwards it is over, and everyone has an answer or is in the queue again. Whether it was committed. */
  #transact(session: Session, group: readonly Pending[]): boolean {
    const { file, time, ageingMs } = this.#options
    const { statements, lanes } = session
    let answers: readonly unknown[] | undefined
    try {
      // Another process may have stamped a later time, if the clock was set back while this one slept.
      time.atLeast(statements.lastStamp.get()?.at ?? 0)
      const leaptMs = time.leaptMs()
      if (leaptMs >= LEAP_MIN_MS) this.#leaptMs += leaptMs
      const now = time.now()
      lanes.refresh()
      // Time that did not pass takes no lease away: its owner had no chance to renew it.
      if (this.#leaptMs > 0) statements.spareLeases.run(this.#leaptMs, now - this.#leaptMs, now)
      answers = executeAll(session, { statements, lanes, now, ageingMs }, group)
    } catch (error) {
      if (isUnreachable(error)) {
        this.#giveUp(session, group, error, unavailable(file, error))
        return false
      }
    }
    if (answers === undefined) {
      this.#oneByOne(session, group)
      return false
    }
    try {
      session.commit.run()
    } catch (error) {
      this.#giveUp(session, group, error, unknownOutcome(file, error))
      return false
    }
    this.#leaptMs = 0
    this.#answerAll(group, answers)
    return true
  }

  /** Savepoints cost, so works get them only after one of their transaction was refused. */
  #oneByOne(session: Session, group: readonly Pending[]): void {
    rollBack(session)
    for (const pending of group) pending.alone = true
    this.#queue.unshift(...group)
  }

  #answerAll(group: readonly Pending[], answers: readonly unknown[]): void {
    const again: Pending[] = []
    group.forEach((pending, index) => {
      const answer = answers[index]
      if (answer === AGAIN) again.push(pending)
      else if (answer instanceof Refused) pending.reject(answer.error)
      // Who was hinted hears of it after those it was hinted of: a run is told as submitted before it is told as started.
      else if (pending.hinted) nextTurn(() => pending.resolve(answer))
      else pending.resolve(answer)
    })
    if (again.length > 0) this.#queue.unshift(...again)
  }

  #giveUp(session: Session, group: readonly Pending[], cause: unknown, error: unknown): void {
    rollBack(session)
    if (isConnectionSpent(cause)) this.#options.drop()
    for (const { reject } of group) reject(error)
  }

  #failAll(group: readonly Pending[], cause: unknown): void {
    const error = isUnreachable(cause) ? unavailable(this.#options.file, cause) : cause
    for (const { reject } of group) reject(error)
  }
}

function begin({ writer, begin: statement }: Session): void {
  // A connection that was handed in may be in a transaction of the application: to us that is a lock like any other.
  if (writer.inTransaction)
    throw Object.assign(new Error('the application is in a transaction'), { code: 'SQLITE_BUSY' })
  statement.run()
}

/** The usual case, without a promise between the end of the turn and the transaction. */
function tryBegin(session: Session): boolean {
  try {
    begin(session)
    return true
  } catch {
    return false
  }
}

/** Answers in order; `undefined` when a set must be taken apart. Throws what the first refused work threw. */
function executeAll(session: Session, tx: Tx, group: readonly Pending[]): readonly unknown[] | undefined {
  const answers: unknown[] = []
  for (let index = 0; index < group.length; ) {
    const { work, alone } = group[index] as Pending
    const { together } = work
    if (alone || together === undefined) {
      answers.push(alone ? executeAlone(session, tx, work) : work.execute(tx))
      index += 1
      continue
    }
    const works: Work[] = []
    for (let next = group[index]; next?.work.together === together && !next.alone; next = group[index]) {
      works.push(next.work)
      index += 1
    }
    const ofSet = together(tx, works)
    if (ofSet === undefined) return undefined
    for (const answer of ofSet) answers.push(answer)
  }
  return answers
}

function executeAlone({ writer, lanes }: Session, tx: Tx, work: Work): unknown {
  writer.exec('SAVEPOINT reprise_work')
  try {
    const answer = work.execute(tx)
    writer.exec('RELEASE reprise_work')
    return answer
  } catch (error) {
    if (isUnreachable(error)) throw error
    writer.exec('ROLLBACK TO reprise_work; RELEASE reprise_work')
    lanes.forget()
    return new Refused(error)
  }
}

function rollBack({ writer, lanes, rollback }: Session): void {
  lanes.forget()
  try {
    // After some errors SQLite has rolled back by itself.
    if (writer.inTransaction) rollback.run()
  } catch {
    // The connection is beyond use, and it is dropped or the next BEGIN says so.
  }
}
