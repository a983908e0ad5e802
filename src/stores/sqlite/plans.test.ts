import { describe, expect, test } from 'vitest'
import type { RunQuery } from '../../ports/store.ts'
import { BUDGETS_SQL } from './budgets.ts'
import { claimRequest, connect, freshFile, newRun } from './file.fixtures.ts'
import { conditions } from './find.ts'
import { HOLDS_SQL } from './holds.ts'
import { sqlite } from './index.ts'
import { FLOORS_SQL } from './prune.ts'
import { PULSE_SQL } from './pulse.ts'
import { READ_SQL, viewSql } from './read.ts'
import { SQL } from './statements.ts'

/** Whether there is any need at all: the first row will do, so there is nothing to search for. */
const { anyNeed: _first, ...SEARCHING } = SQL

const HOT: Record<string, string> = {
  ...Object.fromEntries(Object.entries(SEARCHING).map(([name, { text }]) => [name, text])),
  ...READ_SQL,
  floors: FLOORS_SQL,
  ...HOLDS_SQL,
  ...Object.fromEntries(Object.entries(PULSE_SQL).map(([name, text]) => [`pulse ${name}`, text])),
  ...Object.fromEntries(Object.entries(BUDGETS_SQL).map(([name, text]) => [`budgets ${name}`, text])),
  ...Object.fromEntries(
    ([{}, { key: 'k' }, { states: ['failed'] }, { states: ['review'] }, { tasks: ['t'], code: 'http.*' }] as const).map(
      (query) => [`find ${JSON.stringify(query)}`, findSql(query)],
    ),
  ),
}

function findSql(query: Omit<RunQuery, 'limit'>): string {
  const index = { failed: 'INDEXED BY reprise_failed', review: 'INDEXED BY reprise_review' }[
    query.states?.[0] as 'failed'
  ]
  return `${viewSql(index)} WHERE run.id < ? AND run.id >= ?${conditions(query, 0).where} ORDER BY run.id DESC LIMIT 0 + ?`
}

/** Reading a partial index from its end is a search; reading a table or a whole index is not. */
const BAD =
  /SCAN (reprise_run|run|next|reprise_journal|entry|reprise_attempt|attempt|reprise_key|key|reprise_body|reprise_need|need|reprise_step|step|reprise_flow|reprise_spend|reprise_window)(?! USING (COVERING )?INDEX reprise_(ready|suspect|due|leased|keyed|again|failed|review|spend_open|window_ends))|TEMP B-TREE/

function planOf(connection: ReturnType<typeof connect>, sql: string): string[] {
  const rows = connection.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...Array(sql.split('?').length - 1).fill(null))
  return (rows as { detail: string }[]).map(({ detail }) => detail)
}

async function filled(): Promise<ReturnType<typeof connect>> {
  const file = freshFile()
  const store = sqlite({ file, durability: 'process' })
  await store.create(
    Array.from({ length: 2_000 }, (_, index) => newRun(index % 2 ? {} : { dueAt: 9e15, task: `u${index % 7}` })),
  )
  const { runs, token } = await store.claim(claimRequest({ limit: 400 }))
  await Promise.all(
    runs.slice(0, 390).map(({ id }) => store.commit({ type: 'end', run: id, token, state: 'succeeded' })),
  )
  await store.close()
  return connect(file)
}

describe('hot statements read by an index and sort nothing', () => {
  test.each(Object.keys(HOT))('%s', async (name) => {
    const connection = await planned
    expect(planOf(connection, HOT[name] as string).filter((step) => BAD.test(step))).toEqual([])
  })

  test('whatever statistics say: taken when nothing was due, and when much was', async () => {
    const connection = await filled()
    const before = Object.values(HOT).map((sql) => planOf(connection, sql))
    connection.exec('ANALYZE')
    expect(
      Object.values(HOT)
        .flatMap((sql) => planOf(connection, sql))
        .filter((step) => BAD.test(step)),
    ).toEqual([])
    connection.exec('UPDATE reprise_run SET due_at = 1 WHERE due_at IS NOT NULL; ANALYZE')
    const after = Object.values(HOT).map((sql) => planOf(connection, sql))
    expect(after.flat().filter((step) => BAD.test(step))).toEqual([])
    expect(after.length).toBe(before.length)
  })

  test('the guard sees a scan and a sort', async () => {
    const connection = await planned
    expect(planOf(connection, 'SELECT * FROM reprise_run WHERE key = 1').some((step) => BAD.test(step))).toBe(true)
    expect(planOf(connection, 'SELECT * FROM reprise_journal').some((step) => BAD.test(step))).toBe(true)
    const sorted =
      'SELECT id FROM reprise_run WHERE state = 1 AND lease IS NULL AND suspect = 0 AND lane IN (1, 2) ORDER BY priority'
    expect(planOf(connection, sorted).some((step) => BAD.test(step))).toBe(true)
  })
})

const planned = filled()
