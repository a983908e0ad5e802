/**
 * The limit: what a careful programmer writes by hand on SQLite for exactly this work. One table, one index, batches.
 * No lanes, priorities, keys, fences, crash counts or history: it shows what the disk and the library can do.
 */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { type Call, type Contender, chunks, type Handle, type Input, type Queue, withHands } from '../queue.ts'

const LEASE_MS = 30_000
const CHUNK = 10_000

interface Row {
  readonly id: number
  readonly input: string
}

interface Outcome {
  readonly id: number
  readonly output?: string
  readonly error?: string
}

export function rawSqlite(batch: number): Contender {
  return {
    name: `hand-written SQLite loop, k=${batch}`,
    durability: 'fsync per batch (FULL)',
    open: async ({ folder }, label) => open(join(folder, `${label}.db`), batch),
  }
}

function open(file: string, batch: number): Queue {
  const db = new Database(file)
  db.pragma('page_size = 8192')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`
    CREATE TABLE job(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, run_at INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
      lease_until INTEGER, error TEXT, input TEXT NOT NULL, output TEXT);
    CREATE INDEX due ON job(run_at) WHERE state = 0;
    CREATE TABLE journal(run INTEGER NOT NULL, name TEXT NOT NULL, intent_at INTEGER NOT NULL, answered_at INTEGER, answer TEXT);
    CREATE UNIQUE INDEX entry ON journal(run, name)`)
  const insert = db.prepare('INSERT INTO job(state, run_at, input) VALUES (0, ?, ?)')
  const claimed = db.prepare<
    unknown[],
    Row
  >(`UPDATE job SET state = 1, attempts = attempts + 1, lease_until = ? WHERE id IN (
    SELECT id FROM job WHERE state = 0 AND run_at <= ? ORDER BY run_at, id LIMIT ?) RETURNING id, input`)
  const done = db.prepare('UPDATE job SET state = 2, lease_until = NULL WHERE id IN (SELECT value FROM json_each(?))')
  const doneWith = db.prepare('UPDATE job SET state = 2, lease_until = NULL, output = ? WHERE id = ?')
  const again = db.prepare('UPDATE job SET state = 0, lease_until = NULL, run_at = ?, error = ? WHERE id = ?')
  const intent = db.prepare('INSERT INTO journal(run, name, intent_at) VALUES (?, ?, ?)')
  const answer = db.prepare('UPDATE journal SET answered_at = ?, answer = ? WHERE run = ? AND name = ?')

  const insertAll = db.transaction((inputs: readonly Input[], runAt: number) => {
    for (const input of inputs) insert.run(runAt, JSON.stringify(input))
  })
  const settleAndClaim = db.transaction((outcomes: readonly Outcome[], limit: number): Row[] => {
    const now = Date.now()
    const plain: number[] = []
    for (const { id, output, error } of outcomes) {
      if (error !== undefined) again.run(now, error, id)
      else if (output !== undefined) doneWith.run(output, id)
      else plain.push(id)
    }
    if (plain.length > 0) done.run(JSON.stringify(plain))
    return limit > 0 ? claimed.all(now + LEASE_MS, now, limit) : []
  })

  // Everything that is asked in one turn of the event loop shares a transaction.
  let asked: { readonly write: () => void; readonly resolve: () => void }[] = []
  const writeAll = db.transaction((works: typeof asked) => {
    for (const { write } of works) write()
  })
  let woken: () => void = () => {}
  const coalesced = (write: () => void): Promise<void> =>
    new Promise((resolve) => {
      asked.push({ write, resolve })
      if (asked.length > 1) return
      setImmediate(() => {
        const works = asked
        asked = []
        writeAll(works)
        for (const work of works) work.resolve()
        woken()
      })
    })

  const callOf =
    (id: number): Call =>
    async (name, send) => {
      await coalesced(() => intent.run(id, name, Date.now()))
      const value = await send()
      await coalesced(() => answer.run(Date.now(), JSON.stringify(value), id, name))
      return value
    }

  async function execute({ id, input }: Row, handle: Handle): Promise<Outcome> {
    try {
      const output = await handle(JSON.parse(input) as Input, callOf(id))
      return output === undefined ? { id } : { id, output: JSON.stringify(output) }
    } catch (error) {
      return { id, error: String(error) }
    }
  }

  async function work(handle: Handle, concurrency: number): Promise<void> {
    let outcomes: Outcome[] = []
    for (;;) {
      const rows = settleAndClaim.immediate(outcomes, batch)
      if (rows.length === 0) return
      outcomes = []
      await withHands(rows, concurrency, async (row) => outcomes.push(await execute(row, handle)))
    }
  }

  return {
    async submitMany(inputs, dueInMs = 0) {
      for (const chunk of chunks(inputs, CHUNK)) insertAll.immediate(chunk, Date.now() + dueInMs)
    },
    submit: (input) => coalesced(() => insert.run(Date.now(), JSON.stringify(input))),
    async drain(_count, handle, concurrency) {
      const startedAt = performance.now()
      await work(handle, concurrency)
      return performance.now() - startedAt
    },
    async listen(handle) {
      let busy = false
      woken = () => {
        if (busy) return
        busy = true
        void work(handle, 10).finally(() => {
          busy = false
        })
      }
      return async () => {
        woken = () => {}
      }
    },
    succeeded: async () =>
      (db.prepare('SELECT count(*) AS runs FROM job WHERE state = 2').get() as { runs: number }).runs,
    close: async () => {
      db.close()
    },
  }
}
