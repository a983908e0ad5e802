/**
 * One write of the Firestore driver: documents are read, changed as rows, and written together with a precondition on each,
 * so that all of it is there or nothing. No transaction ever reads a flow document; who comes second reads again.
 */
import type { DocumentReference, DocumentSnapshot, Timestamp } from '@google-cloud/firestore'
import type { Note } from '../../ports/store.ts'
import type { AttemptRecord } from '../../run/run.ts'
import { systemClock } from '../../time/clock.ts'
import { randomId, systemDice } from '../../time/dice.ts'
import type { Healed } from './bring-forward.ts'
import { changesOf, decode, encodeNew } from './document.ts'
import { attemptsOf, leaseRef, notesOf, type Place } from './place.ts'
import { type Doc, type Row, splitId } from './row.ts'
import { type Text, writeText } from './texts.ts'
import { contended, isConflict, isMissingIndex, unavailable, unwritten } from './trouble.ts'
import { settleTurns, type Turn } from './turns.ts'

/** One end may meet the ends of many siblings or children of one document. */
const TRIES_MAX = 40
const WAIT_MS = 25
const WAIT_MAX_MS = 500
/** Firestore's own limit is 1 MiB; what is estimated here leaves room for what is counted otherwise. */
const DOCUMENT_MAX_BYTES = 900_000

/** What a batch and a transaction have in common. */
interface Writer {
  create(ref: DocumentReference, data: Record<string, unknown>): unknown
  set(ref: DocumentReference, data: Record<string, unknown>): unknown
  update(ref: DocumentReference, field: string, value: unknown, ...more: unknown[]): unknown
  delete(ref: DocumentReference): unknown
}

type Change =
  | { readonly verb: 'set' | 'create'; readonly ref: DocumentReference; readonly data: Record<string, unknown> }
  | { readonly verb: 'delete'; readonly ref: DocumentReference }
  | {
      readonly verb: 'replace'
      readonly ref: DocumentReference
      readonly data: Record<string, unknown>
      readonly since: Timestamp | undefined
    }

export class Unit {
  readonly place: Place
  readonly now: number
  /** Tells this write from every other: after a lost answer the document says whether it was applied. */
  readonly op: string
  /** The change that this unit was made for came too late: what is written is only told of that. */
  isRefused = false
  /** What answers again by this write: those that wait for it follow. */
  readonly healed: Healed[] = []
  /** The lines of concurrency keys that this write reads or changes, by their names. */
  readonly turns = new Map<string, Turn>()
  readonly #docs = new Map<string, Doc | undefined>()
  readonly #touched = new Set<Doc>()
  readonly #changes: Change[] = []

  constructor(place: Place, now: number, op: string = randomId(8)) {
    this.place = place
    this.now = now
    this.op = op
  }

  /** A document that was read before this unit began, as a page of a query. */
  adopt(doc: Doc): void {
    this.#docs.set(doc.id, doc)
  }

  add(doc: Doc): void {
    this.#docs.set(doc.id, doc)
  }

