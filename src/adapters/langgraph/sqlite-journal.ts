/**
 * A graph's journal in one SQLite file: intent before the send, answer after it, each durable before anything goes on.
 * It belongs beside a checkpointer that keeps its checkpoints before a node runs; without one there is no place to find again.
 */
import { createHash } from 'node:crypto'
import Database from 'better-sqlite3'
import { RepriseError } from '../../failure/reprise-error.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import type { GraphJournal, Place } from './journal.ts'

export interface SqliteJournalOptions {
  readonly file: string
  /**
   * A send that has neither answer nor failure may have arrived. `again` (default) sends it again; `fail` throws `journal.ambiguous`,
   * so that a call is made at most once.
   */
  readonly ambiguous?: 'again' | 'fail'
  readonly clock?: Clock
}

export interface SqliteJournal extends GraphJournal {
  close(): void
}

const SCHEMA = `CREATE TABLE IF NOT EXISTS reprise_graph_call(
  place TEXT NOT NULL,
  name TEXT NOT NULL,
  input TEXT NOT NULL,
  takes INTEGER NOT NULL,
  intent_at INTEGER NOT NULL,
  failed INTEGER NOT NULL DEFAULT 0,
  answer TEXT,
  PRIMARY KEY(place, name, input)
) WITHOUT ROWID`

interface Row {
  readonly takes: number
  readonly intent_at: number
  readonly failed: number
  readonly answer: string | null
}

export function sqliteJournal({ file, ambiguous = 'again', clock = systemClock }: SqliteJournalOptions): SqliteJournal {
  if (typeof file !== 'string' || file === '')
    throw new RangeError(`file: ${JSON.stringify(file)} is not allowed; allowed is the path of a file`)
  if (ambiguous !== 'again' && ambiguous !== 'fail')
    throw new RangeError(`ambiguous: ${JSON.stringify(ambiguous)} is not allowed; allowed are again, fail`)
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  // An answer is paid for: it must survive the power going out.
  database.pragma('synchronous = FULL')
  database.exec(SCHEMA)
  const find = database.prepare<[string, string, string], Row>(
    'SELECT takes, intent_at, failed, answer FROM reprise_graph_call WHERE place = ? AND name = ? AND input = ?',
  )
  const intend =
    database.prepare(`INSERT INTO reprise_graph_call(place, name, input, takes, intent_at) VALUES(?, ?, ?, 1, ?)
    ON CONFLICT(place, name, input) DO UPDATE SET takes = takes + 1, intent_at = excluded.intent_at, failed = 0`)
  const settle = database.prepare(
    'UPDATE reprise_graph_call SET answer = ?, failed = ? WHERE place = ? AND name = ? AND input = ?',
  )
  return {
    async once<Answer>(place: Place, name: string, input: unknown, send: () => Promise<Answer>): Promise<Answer> {
      const key = [placeKey(place), name, hashOf(input)] as const
      const row = find.get(...key)
      if (row && row.answer !== null) return JSON.parse(row.answer) as Answer
      if (row && row.failed === 0 && ambiguous === 'fail') {
        throw new RepriseError(
          'journal.ambiguous',
          `${name} was sent at ${row.intent_at} and nobody knows whether it arrived. Look there, then go on with ambiguous: "again".`,
        )
      }
      intend.run(...key, clock.now())
      try {
        const answer = await send()
        const text = JSON.stringify(answer ?? null)
        settle.run(text, 0, ...key)
        return answer === undefined ? answer : (JSON.parse(text) as Answer)
      } catch (thrown) {
        settle.run(null, 1, ...key)
        throw thrown
      }
    },
    close: () => {
      database.close()
    },
  }
}

function placeKey({ thread, task, attempt }: Place): string {
  if (thread === undefined || task === '') {
    throw new RepriseError(
      'journal.thread',
      'A journal finds its answers again by thread and checkpoint. Compile the graph with a checkpointer and give it a thread_id.',
    )
  }
  return `${thread}/${task}/${attempt}`
}

const hashOf = (input: unknown): string =>
  input === undefined ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex')
