/**
 * The journal's answers: settled once, whoever asks again; kept as a receipt when their owner is no longer one.
 * It does not know who may write; the caller has looked at the lease.
 */
import type { AnswerChange } from '../../ports/store.ts'
import type { JournalEntry } from '../../run/journal.ts'
import type { JournalRow } from './row.ts'
import { jsonOrNull, numberOf, readMore, writeMore } from './row.ts'
import type { Tx } from './session.ts'

/** The present owner's answer. */
export function answer(tx: Tx, change: AnswerChange): void {
  const known = find(tx, change)
  // Asked again after an unknown outcome, the take is settled already and must not be charged twice.
  if (known && (known.failure !== null || (known.answered_at !== null && known.late === null))) return
  if (!known) {
    const { name, inputHash, token } = change
    keepEntry(tx, numberOf(change.run), change.generation, { name, inputHash, token, takes: 1, intentAt: tx.now })
  }
  // The owner's own answer takes the place of a receipt; its failure does not.
  settle(tx, change, known, change.failure && known?.late ? known.late : null)
}

/** A paid answer is kept whoever owns the run now; it never takes the place of the owner's own. */
export function keepReceipt(tx: Tx, change: AnswerChange): void {
  const known = find(tx, change)
  if (known && known.answer === null && change.answer !== undefined) settle(tx, change, known, 1)
}

export function keepEntry({ statements }: Tx, run: number, generation: number, entry: JournalEntry): void {
  const { name, inputHash, token, takes, intentAt, answeredAt, late, costUsd, failure, answer, question } = entry
  statements.putEntry.run(
    run,
    generation,
    name,
    inputHash,
    token,
    takes,
    intentAt,
    answeredAt ?? null,
    late === undefined ? null : Number(late),
    costUsd ?? null,
    jsonOrNull(failure),
    answer ?? null,
    question ?? null,
  )
}

function find({ statements }: Tx, { run, generation, name, inputHash }: AnswerChange): JournalRow | undefined {
  return statements.entry.get(numberOf(run), generation, name, inputHash)
}

function settle(
  { statements, now }: Tx,
  change: AnswerChange,
  known: JournalRow | undefined,
  late: number | null,
): void {
  const { generation, name, inputHash, costUsd } = change
  const run = numberOf(change.run)
  const cost = costUsd === undefined ? (known?.cost_usd ?? null) : (known?.cost_usd ?? 0) + costUsd
  const text = change.answer ?? known?.answer ?? null
  const failure = change.failure === undefined ? (known?.failure ?? null) : JSON.stringify(change.failure)
  statements.settle.run(now, late, cost, failure, text, run, generation, name, inputHash)
  if (costUsd === undefined) return
  const more = readMore(statements.moreOf.get(run)?.more ?? null)
  statements.setMore.run(writeMore({ ...more, costUsd: (more.costUsd ?? 0) + costUsd }), run)
}
