/** Stores that obey operators wrongly. */
import type { Act, Committed, Move } from '../../../src/ports/store.ts'
import { placeOf } from '../../../src/run/place.ts'
import { isTerminal } from '../../../src/run/run.ts'
import type { Row } from '../../../src/stores/memory/rows.ts'
import { type Bench, gap, type Sabotage, type Shelf } from './bench.ts'

const steering =
  ({
    change,
    after,
  }: {
    change?: (act: Act, row: Row) => Act
    after?: (row: Row, before: Row, act: Act, bench: Bench) => void
  }): Sabotage =>
  (bench) => ({
    steer: async (act): Promise<Committed> => {
      const row = bench.tables.runs.get(act.run)
      const before = row && { ...row }
      const committed = await bench.store.steer(row && change ? change(act, row) : act)
      if (row && before && committed.answer === 'ok') after?.(row, before, act, bench)
      return committed
    },
  })

const reordering =
  ({
    before,
    change,
    after,
  }: {
    before?: (row: Row) => void
    change?: (move: Move, row: Row) => Move
    after?: (row: Row, before: Row, bench: Bench) => void
  }): Sabotage =>
  (bench) => ({
    reorder: async (move): Promise<Committed> => {
      const row = bench.tables.runs.get(move.run)
      const known = row && { ...row }
      if (row) before?.(row)
      const moved = await bench.store.reorder?.(row && change ? change(move, row) : move)
      if (!moved) throw new Error('the memory store has an order')
      if (row && known && moved.answer === 'ok') after?.(row, known, bench)
      return moved
    },
  })

export const steerShelf: Shelf = {
  'priority-unchanged': reordering({
    after: (row, { priority }) => {
      row.priority = priority
    },
  }),
  'priority-forgets-due-time': reordering({
    after: (row, before, { tables }) => {
      if (row.dueAt !== before.dueAt || row.state === 'ready') return
      row.place = placeOf({ priority: row.priority, submittedAt: row.submittedAt }, tables.ageingMs)
    },
  }),
  'due-time-unchanged': reordering({
    after: (row, { state, dueAt }) => {
      Object.assign(row, { state, dueAt })
    },
  }),
  'move-unrecorded': reordering({
    after: (row, _before, { tables }) => {
      row.history.pop()
      tables.notes.pop()
    },
  }),
  'move-takes-the-leased': reordering({
    before: (row) => {
      row.lease = undefined
    },
  }),
  'move-ignores-expectation': reordering({
    change: (move, { generation, state }) => ({ ...move, expect: { generation, states: [state] } }),
  }),
  'cancel-unrecorded': steering({
    after: (row, _before, _act, { tables }) => {
      row.history.pop()
      tables.notes.pop()
    },
  }),
  'cancel-leaves-lease': steering({
    after: (row, before) => {
      row.lease = before.lease
    },
  }),
  'steer-ignores-generation': steering({
    change: (act, { generation }) => ({ ...act, expect: { ...act.expect, generation } }),
  }),
  'steer-ignores-state': steering({
    change: (act, { state }) => ({ ...act, expect: { ...act.expect, states: [state] } }),
  }),
  'steer-races': (bench) => ({
    steer: async (act) => {
      const row = bench.tables.runs.get(act.run)
      const expected = row?.generation === act.expect.generation && act.expect.states.includes(row.state)
      await gap()
      return bench.store.steer(
        row && expected ? { ...act, expect: { generation: row.generation, states: [row.state] } } : act,
      )
    },
  }),
  'cancel-after-the-end': ({ store, tables, clock }) => ({
    steer: async (act) => {
      const row = tables.runs.get(act.run)
      if (!row || act.type !== 'cancel' || !isTerminal(row.state)) return store.steer(act)
      row.state = 'cancelled'
      return { now: clock.now(), answer: 'ok' }
    },
  }),
  'retry-keeps-ledgers': steering({
    after: (row, before) => {
      row.ledgers = before.ledgers
    },
  }),
  'retry-keeps-deadline': steering({
    after: (row, before) => {
      row.deadlineAt = before.deadlineAt
    },
  }),
  'retry-stays-where-it-climbed': steering({
    after: (row, before) => {
      row.lane = before.lane
    },
  }),
  'history-wiped': steering({
    after: (row) => {
      row.history.splice(0, row.history.length - 1)
    },
  }),
}
