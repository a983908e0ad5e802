/**
 * The SQLite store as the contract opens it: a file of its own, which can be opened again and damaged from outside.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import type { OpenedStore } from '../../src/testing/store-contract/index.ts'
import type { Clock } from '../../src/time/clock.ts'

export class SqliteFiles {
  readonly #folder = mkdtempSync(join(tmpdir(), 'reprise-contract-'))
  #opened = 0

  open(clock: Clock): OpenedStore {
    this.#opened += 1
    const file = join(this.#folder, `${this.#opened}.db`)
    const store = sqlite({ file, clock })
    return {
      store,
      reopen: async () => {
        await store.close()
        return sqlite({ file, clock })
      },
      damages: damagesOf(file),
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const need = (needed: string, kind: number, open: number) =>
  `INSERT INTO reprise_need(needed, run, kind, open, generation, name, place) VALUES (${needed}, ?, ${kind}, ${open}, 0, '', 0)`

/** Each statement gets the number of the run; the run that the law hands over is ready, new and without a key. */
const DAMAGES: Readonly<Record<string, string>> = {
  'a state that is none': 'UPDATE reprise_run SET state = 9 WHERE id = ?',
  'a lease on an ended run':
    'UPDATE reprise_run SET state = 5, finished_at = 1, lease = 1, lease_until = 1 WHERE id = ?',
  'half a lease': 'UPDATE reprise_run SET lease = 1 WHERE id = ?',
  'a due time on a ready run': 'UPDATE reprise_run SET due_at = 1 WHERE id = ?',
  'an output on a ready run': "UPDATE reprise_run SET output = '1' WHERE id = ?",
  'an ended run without a finish time': 'UPDATE reprise_run SET state = 4 WHERE id = ?',
  'a suspect that is finished': 'UPDATE reprise_run SET state = 4, finished_at = 1, suspect = 1 WHERE id = ?',
  'a token that no claim gave': 'UPDATE reprise_run SET ended_by = 9999 WHERE id = ?',
  'a ledger without history': 'UPDATE reprise_run SET errors = 1 WHERE id = ?',
  'a lapse without history': 'UPDATE reprise_run SET lapses = 1 WHERE id = ?',
  'a run in no lane': 'UPDATE reprise_run SET lane = 9999 WHERE id = ?',
  'a run without input': 'UPDATE reprise_run SET input = NULL WHERE id = ?',
  'history of a later generation':
    "INSERT INTO reprise_attempt(run, generation, attempt, token, worker, started_at, ended_at, outcome) VALUES (?, 2, 0, 0, 'w', 0, 0, 'operator')",
  'history out of order':
    "INSERT INTO reprise_attempt(run, generation, attempt, token, worker, started_at, ended_at, outcome) SELECT ?, 1, 1, column1, 'w', 0, 0, 'failed' FROM (VALUES (2), (1))",
  'money without a take': `UPDATE reprise_run SET more = '{"costUsd":1}' WHERE id = ?`,
  'blocked for nothing': 'UPDATE reprise_run SET state = 0 WHERE id = ?',
  'ready in spite of an open need': need('(SELECT min(id) FROM reprise_run WHERE state IN (1, 2, 3))', 0, 1),
  'a need that is open and yet fulfilled': need('(SELECT max(id) FROM reprise_run WHERE state = 4)', 2, 1),
  'a need that is not there': need('999999', 0, 0),
  'a step of no flow': "INSERT INTO reprise_step(run, flow, name) VALUES (?, 999999, 'lost')",
  'a key that leads nowhere': "UPDATE reprise_run SET key = 'lost' WHERE id = ?",
  'a budget that counts what no call took':
    "INSERT INTO reprise_window VALUES ('run', 'run', 'r' || CAST(? AS INTEGER), NULL, 0, 1, 0, 0, 0, NULL, NULL, 0)",
  'a budget above its limit':
    "INSERT INTO reprise_window VALUES ('run', 'run', 'r' || CAST(? AS INTEGER), NULL, 0, 0, 0, 2, 1, NULL, 0, 0)",
  'a key that leads to another run':
    "INSERT INTO reprise_key(task, key, run, fingerprint, at) VALUES ('t', 'stolen', ?, 'f', 0)",
}

function damagesOf(file: string): NonNullable<OpenedStore['damages']> {
  const plant = (sql: string) => (run: string) => {
    const database = new Database(file)
    database.prepare(sql).run(Number(run.slice(1)))
    database.close()
  }
  return Object.fromEntries(Object.entries(DAMAGES).map(([name, sql]) => [name, plant(sql)]))
}
