/** Stores that are wrong about people: who has a review in hand, until when, and what came of it. */
import type { Taken, TakeRequest } from '../../../src/ports/store.ts'
import type { Row } from '../../../src/stores/memory/rows.ts'
import {
  type Bench,
  claiming,
  ending,
  forced,
  gap,
  pretend,
  rowsOf,
  type Sabotage,
  type Shelf,
  seeing,
  without,
} from './bench.ts'

const taking =
  ({
    before,
    change,
    after,
  }: {
    before?: (row: Row, request: TakeRequest) => void
    change?: (request: TakeRequest, row: Row) => TakeRequest
    after?: (row: Row, bench: Bench) => void
  }): Sabotage =>
  (bench) => ({
    take: async (request): Promise<Taken> => {
      const row = bench.tables.runs.get(request.run)
      if (row) before?.(row, request)
      const taken = await bench.store.take(row && change ? change(request, row) : request)
      if (row && taken.answer === 'ok') after?.(row, bench)
      return taken
    },
  })

const inHand = ({ state, lease }: Row): boolean => state === 'review' && lease !== undefined

export const reviewShelf: Shelf = {
  'question-lost': ending({
    change: (end) => (end.journal ? { ...end, journal: without(end.journal, 'question') } : end),
  }),
  'take-token-repeated': taking({
    after: (_row, { tables }) => {
      tables.last.token -= 1
    },
  }),
  'take-ignores-state': taking({
    before: (row) => {
      row.state = 'review'
    },
  }),
  'take-ignores-generation': taking({
    change: (request, { generation }) => ({ ...request, expect: { generation } }),
  }),
  'take-steals': taking({
    before: (row) => {
      row.lease = undefined
    },
  }),
  'take-after-a-look': (bench) => ({
    take: async (request) => {
      const row = bench.tables.runs.get(request.run)
      const isFree = row?.lease === undefined
      await gap()
      if (row && isFree) row.lease = undefined
      return bench.store.take(request)
    },
  }),
  'take-refuses-its-own': ({ store, tables, clock }) => ({
    take: async (request) => {
      const { lease } = tables.runs.get(request.run) ?? {}
      return lease && lease.until > clock.now() ? { now: clock.now(), answer: 'lost' } : store.take(request)
    },
  }),
  'take-unnoted': taking({
    after: (_row, { tables }) => {
      tables.notes.pop()
    },
  }),
  'taken-looks-running': ({ store, tables }) => ({
    find: async (query) => {
      const page = await store.find(query)
      const isRunning = (id: string) => inHand(tables.runs.get(id) as Row)
      return query.states?.includes('review') ? { ...page, runs: page.runs.filter(({ id }) => !isRunning(id)) } : page
    },
  }),
  'overdue-given-while-taken': claiming({
    before: ({ tables, clock }) => {
      for (const row of rowsOf(tables).filter(inHand))
        if (row.dueAt !== undefined && row.dueAt <= clock.now())
          Object.assign(row, { state: 'ready', lease: undefined, dueAt: undefined })
    },
  }),
  'overdue-review-sleeps': seeing((row) => (row.state === 'review' ? { dueAt: undefined } : {})),
  'person-suspected': claiming({
    before: ({ tables, clock }) => {
      for (const row of rowsOf(tables).filter(inHand))
        if (row.lease && row.lease.until <= clock.now()) row.suspect = true
    },
  }),
  'person-lapses': claiming({
    before: ({ tables, clock }) => {
      for (const row of rowsOf(tables).filter(inHand))
        if (row.lease && row.lease.until <= clock.now()) row.ledgers = { ...row.ledgers, lapses: 1 }
    },
  }),
  'person-takes-a-place': seeing((row) => (inHand(row) ? { state: 'ready' } : {})),
  'person-counts-as-sender': (bench) => ({
    commit: (change) =>
      change.type === 'answer'
        ? pretend(
            bench.tables,
            (row) => (inHand(row) ? { state: 'ready' } : {}),
            () => bench.store.commit(change),
          )
        : bench.store.commit(change),
  }),
  'note-lost-with-end': ending({ change: (end) => without(end, 'note') }),
  'ended-falls-due': ending({
    after: (row, before, { state }, { tables }) => {
      if (state !== 'succeeded' || before.dueAt === undefined) return
      row.dueAt = before.dueAt
      tables.open.add(row)
    },
  }),
  'decided-twice': (bench) => ({
    commit: (change) => (change.type === 'end' && change.note ? forced(bench, change) : bench.store.commit(change)),
  }),
}
