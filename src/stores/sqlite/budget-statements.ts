/**
 * The statements of budgets, prepared with all others; apart because they are many.
 */
import { sql } from './sql.ts'

export interface WindowRow {
  readonly calls_reserved: number
  readonly calls_spent: number
  readonly nano_reserved: number
  readonly nano_spent: number
  readonly nano_over: number
  readonly calls_limit: number | null
  readonly nano_limit: number | null
  readonly warned: number
}

export interface SpendRow {
  readonly id: number
  readonly run: number
  readonly budget: string
  readonly state: number
  readonly until: number
  readonly nano: number
  readonly day: string | null
  readonly month: string | null
}

const SPEND = 'rowid AS id, run, budget, state, until, nano, day, month'

const CALL = 'run = ? AND generation = ? AND name = ? AND input_hash = ? AND take = ? AND token = ?'

export const BUDGET_SQL = {
  budget: sql<{ defined: string | null; set_over: string | null }>(
    'SELECT defined, set_over FROM reprise_budget WHERE name = ?',
  ),
  defineBudget: sql(`INSERT INTO reprise_budget(name, defined) VALUES (?, ?)
    ON CONFLICT(name) DO UPDATE SET defined = excluded.defined`),
  setBudget: sql(`INSERT INTO reprise_budget(name, set_over) VALUES (?, ?)
    ON CONFLICT(name) DO UPDATE SET set_over = excluded.set_over`),
  window:
    sql<WindowRow>(`SELECT calls_reserved, calls_spent, nano_reserved, nano_spent, nano_over, calls_limit, nano_limit, warned
    FROM reprise_window WHERE budget = ? AND kind = ? AND key = ?`),
  putWindow:
    sql(`INSERT INTO reprise_window(budget, kind, key, ends_at, calls_reserved, calls_spent, nano_reserved, nano_spent,
      nano_over, calls_limit, nano_limit, warned) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(budget, kind, key) DO UPDATE SET ends_at = excluded.ends_at, calls_reserved = excluded.calls_reserved,
      calls_spent = excluded.calls_spent, nano_reserved = excluded.nano_reserved, nano_spent = excluded.nano_spent,
      nano_over = excluded.nano_over, calls_limit = excluded.calls_limit, nano_limit = excluded.nano_limit, warned = excluded.warned`),
  countWindow:
    sql(`UPDATE reprise_window SET calls_reserved = ?, calls_spent = ?, nano_reserved = ?, nano_spent = ?, nano_over = ?
    WHERE budget = ? AND kind = ? AND key = ?`),
  insertSpend:
    sql(`INSERT INTO reprise_spend(run, generation, name, input_hash, take, token, budget, state, until, nano, day, month, ends_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?)`),
  spendsOf: sql<SpendRow>(
    `SELECT ${SPEND} FROM reprise_spend INDEXED BY reprise_spend_call WHERE ${CALL} ORDER BY budget`,
  ),
  expiredSpends: sql<SpendRow>(`SELECT ${SPEND} FROM reprise_spend INDEXED BY reprise_spend_open
    WHERE state = 0 AND budget = ? AND until <= ? ORDER BY until LIMIT 0 + ?`),
  endSpend: sql('UPDATE reprise_spend SET state = ?, nano = ? WHERE rowid = ?'),

  // prune
  dropWindows: sql('DELETE FROM reprise_window WHERE ends_at IS NOT NULL AND ends_at <= ?'),
  dropRunWindows: sql(`DELETE FROM reprise_window WHERE budget = 'run' AND kind = 'run'
    AND key IN (SELECT 'r' || value FROM json_each(?))`),
  dropRunSpends: sql(`DELETE FROM reprise_spend WHERE run IN (SELECT value FROM json_each(?)) AND ends_at IS NULL`),
  oldestSpends: sql<{ id: number; ends_at: number | null }>(
    'SELECT rowid AS id, ends_at FROM reprise_spend WHERE rowid > ? ORDER BY rowid LIMIT 0 + ?',
  ),
  dropSpends: sql('DELETE FROM reprise_spend WHERE rowid IN (SELECT value FROM json_each(?))'),
} as const
