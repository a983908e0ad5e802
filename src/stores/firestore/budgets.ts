/**
 * Budgets of the Firestore driver: one document per budget and window, changed by transactions that also write the intent or the answer.
 * What fits and what an end means is `run/budget.ts`'s affair; here it is kept.
 */
import type { DocumentReference, Transaction } from '@google-cloud/firestore'
import type { BudgetOrder, Budgets, SetLimits } from '../../ports/budget.ts'
import type { AnswerChange, CommitAnswer, Committed, IntentChange } from '../../ports/store.ts'
import {
  admit,
  type BudgetDefinition,
  checkReserves,
  expired,
  inForce,
  NO_TALLY,
  overshotBy,
  placesOf,
  placesOfSpend,
  RUN_BUDGET,
  type Settled,
  type Spend,
  settled,
  spendOf,
  type Tally,
  type Place as Window,
} from '../../run/budget.ts'
import { budgetView } from '../../run/budget-view.ts'
import { read } from './look.ts'
import { budgetsOf, named, type Place, spendsOf, windowsOf } from './place.ts'
import { atomically, nowOf, readAll } from './unit.ts'

interface Kept {
  readonly defined?: BudgetDefinition
  readonly set?: SetLimits
}

/** Readable where the names allow it: `pro:day:2026-11-15`. */
const windowRef = (place: Place, { budget, window, key }: Pick<Window, 'budget' | 'window' | 'key'>) =>
  windowsOf(place).doc(encodeURIComponent(`${budget}:${window}:${key}`))

const budgetRef = (place: Place, budget: string): DocumentReference => budgetsOf(place).doc(named(budget))

const callOf = (change: IntentChange | (AnswerChange & { readonly take: number })): string => {
  const { run, generation, name, inputHash, take, token } = change
  return named(run, String(generation), name, inputHash, String(take), String(token))
}

const keptOf = (text: unknown): Kept => (typeof text === 'string' ? (JSON.parse(text) as Kept) : {})

/** The tallies that one transaction reads and writes, each once. */
class Tallies {
  readonly #place: Place
  readonly #tx: Transaction
  readonly #known = new Map<string, { readonly ref: DocumentReference; window: Omit<Window, 'endsAt'>; tally: Tally }>()
  readonly #ends = new Map<string, number>()
  readonly #changed = new Set<string>()

  constructor(place: Place, tx: Transaction) {
    this.#place = place
    this.#tx = tx
  }

