/**
 * The person's door: what lies on the desks, who has it in hand, and what they decided. The same for the command line and for HTTP.
 * It writes as a worker does, by lease and fenced end, so that no driver knows it exists; who may do what is decided outside.
 */
import { isRepriseError, RepriseError } from '../failure/reprise-error.ts'
import type { CommitAnswer, EndChange, RunView, Store } from '../ports/store.ts'
import { applyReview, type Verdict } from '../run/apply-review.ts'
import type { Emit } from '../run/event.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { Issue } from '../run/question.ts'
import { type GoldCase, type GoldFilter, goldCases } from './gold.ts'
import { detailOf, queueOf, type ReviewDetail, type ReviewItem } from './item.ts'
import { changed, type Loss, lossOf } from './loss.ts'
import { policyRungs } from './policy-rungs.ts'
import { tellEnd, tellTaken, tellVerdict } from './tell.ts'
import { type Judge, type ReviewAct, verdictOf } from './verdict.ts'

/** Long enough to read a document, short enough that an item comes back before its desk misses it. */
const LEASE_MS = 15 * 60_000

/** Runs looked at for one list; on a desk with more, what is shown is still the most urgent of so many. */
const LOOKED_MAX = 10_000
const PAGE = 500

const BY_MAX_CHARS = 200

export interface ReviewsOptions {
  readonly store: Store
  readonly judge: Judge
  /** JSON Schema of a task's output, for runs that were handed over without a question. @default any JSON */
  readonly schemaOf?: (task: string) => unknown
  readonly emit?: Emit
  /** How long a person keeps what they took. @default 15 minutes */
  readonly leaseMs?: number
  /** Of the times in sentences. @default 'UTC' */
  readonly zone?: string
}

export interface ReviewList {
  readonly now: number
  /** The most urgent first: by the time they are due, then by age. */
  readonly items: readonly ReviewItem[]
  /** On these desks in all. */
  readonly total: number
  readonly overdue: number
}

/** An item in a person's hands. */
export interface Hand {
  readonly run: string
  readonly by: string
  readonly token: number
  readonly version: string
  readonly takenAt: number
  readonly until: number
}

export type TakenReview = { readonly answer: 'ok'; readonly hand: Hand; readonly item: ReviewDetail } | Loss

export type Answered =
  | { readonly answer: 'ok'; readonly now: number; readonly item: ReviewDetail; readonly verdict: Verdict }
  /** The schema says no: it stays in the person's hands, and nothing was written. */
  | { readonly answer: 'refused'; readonly issues: readonly Issue[]; readonly item: ReviewDetail }
  | Loss

export interface Reviews {
  list(options?: { readonly queue?: string; readonly limit?: number }): Promise<ReviewList>
  /** `undefined` when the run is not there or not in review. */
  show(run: string): Promise<ReviewDetail | undefined>
  /** With a `version`, only if it is still the item that was looked at. Who has it already takes it again. */
  take(run: string, options: { readonly by: string; readonly version?: string }): Promise<TakenReview>
  renew(hand: Hand): Promise<'ok' | 'lost'>
  giveBack(hand: Hand): Promise<void>
  answer(hand: Hand, act: ReviewAct): Promise<Answered>
  /** What people decided, as cases to test prompts and models with; newest runs first. */
  export(filter?: GoldFilter): AsyncGenerator<GoldCase>
}

