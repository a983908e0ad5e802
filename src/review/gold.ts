/**
 * What people decided, as gold cases: the input, what was answered wrongly, what is right, which check failed, who and when.
 * A read model over journals; only the last round of a question counts, because the gate refused those before it.
 */
import type { RunView, Store } from '../ports/store.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { AskedDocument, Issue, Question, Reply, RungAnswer } from '../run/question.ts'

export interface GoldCase {
  readonly run: string
  readonly task: string
  readonly key?: string
  readonly generation: number
  /** Name of the question in the handler; absent where none was asked. */
  readonly question?: string
  readonly title?: string
  readonly input: unknown
  readonly document?: AskedDocument
  readonly schema?: unknown
  /** The draft that was not right; absent when it was accepted, or there was none. */
  readonly wrong?: unknown
  /** What failed before the person was asked. */
  readonly checks: readonly Issue[]
  readonly answers: readonly RungAnswer[]
  /** Absent when it was rejected. */
  readonly right?: unknown
  readonly verdict: 'accepted' | 'corrected' | 'given' | 'rejected'
  /** Why it was rejected. */
  readonly reason?: string
  readonly by: string
  readonly at: number
}

export interface GoldFilter {
  readonly task?: string
  /** Decided at or after then, store time. */
  readonly since?: number
}

const PAGE = 500

export async function* goldCases(store: Store, { task, since = 0 }: GoldFilter): AsyncGenerator<GoldCase> {
  let cursor: string | undefined
  do {
    const tasks = task === undefined ? {} : { tasks: [task] }
    const page = await store.find({ ...tasks, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const run of page.runs) for (const gold of await casesOf(store, run)) if (gold.at >= since) yield gold
    cursor = page.cursor
  } while (cursor !== undefined)
}

async function casesOf(store: Store, run: RunView): Promise<GoldCase[]> {
  // A run that never suspended asked nobody; one that was begun again may have, before.
  if (run.suspensions === 0 && run.generation === 1 && run.why?.code !== 'review.answered') return []
  const cases: GoldCase[] = []
  for (let generation = 1; generation <= run.generation; generation += 1) {
    const journal = await store.journal(run.id, generation)
    for (const entry of lastRounds(journal)) cases.push(...caseOf(run, generation, entry))
  }
  const { why, output, failure } = run
  if (why?.code === 'review.answered' && why.params.how === 'given' && output !== undefined) {
    const last = (await store.attempts(run.id)).findLast(({ outcome }) => outcome === 'operator')
    const asked = (await store.attempts(run.id)).findLast((record) => record.failure)?.failure ?? failure
    const checks = asked ? [{ path: '', code: asked.code, message: asked.message }] : []
    const known = { ...nameOf(run), generation: run.generation, input: JSON.parse(run.input) as unknown }
    const right = JSON.parse(output) as unknown
    cases.push({ ...known, checks, answers: [], right, verdict: 'given', by: why.params.by, at: last?.endedAt ?? 0 })
  }
  return cases
}

function lastRounds(journal: readonly JournalEntry[]): JournalEntry[] {
  const asked = journal.filter(({ question }) => question !== undefined)
  return [...new Map(asked.map((entry) => [entry.name, entry])).values()]
}

const nameOf = ({ id, task, key }: RunView) => ({ run: id, task, ...(key === undefined ? {} : { key }) })

function caseOf(run: RunView, generation: number, { name, question: text, answer }: JournalEntry): GoldCase[] {
  if (text === undefined || answer === undefined) return []
  const reply = JSON.parse(answer) as Reply
  if (reply.act !== 'answer' && reply.act !== 'reject') return []
  const { title, document, schema, draft, issues = [], answers = [] } = JSON.parse(text) as Question
  const known = {
    ...nameOf(run),
    generation,
    question: name,
    title,
    input: JSON.parse(run.input) as unknown,
    ...(document ? { document } : {}),
    ...(schema === undefined ? {} : { schema }),
    checks: issues,
    answers,
    by: reply.by,
    at: reply.at,
  }
  const wrong = draft === undefined ? {} : { wrong: draft }
  if (reply.act === 'reject') return [{ ...known, ...wrong, verdict: 'rejected', reason: reply.reason }]
  const { value: right, how: verdict } = reply
  return [{ ...known, ...(verdict === 'accepted' ? {} : wrong), right, verdict }]
}
