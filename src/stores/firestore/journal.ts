/**
 * The journal of the Firestore driver: intents, answers and receipts, one document each beside the flow.
 * A write of it always goes together with its run's document, so that only the owner's counts.
 */
import type { DocumentReference } from '@google-cloud/firestore'
import type { AnswerChange, IntentChange } from '../../ports/store.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { read } from './look.ts'
import { journalOf, named, type Place } from './place.ts'
import { type Row, splitId } from './row.ts'
import { readText, type Text } from './texts.ts'
import { readRef, type Unit } from './unit.ts'

interface Entry {
  readonly ref: DocumentReference
  /** Its place among the entries of its run. */
  readonly place: number
  readonly entry: JournalEntry | undefined
}

const refOf = (place: Place, row: Row, generation: number, name: string, inputHash: string): DocumentReference =>
  journalOf(place, row.doc.id).doc(`${row.step}-${generation}-${named(name, inputHash)}`)

async function find(
  unit: Unit,
  row: Row,
  { generation, name, inputHash }: { generation: number; name: string; inputHash: string },
): Promise<Entry> {
  const ref = refOf(unit.place, row, generation, name, inputHash)
  const snapshot = await readRef(unit.place, ref)
  const data = snapshot.data()
  if (!data) return { ref, place: row.entries ?? 0, entry: undefined }
  return { ref, place: Number(data['place']), entry: await decodeEntry(unit.place, row.doc.id, data) }
}

async function decodeEntry(place: Place, doc: string, data: Record<string, unknown>): Promise<JournalEntry> {
  const entry = JSON.parse(String(data['entry'])) as JournalEntry
  const answer = data['answer'] as Text | undefined
  const question = data['question'] as Text | undefined
  return {
    ...entry,
    ...(answer === undefined ? {} : { answer: await readText(place, doc, answer) }),
    ...(question === undefined ? {} : { question: await readText(place, doc, question) }),
  }
}

function keep(unit: Unit, row: Row, generation: number, { ref, place, entry: known }: Entry, next: JournalEntry): void {
  const { answer, question, ...rest } = next
  if (!known) row.entries = place + 1
  row.journaled = Math.max(row.journaled ?? 0, generation)
  unit.set(ref, {
    step: row.step,
    generation,
    place,
    entry: JSON.stringify(rest),
    ...(answer === undefined ? {} : { answer: unit.text(row.doc.id, 'answer', answer) }),
    ...(question === undefined ? {} : { question: unit.text(row.doc.id, 'question', question) }),
  })
}

/** An entry as it is, written with the end of an attempt. */
export async function keepEntry(unit: Unit, row: Row, entry: JournalEntry): Promise<void> {
  const { name, inputHash } = entry
  keep(unit, row, row.generation, await find(unit, row, { generation: row.generation, name, inputHash }), entry)
}

export async function intent(unit: Unit, row: Row, change: IntentChange): Promise<void> {
  const { name, inputHash, token, take } = change
  const found = await find(unit, row, change)
  const known = found.entry
  // The latest take is open again, so what the take before came to is no longer the entry's; a receipt is paid for and stays.
  const receipt =
    known?.late && known.answer !== undefined && known.answeredAt !== undefined
      ? { answer: known.answer, answeredAt: known.answeredAt, late: true }
      : {}
  keep(unit, row, change.generation, found, {
    ...{ name, inputHash, token, takes: take, intentAt: unit.now },
    ...receipt,
    ...(known?.costUsd === undefined ? {} : { costUsd: known.costUsd }),
    ...(known?.question === undefined ? {} : { question: known.question }),
  })
}

export async function answer(unit: Unit, row: Row, change: AnswerChange): Promise<void> {
  const { name, inputHash, token } = change
  const found = await find(unit, row, change)
  const known = found.entry
  // Asked again after an unknown outcome, the take is settled already and must not be charged twice.
  if (known && (known.failure || (known.answeredAt !== undefined && !known.late))) return
  const entry = known ?? { name, inputHash, token, takes: 1, intentAt: unit.now }
  const { late: _receipt, ...own } = entry
  // The owner's own answer takes the place of a receipt; its failure does not.
  settle(unit, row, found, change.failure ? entry : own, change)
}

/** A paid answer is kept whoever owns the run now; it never takes the place of the owner's own. */
export async function keepReceipt(unit: Unit, row: Row, change: AnswerChange): Promise<void> {
  const found = await find(unit, row, change)
  const known = found.entry
  if (!known || known.answer !== undefined || change.answer === undefined) return
  settle(unit, row, found, { ...known, late: true }, change)
}

function settle(unit: Unit, row: Row, found: Entry, entry: JournalEntry, change: AnswerChange): void {
  const { answer: text, failure, costUsd } = change
  row.costUsd = (row.costUsd ?? 0) + (costUsd ?? 0)
  keep(unit, row, change.generation, found, {
    ...entry,
    answeredAt: unit.now,
    ...(text === undefined ? {} : { answer: text }),
    ...(failure === undefined ? {} : { failure }),
    ...(costUsd === undefined ? {} : { costUsd: (entry.costUsd ?? 0) + costUsd }),
  })
}

/** The entries of one generation, or of all, in the order of their first intents. */
export async function readJournal(place: Place, run: string, generation?: number): Promise<JournalEntry[]> {
  const parts = splitId(run)
  if (!parts) return []
  const ofStep = journalOf(place, parts.doc).where('step', '==', parts.step)
  const page = await read(place, generation === undefined ? ofStep : ofStep.where('generation', '==', generation))
  const rows = page.docs.map((snapshot) => snapshot.data()).sort((a, b) => Number(a['place']) - Number(b['place']))
  return Promise.all(rows.map((data) => decodeEntry(place, parts.doc, data)))
}
