/**
 * What lies on a desk: a run in review as a person sees it, with its question if it has one.
 * Read models only; nothing here writes.
 */
import type { Failure } from '../failure/failure.ts'
import { REVIEW } from '../policy/ladder.ts'
import { say } from '../policy/say.ts'
import type { Why } from '../policy/why.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { JournalEntry } from '../run/journal.ts'
import { type Question, rungsOf } from '../run/question.ts'
import { policyRungs } from './policy-rungs.ts'

export interface ReviewItem {
  readonly run: string
  readonly task: string
  readonly key?: string
  readonly generation: number
  readonly queue: string
  readonly title: string
  readonly reason: string
  /** When a person was asked, store time. */
  readonly since: number
  /** When the person is overdue. */
  readonly dueAt?: number
  readonly overdue: boolean
  /** Who has it in hand. */
  readonly taken?: { readonly by: string; readonly until: number }
  /** Changes with every question, round and generation: an answer to another one is stale. */
  readonly version: string
}

export interface ReviewDetail extends ReviewItem {
  /** Its name in the handler, and which round of it this is. Absent: nobody asked a question, the run as such was handed over. */
  readonly asked?: { readonly name: string; readonly round: number }
  readonly question?: Question
  readonly input: unknown
  readonly failure?: Failure
  readonly attempt: number
  /** Rungs that it may be sent back to. */
  readonly rungs: readonly string[]
}

/** The desk that a run in review lies on. */
export function queueOf(why: Why | undefined): string {
  if (why?.code === 'run.handed_over') return why.params.queue
  const to = (why?.params as { readonly to?: unknown } | undefined)?.to
  return typeof to === 'string' ? to : REVIEW
}

/** The question that a run in review waits for: the one that its last attempt ended with. */
export function openEntry(run: RunView, journal: readonly JournalEntry[]): JournalEntry | undefined {
  if (run.state !== 'review') return undefined
  return journal.find(
    ({ question, answer, token }) => question !== undefined && answer === undefined && token === run.endedBy,
  )
}

export const versionOf = ({ generation, endedBy = 0 }: RunView, entry: JournalEntry | undefined): string =>
  [generation, endedBy, ...(entry ? [entry.inputHash.slice(-8)] : [])].join('.')

export async function detailOf(
  store: Store,
  run: RunView,
  now: number,
): Promise<{ readonly item: ReviewDetail; readonly entry: JournalEntry | undefined }> {
  const journal = await store.journal(run.id, run.generation)
  const entry = openEntry(run, journal)
  const question = entry?.question === undefined ? undefined : (JSON.parse(entry.question) as Question)
  const { task, key, generation, dueAt, lease, failure, attempt } = run
  const since = entry?.intentAt ?? (await store.attempts(run.id)).at(-1)?.endedAt ?? run.submittedAt
  const item: ReviewDetail = {
    run: run.id,
    task,
    ...(key === undefined ? {} : { key }),
    ...{ generation, attempt, since, queue: queueOf(run.why) },
    title: question?.title ?? key ?? `${task} ${run.id}`,
    reason: question?.reason ?? reasonOf(run, now),
    ...(dueAt === undefined ? {} : { dueAt }),
    overdue: dueAt !== undefined && dueAt <= now,
    ...(lease && lease.until > now ? { taken: { by: lease.worker, until: lease.until } } : {}),
    version: versionOf(run, entry),
    ...(entry ? { asked: { name: entry.name, round: roundOf(entry, journal) } } : {}),
    ...(question ? { question } : {}),
    input: JSON.parse(run.input) as unknown,
    ...(failure ? { failure } : {}),
    rungs: question ? rungsOf(question) : (await policyRungs(store, run)).map(({ name }) => name),
  }
  return { item, entry }
}

const roundOf = ({ name }: JournalEntry, journal: readonly JournalEntry[]): number =>
  journal.filter((each) => each.question !== undefined && each.name === name).length

function reasonOf({ why, failure }: RunView, now: number): string {
  if (why?.code === 'run.handed_over') return why.params.reason
  return failure?.message ?? (why ? say(why, { now }) : 'No reason is stored.')
}