export function createReviews(options: ReviewsOptions): Reviews {
  const { store, judge, schemaOf = () => undefined, emit = () => {}, leaseMs = LEASE_MS, zone = 'UTC' } = options

  async function list({ queue, limit = 50 }: { queue?: string; limit?: number } = {}): Promise<ReviewList> {
    const { now, runs } = await inReview(store)
    const mine = runs.filter(({ why }) => queue === undefined || queueOf(why) === queue).sort(byUrgency)
    const shown = await Promise.all(mine.slice(0, limit).map((run) => detailOf(store, run, now)))
    const overdue = mine.filter(({ dueAt }) => dueAt !== undefined && dueAt <= now).length
    return { now, items: shown.map(({ item }) => itemOnly(item)), total: mine.length, overdue }
  }

  /** The item as it is now, if the run is in review. */
  async function look(run: string): Promise<(Awaited<ReturnType<typeof detailOf>> & { view: RunView }) | undefined> {
    const view = await store.get({ id: run })
    if (view?.state !== 'review') return undefined
    const { now } = await store.find({ limit: 1 })
    return { view, ...(await detailOf(store, view, now)) }
  }

  async function take(run: string, { by, version }: { by: string; version?: string }): Promise<TakenReview> {
    checkBy(by)
    const view = await store.get({ id: run })
    if (view?.state !== 'review') return lossOf(store, run, by, zone)
    const taken = await store.take({ run, by, leaseMs, expect: { generation: view.generation } })
    if (taken.answer === 'lost') return lossOf(store, run, by, zone)
    const { token, now } = taken
    // Only now is it sure not to change: what was read before the lease may be of another round.
    const found = await look(run)
    const hand = { run, by, token, version: found?.item.version ?? '', takenAt: now, until: now + leaseMs }
    if (!found || (version !== undefined && version !== found.item.version)) {
      await giveBack(hand)
      return changed()
    }
    tellTaken(emit, found.item, by, hand.until, now)
    return { answer: 'ok', hand, item: found.item }
  }

  async function giveBack({ run, by, token }: Hand): Promise<void> {
    const { lost } = await store.renew({ worker: by, leaseMs: 0, leases: [{ run, token }] })
    if (lost.length === 0) await store.note({ run, by, what: 'review.given_back', data: { token } })
  }

  async function answer(hand: Hand, act: ReviewAct): Promise<Answered> {
    const { run, by, token, version } = hand
    const found = await look(run)
    if (!found) return lossOf(store, run, by, zone)
    const { view, item, entry } = found
    if (item.version !== version) return changed()
    const ladder = entry ? [] : await policyRungs(store, view)
    const judged = await verdictOf(item, act, { judge, schema: schemaOf(item.task), ladder })
    if ('issues' in judged) return { answer: 'refused', issues: judged.issues, item }
    const { verdict } = judged
    const { now } = await store.find({ limit: 1 })
    const applied = applyReview(view, { by, token, takenAt: hand.takenAt, now }, verdict, entry)
    const note = noteOf(by, verdict, entry)
    const committed = await commitSurely(store, { type: 'end', run, token, ...applied, note })
    if (committed.answer === 'lost') return lossOf(store, run, by, zone)
    tellVerdict(emit, item, by, verdict, now)
    if (!entry) tellEnd(emit, view, applied, committed, by)
    return { answer: 'ok', now, item, verdict }
  }

  return {
    list,
    show: async (run) => (await look(run))?.item,
    take,
    renew: async ({ run, by, token }) => {
      const { lost } = await store.renew({ worker: by, leaseMs, leases: [{ run, token }] })
      return lost.length === 0 ? 'ok' : 'lost'
    },
    giveBack,
    answer,
    export: (filter = {}) => goldCases(store, filter),
  }
}

/** After an unknown outcome the end may have landed, and the run may have gone on since: its row of history tells. */
async function commitSurely(store: Store, change: EndChange): Promise<CommitAnswer> {
  try {
    return await store.commit(change)
  } catch (error) {
    if (!isRepriseError(error) || error.code !== 'store.unknown') throw error
    const hasLanded = (await store.attempts(change.run)).some(({ token }) => token === change.token)
    const { now } = await store.find({ limit: 1 })
    return hasLanded ? { now, answer: 'ok' } : store.commit(change)
  }
}

async function inReview(store: Store): Promise<{ readonly now: number; readonly runs: RunView[] }> {
  const runs: RunView[] = []
  let cursor: string | undefined
  let now = 0
  do {
    const page = await store.find({ states: ['review'], limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    runs.push(...page.runs)
    cursor = page.cursor
    now = page.now
  } while (cursor !== undefined && runs.length < LOOKED_MAX)
  return { now, runs: runs.reverse() }
}

/** What is never due lies below what is. */
const byUrgency = (a: RunView, b: RunView): number =>
  (a.dueAt ?? Number.MAX_SAFE_INTEGER) - (b.dueAt ?? Number.MAX_SAFE_INTEGER) || a.submittedAt - b.submittedAt

function itemOnly(detail: ReviewDetail): ReviewItem {
  const { asked: _asked, question: _question, input: _input, failure: _failure, ...rest } = detail
  const { attempt: _attempt, rungs: _rungs, ...item } = rest
  return item
}

/** The act in the audit, in the same write as its effect. */
function noteOf(by: string, verdict: Verdict, entry: JournalEntry | undefined): NonNullable<EndChange['note']> {
  const question = entry ? { question: entry.name } : {}
  switch (verdict.act) {
    case 'answer':
      return { by, what: 'review.answered', data: { ...question, how: entry ? verdict.how : 'given' } }
    case 'back': {
      const { to, hint } = verdict
      const told = { ...(to === undefined ? {} : { to }), ...(hint === undefined ? {} : { hint }) }
      return { by, what: 'review.sent_back', data: { ...question, ...told } }
    }
    case 'reject':
      return { by, what: 'review.rejected', data: { ...question, reason: verdict.reason } }
  }
}

function checkBy(by: unknown): void {
  if (typeof by === 'string' && by.trim() !== '' && by.length <= BY_MAX_CHARS) return
  throw new RepriseError(
    'review.by',
    `by is ${JSON.stringify(by)}. Allowed: the name of a person, up to ${BY_MAX_CHARS} characters.`,
  )
}
