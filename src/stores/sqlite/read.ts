/**
 * The plain readers: one run, its history, its journal, notes, policies. Each is one statement, so one snapshot.
 * They use the readers' connection and change nothing.
 */
import type { Note, RunRef, RunView, Store } from '../../ports/store.ts'
import type { JournalEntry } from '../../run/journal.ts'
import type { AttemptRecord } from '../../run/run.ts'
import type { Connection, SqlValue, Statement } from './connection.ts'
import { type AttemptRow, attemptOf, entryOf, type JournalRow, numberOf, type ViewRow, viewOf } from './row.ts'
import { SQL } from './statements.ts'

/** A run with its lane, its owner and its bodies, as readers see it. An index may be named, so that no other way is taken. */
export const viewSql = (index = ''): string => `
  SELECT run.id, run.state, run.priority, run.submitted_at, run.lease, run.lease_until, claim.worker, run.due_at, run.suspect,
    run.generation, run.attempt, run.errors, run.lapses, run.ended_by, run.finished_at, run.key,
    run.concurrency_key, run.concurrency_max, run.more, run.why, run.failure,
    coalesce(run.input, (SELECT input FROM reprise_body WHERE run = run.id)) AS input,
    coalesce(run.output, (SELECT output FROM reprise_body WHERE run = run.id)) AS output,
    lane.task, lane.category, lane.resource, step.flow, step.name AS step
  FROM reprise_run AS run ${index}
  CROSS JOIN reprise_lane AS lane ON lane.id = run.lane
  LEFT JOIN reprise_claim AS claim ON claim.token = run.lease
  LEFT JOIN reprise_step AS step ON step.run = run.id`

export const READ_SQL = {
  byId: `${viewSql()} WHERE run.id = ?`,
  byKey: `${viewSql()} WHERE run.id = (SELECT run FROM reprise_key WHERE task = ? AND key = ?)`,
  attempts: `SELECT generation, attempt, token, worker, started_at, ended_at, outcome, more
    FROM reprise_attempt WHERE run = ? ORDER BY rowid`,
  journal: `SELECT rowid AS place, name, input_hash, token, takes, intent_at, answered_at, late, cost_usd, failure, answer, question
    FROM reprise_journal WHERE run = ? AND generation = ?`,
  notes: 'SELECT run, at, by, what, data FROM reprise_note ORDER BY id DESC LIMIT 0 + ?',
  notesOf: 'SELECT run, at, by, what, data FROM reprise_note WHERE instr(what, ?) = 1 ORDER BY id DESC LIMIT 0 + ?',
  notesOfRun: 'SELECT run, at, by, what, data FROM reprise_note WHERE run = ? ORDER BY id DESC LIMIT 0 + ?',
  flowById: 'SELECT id, name, key FROM reprise_flow WHERE id = ?',
  flowByKey: 'SELECT id, name, key FROM reprise_flow WHERE name = ? AND key = ? AND key IS NOT NULL',
  steps: SQL.stepsOf.text,
  needs: `SELECT need.needed AS run, lane.task, run.state, step.name AS step, need.kind, need.open, need.generation, need.name,
      need.place, run.more, run.why, run.failure,
      coalesce(run.output, (SELECT output FROM reprise_body WHERE run = need.needed)) AS output
    FROM reprise_need AS need INDEXED BY reprise_need_place
    CROSS JOIN reprise_run AS run ON run.id = need.needed CROSS JOIN reprise_lane AS lane ON lane.id = run.lane
    LEFT JOIN reprise_step AS step ON step.run = need.needed WHERE need.run = ?`,
  dependents: `SELECT need.run, lane.task, run.state, step.name AS step, need.kind, need.open, need.generation, need.name, need.place
    FROM reprise_need AS need CROSS JOIN reprise_run AS run ON run.id = need.run
    CROSS JOIN reprise_lane AS lane ON lane.id = run.lane
    LEFT JOIN reprise_step AS step ON step.run = need.run WHERE need.needed = ? ORDER BY need.run`,
  policy: 'SELECT policy FROM reprise_policy WHERE hash = ?',
} as const

/** More kinds of questions than this are asked by nobody; if they are, all are prepared anew. */
const PREPARED_MAX = 200

interface NoteRow {
  readonly run: string | null
  readonly at: number
  readonly by: string
  readonly what: string
  readonly data: string | null
}

export type KeptNote = Note & { readonly at: number }

export class Readers {
  readonly #connection: Connection
  readonly #prepared = new Map<string, Statement>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Prepared at its first use and kept: texts differ only in which filters there are. */
  all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    let statement = this.#prepared.get(sql)
    if (!statement) {
      statement = this.#connection.prepare(sql)
      if (this.#prepared.size >= PREPARED_MAX) this.#prepared.clear()
      this.#prepared.set(sql, statement)
    }
    return statement.all(...values) as Row[]
  }

  get(ref: RunRef): RunView | undefined {
    const [row] =
      'id' in ref
        ? this.all<ViewRow>(READ_SQL.byId, numberOf(ref.id))
        : this.all<ViewRow>(READ_SQL.byKey, ref.task, ref.key)
    return row && viewOf(row)
  }

  attempts(run: string): AttemptRecord[] {
    return this.all<AttemptRow>(READ_SQL.attempts, numberOf(run)).map(attemptOf)
  }

  journal(run: string, generation: number): JournalEntry[] {
    const rows = this.all<JournalRow & { place: number }>(READ_SQL.journal, numberOf(run), generation)
    return rows.sort((a, b) => a.place - b.place).map(entryOf)
  }

  /** The newest, oldest of them first. */
  notes({ run, what, limit = -1 }: Parameters<Store['notes']>[0]): KeptNote[] {
    const rows =
      run !== undefined
        ? this.all<NoteRow>(READ_SQL.notesOfRun, run, limit)
        : what !== undefined
          ? this.all<NoteRow>(READ_SQL.notesOf, what, limit)
          : this.all<NoteRow>(READ_SQL.notes, limit)
    return rows.reverse().map(noteOf)
  }

  policy(hash: string): string | undefined {
    return this.all<{ policy: string }>(READ_SQL.policy, hash)[0]?.policy
  }
}

function noteOf({ run, at, by, what, data }: NoteRow): KeptNote {
  return {
    ...(run === null ? {} : { run }),
    by,
    what,
    ...(data === null ? {} : { data: JSON.parse(data) as NonNullable<Note['data']> }),
    at,
  }
}