  async read(window: Omit<Window, 'endsAt'> & { readonly endsAt?: number }): Promise<Tally> {
    const ref = windowRef(this.#place, window)
    const known = this.#known.get(ref.id)
    if (known) return known.tally
    const snapshot = await this.#tx.get(ref)
    const tally = snapshot.exists ? (JSON.parse(String(snapshot.get('tally'))) as Tally) : NO_TALLY
    this.#known.set(ref.id, { ref, window, tally })
    if (window.endsAt !== undefined) this.#ends.set(ref.id, window.endsAt)
    return tally
  }

  change(window: Omit<Window, 'endsAt'>, tally: Tally): void {
    const { id } = windowRef(this.#place, window)
    const known = this.#known.get(id)
    if (!known) return
    known.tally = tally
    this.#changed.add(id)
  }

  write(): void {
    for (const id of this.#changed) {
      const known = this.#known.get(id)
      if (!known) continue
      const { budget, window, key } = known.window
      const endsAt = this.#ends.get(id)
      const data = {
        budget,
        window,
        key,
        tally: JSON.stringify(known.tally),
        ...(endsAt === undefined ? {} : { endsAt }),
      }
      this.#tx.set(known.ref, data, { merge: true })
    }
  }
}

export interface Reserved extends Pick<CommitAnswer, 'over' | 'warned'> {
  readonly write: () => void
}

/** Takes all of an intent's reservations, or none and says which limit is in the way. Reads only; `write` writes. */
export async function reserveAll(place: Place, tx: Transaction, change: IntentChange, now: number): Promise<Reserved> {
  const { reserve = [] } = change
  checkReserves(reserve)
  const call = callOf(change)
  const spends = reserve.map(({ budget }) => spendsOf(place).doc(named(call, budget)))
  const definitions = reserve.map(({ budget }) => budgetRef(place, budget))
  const snapshots = await tx.getAll(...spends, ...definitions)
  // Asked again after an unknown outcome: it is taken already.
  if (snapshots.slice(0, spends.length).some(({ exists }) => exists)) return { write: () => {} }
  const tallies = new Tallies(place, tx)
  const over = await expireAll(
    place,
    tx,
    tallies,
    reserve.map(({ budget }) => budget),
    now,
  )
  const writes: (() => void)[] = [over]
  const warned: NonNullable<CommitAnswer['warned']>[number][] = []
  for (const [index, each] of reserve.entries()) {
    const kept = keptOf(snapshots[spends.length + index]?.get('kept'))
    const windows = placesOf(each, change.run, now)
    const counted: { place: Window; tally: Tally }[] = []
    for (const window of windows) counted.push({ place: window, tally: await tallies.read(window) })
    const answer = admit(each, inForce(each.limits, kept.set?.limits), counted)
    if ('over' in answer) return { over: answer.over, write: () => {} }
    for (const { place: window, tally } of answer.counted) tallies.change(window, tally)
    warned.push(...answer.warned)
    const endsAt = windows.at(-1)?.endsAt
    const spend = spendOf(each, windows, now)
    writes.push(() => {
      tx.set(spends[index] as DocumentReference, { call, run: change.run, ...spend, ...(endsAt ? { endsAt } : {}) })
      const { budget, zone, limits, onExhausted, warnAt } = each
      const next: Kept = { ...kept, defined: { zone, limits, onExhausted, warnAt } }
      if (budget !== RUN_BUDGET && JSON.stringify(next) !== JSON.stringify(kept))
        tx.set(definitions[index] as DocumentReference, { budget, kept: JSON.stringify(next) })
    })
  }
  return {
    ...(warned.length > 0 ? { warned } : {}),
    write: () => {
      for (const write of writes) write()
      tallies.write()
    },
  }
}

/** Reservations past their time are spent, with their worst case. */
async function expireAll(
  place: Place,
  tx: Transaction,
  tallies: Tallies,
  budgets: readonly string[],
  now: number,
): Promise<() => void> {
  const writes: (() => void)[] = []
  for (const budget of new Set(budgets)) {
    const past = spendsOf(place)
      .where('budget', '==', budget)
      .where('state', '==', 'reserved')
      .where('until', '<=', now)
    const page = await tx.get(past)
    for (const snapshot of page.docs) {
      const end = expired(snapshot.data() as Spend, now)
      if (end) writes.push(await keep(tx, tallies, snapshot.ref, snapshot.data() as Spend & { run: string }, end))
    }
  }
  return () => {
    for (const write of writes) write()
  }
}

async function keep(
  tx: Transaction,
  tallies: Tallies,
  ref: DocumentReference,
  before: Spend & { readonly run: string },
  { spend, change }: Settled,
): Promise<() => void> {
  for (const window of placesOfSpend(before, before.run)) tallies.change(window, change(await tallies.read(window)))
  const { state, nano } = spend
  return () => tx.update(ref, { state, nano })
}

export interface Settlement extends Pick<CommitAnswer, 'overshot'> {
  readonly write: () => void
}

/** The end of the reservations of one take, whoever owns the run now. */
export async function settleAll(place: Place, tx: Transaction, change: AnswerChange, now: number): Promise<Settlement> {
  const { settle, take, costUsd } = change
  if (settle === undefined || take === undefined) return { write: () => {} }
  const page = await tx.get(spendsOf(place).where('call', '==', callOf({ ...change, take })))
  const tallies = new Tallies(place, tx)
  const overshot: NonNullable<CommitAnswer['overshot']>[number][] = []
  const writes: (() => void)[] = []
  for (const snapshot of page.docs) {
    const spend = snapshot.data() as Spend & { run: string }
    const end = settled(spend, { settle, ...(costUsd === undefined ? {} : { costUsd }) }, now)
    if (!end) continue
    writes.push(await keep(tx, tallies, snapshot.ref, spend, end))
    if (end.overshoot) overshot.push(end.overshoot)
  }
  return {
    ...overshotBy(overshot),
    write: () => {
      for (const write of writes) write()
      tallies.write()
    },
  }
}

export function setBudget(place: Place, { budget, limits, by }: BudgetOrder): Promise<Committed> {
  return atomically(place, async (unit): Promise<Committed> => {
    const ref = budgetRef(place, budget)
    const [known] = await readAll(place, [ref])
    const { set: _before, ...kept } = keptOf(known?.get('kept'))
    const next: Kept = limits === undefined ? kept : { ...kept, set: { limits, by, at: unit.now } }
    unit.replace(ref, { budget, kept: JSON.stringify(next) }, known?.exists ? known.updateTime : undefined)
    unit.note({ by, what: 'budget.set', data: { budget, limits: JSON.stringify(limits ?? null) } })
    return { now: unit.now, answer: 'ok' }
  })
}

export async function budgets(place: Place): Promise<Budgets> {
  const now = await nowOf(place)
  const page = await read(place, budgetsOf(place))
  const all = page.docs
    .map((snapshot) => ({ name: String(snapshot.get('budget')), ...keptOf(snapshot.get('kept')) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const views = await Promise.all(
    all.map(async (kept) => {
      const tallies = await presentTallies(place, kept.name, now, kept)
      return budgetView(kept, now, (window, key) => tallies.get(`${window} ${key}`) ?? NO_TALLY)
    }),
  )
  return { now, budgets: views }
}

/** The present windows, with reservations past their time shown as spent. */
async function presentTallies(place: Place, name: string, now: number, kept: Kept): Promise<Map<string, Tally>> {
  const tallies = new Map<string, Tally>()
  const { windows } = budgetView({ name, ...kept }, now, () => NO_TALLY)
  const snapshots = await readAll(
    place,
    windows.map(({ window, key }) => windowRef(place, { budget: name, window, key })),
  )
  for (const [index, { window, key }] of windows.entries()) {
    const text = snapshots[index]?.get('tally')
    if (typeof text === 'string') tallies.set(`${window} ${key}`, JSON.parse(text) as Tally)
  }
  const past = spendsOf(place).where('budget', '==', name).where('state', '==', 'reserved').where('until', '<=', now)
  for (const snapshot of (await read(place, past)).docs) {
    const spend = snapshot.data() as Spend & { run: string }
    const end = expired(spend, now)
    for (const { window, key } of end ? placesOfSpend(spend, spend.run) : []) {
      const tally = tallies.get(`${window} ${key}`)
      if (tally && end) tallies.set(`${window} ${key}`, end.change(tally))
    }
  }
  return tallies
}