  async doc(id: string): Promise<Doc | undefined> {
    if (!this.#docs.has(id)) this.#docs.set(id, await readDoc(this.place, id))
    return this.#docs.get(id)
  }

  async docs(ids: readonly string[]): Promise<void> {
    const missing = [...new Set(ids)].filter((id) => !this.#docs.has(id))
    const read = await readDocs(this.place, missing)
    for (const [index, id] of missing.entries()) this.#docs.set(id, read[index])
  }

  async row(run: string): Promise<Row | undefined> {
    const parts = splitId(run)
    const row = parts && (await this.doc(parts.doc))?.rows.get(parts.step)
    return row?.id === run ? row : undefined
  }

  /** Of all the documents that were read so far. */
  rows(): Row[] {
    return [...this.#docs.values()].flatMap((doc) => [...(doc?.rows.values() ?? [])])
  }

  read(ref: DocumentReference): Promise<DocumentSnapshot> {
    return readRef(this.place, ref)
  }

  /** Written even if nothing of it changes, so that the write holds only if the document is as it was read. */
  touch(row: Row): void {
    this.#touched.add(row.doc)
  }

  set(ref: DocumentReference, data: Record<string, unknown>): void {
    this.#changes.push({ verb: 'set', ref, data })
  }

  create(ref: DocumentReference, data: Record<string, unknown>): void {
    this.#changes.push({ verb: 'create', ref, data })
  }

  delete(ref: DocumentReference): void {
    this.#changes.push({ verb: 'delete', ref })
  }

  /** Written only if it is as it was read: `undefined` for not there. */
  replace(ref: DocumentReference, data: Record<string, unknown>, since: Timestamp | undefined): void {
    this.#changes.push({ verb: 'replace', ref, data, since })
  }

  text(doc: string, field: string, text: string): Text {
    const written = writeText(field, text)
    for (const [id, part] of written.bodies)
      this.set(this.place.runs.doc(doc).collection('bodies').doc(id), { text: part })
    return written.text
  }

  record(row: Row, attempt: AttemptRecord): void {
    const place = row.history ?? 0
    row.history = place + 1
    this.set(attemptsOf(this.place, row.doc.id).doc(`${row.step}-${String(place).padStart(6, '0')}`), {
      step: row.step,
      place,
      row: JSON.stringify(attempt),
    })
  }

  note({ run, by, what, data }: Note): void {
    const order = this.place.numbers.id('n', this.now)
    this.set(notesOf(this.place).doc(order), {
      order,
      by,
      what,
      at: this.now,
      ...(run === undefined ? {} : { run }),
      ...(data === undefined ? {} : { data: JSON.stringify(data) }),
    })
  }

  /**
   * Takes a lease away that is not the taker's own. Its owner may be renewing it beside the flow document at this moment:
   * one of the two comes second.
   */
  async revoke(row: Row): Promise<void> {
    if (!row.lease) return
    const known = await readRef(this.place, leaseRef(this.place, row.doc.id, row.step))
    this.replace(known.ref, { token: 0, until: 0 }, known.updateTime)
  }

  get isEmpty(): boolean {
    return this.#changes.length === 0 && [...this.#docs.values()].every((doc) => !doc || !this.#differs(doc))
  }

  #differs(doc: Doc): boolean {
    return !doc.updateTime || this.#touched.has(doc) || changesOf(doc).length > 0
  }

  write(writer: Writer): void {
    const { runs, sdk } = this.place
    for (const doc of this.#docs.values()) {
      if (!doc || !this.#differs(doc)) continue
      if (!doc.updateTime) {
        const data = { ...encodeNew(doc), op: this.op }
        checkSize(doc.id, data)
        writer.create(runs.doc(doc.id), data)
        continue
      }
      const changes = changesOf(doc)
      checkSize(doc.id, [doc.raw, changes])
      const pairs = changes.flatMap(([path, value]) => [
        new sdk.FieldPath(...path),
        value === undefined ? sdk.FieldValue.delete() : value,
      ])
      writer.update(runs.doc(doc.id), 'op', this.op, ...pairs, { lastUpdateTime: doc.updateTime })
    }
    for (const change of this.#changes) {
      if (change.verb === 'delete') writer.delete(change.ref)
      else if (change.verb === 'create' || (change.verb === 'replace' && !change.since))
        writer.create(change.ref, change.data)
      else if (change.verb === 'replace' && change.since)
        writer.update(change.ref, ...pairsOf(change.data), { lastUpdateTime: change.since })
      else writer.set(change.ref, change.data)
    }
  }

  async commit(): Promise<void> {
    await settleTurns(this)
    if (this.isEmpty) return
    const batch = this.place.db.batch()
    this.write(batch)
    const [result] = await batch.commit()
    this.place.time.saw(result?.writeTime)
  }

  /** Whether a write whose answer was lost, or that met itself, was applied after all. */
  async wasApplied(): Promise<boolean> {
    const first = [...this.#docs.values()].find((doc) => doc && this.#differs(doc))
    if (!first) return false
    const known = await readDoc(this.place, first.id)
    return known?.raw['op'] === this.op
  }
}

function pairsOf(data: Readonly<Record<string, unknown>>): [string, unknown, ...unknown[]] {
  return Object.entries(data).flat() as [string, unknown, ...unknown[]]
}

function checkSize(id: string, data: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(data))
  if (bytes <= DOCUMENT_MAX_BYTES) return
  throw new RangeError(
    `document ${id}: ${bytes} bytes; Firestore takes 1 MiB: submit fewer steps, shorter texts or smaller joins in one flow`,
  )
}

/** Does a verb as often as somebody else wrote in between; every time it reads again what it decides by. */
export async function atomically<Answer>(
  place: Place,
  verb: (unit: Unit) => Promise<Answer>,
  write: (unit: Unit) => Promise<void> = (unit) => unit.commit(),
): Promise<Answer> {
  const op = randomId(8)
  let last: unknown
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const unit = new Unit(place, await nowOf(place), op)
    const answer = await verb(unit)
    try {
      await write(unit)
      return answer
    } catch (error) {
      if (!isConflict(error) || isMissingIndex(error)) throw unwritten(error)
      if (await unit.wasApplied()) return answer
      last = error
    }
    await systemClock.sleep(Math.ceil(systemDice() * Math.min(WAIT_MAX_MS, WAIT_MS * (tries + 1))))
  }
  throw contended(last)
}

/** The store's time; before the first answer a read asks for it. */
export async function nowOf(place: Place): Promise<number> {
  if (place.time.now === undefined) await readRef(place, place.system)
  return place.time.now ?? 0
}

export async function readRef(place: Place, ref: DocumentReference): Promise<DocumentSnapshot> {
  try {
    const snapshot = await ref.get()
    place.time.saw(snapshot.readTime)
    return snapshot
  } catch (error) {
    throw unavailable(error)
  }
}

export async function readDoc(place: Place, id: string): Promise<Doc | undefined> {
  const snapshot = await readRef(place, place.runs.doc(id))
  return docOf(place, snapshot)
}

export async function readDocs(place: Place, ids: readonly string[]): Promise<(Doc | undefined)[]> {
  const snapshots = await readAll(
    place,
    ids.map((id) => place.runs.doc(id)),
  )
  return snapshots.map((snapshot) => docOf(place, snapshot))
}

export async function readAll(place: Place, refs: readonly DocumentReference[]): Promise<DocumentSnapshot[]> {
  if (refs.length === 0) return []
  try {
    const snapshots = await place.db.getAll(...refs)
    place.time.saw(snapshots[0]?.readTime)
    return snapshots
  } catch (error) {
    throw unavailable(error)
  }
}

export function docOf(place: Place, snapshot: DocumentSnapshot): Doc | undefined {
  const data = snapshot.data()
  return data && decode(snapshot, data, place.foreignTtlMs)
}
