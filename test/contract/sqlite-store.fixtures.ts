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
      damages: damagesOf(file, DAMAGES),
      damagesBeside: damagesOf(file, DAMAGES_BESIDE) as NonNullable<OpenedStore['damagesBeside']>,
    }
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const need = (needed: string, kind: number, open: number) =>
  `INSERT INTO reprise_need(needed, run, kind, open, generation, name, place) VALUES (${needed}, ?, ${kind}, ${open}, 0, '', 0)`

const probing = (what: string, token: number) =>
  `INSERT INTO reprise_hold(what, hold) SELECT '${what}', json_object('what', '${what}', 'until', 1, 'why', 'busy', 'by', 'http.429',
    'probe', json('true'), 'setAt', 0, 'phase', 'probing', 'probing', json_object('run', 'r' || id, 'token', ${token})) FROM run`

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
  'waiting for nothing': 'UPDATE reprise_run SET state = 2 WHERE id = ?',
  'parked though its key has room': `UPDATE reprise_run SET state = 2, concurrency_key = '["t","k"]', concurrency_max = 1 WHERE id = ?`,
  'blocked for nothing': 'UPDATE reprise_run SET state = 0 WHERE id = ?',
  'ready in spite of an open need': need('(SELECT min(id) FROM reprise_run WHERE state IN (1, 2, 3))', 0, 1),
  'a need that is open and yet fulfilled': need('(SELECT max(id) FROM reprise_run WHERE state = 4)', 2, 1),
  'a need that is not there': need('999999', 0, 0),
  'a step of no flow': "INSERT INTO reprise_step(run, flow, name) VALUES (?, 999999, 'lost')",
  'a need outside of its flow': need('(SELECT max(id) FROM reprise_run WHERE state = 4)', 2, 0),
  'a join of a generation to come':
    "INSERT INTO reprise_need(needed, run, kind, open, generation, name, place) VALUES ((SELECT max(id) FROM reprise_run WHERE state = 4), ?, 3, 0, 7, 'j', 0)",
  'ended by a need that it has not': `UPDATE reprise_run SET state = 6, finished_at = 1, why = '{"code":"run.skipped","params":{"step":"a","how":"failed"}}' WHERE id = ?`,
  'a flow without its steps': "INSERT INTO reprise_flow(id, name, at) VALUES (?, 'f', 0)",
  'a probe in another lane': `WITH run(id) AS (SELECT cast(? AS INTEGER)) ${probing('resource:elsewhere', 1)}`,
  'a probe that no claim gave': `WITH run(id) AS (SELECT cast(? AS INTEGER)) ${probing('task:other', 9_999)}`,
  'a key that leads nowhere': "UPDATE reprise_run SET key = 'lost' WHERE id = ?",
  'a budget that counts what no call took':
    "INSERT INTO reprise_window VALUES ('run', 'run', 'r' || CAST(? AS INTEGER), NULL, 0, 1, 0, 0, 0, NULL, NULL, 0)",
  'a budget above its limit':
    "INSERT INTO reprise_window VALUES ('run', 'run', 'r' || CAST(? AS INTEGER), NULL, 0, 0, 0, 2, 1, NULL, 0, 0)",
  'a key that leads to another run':
    "INSERT INTO reprise_key(task, key, run, fingerprint, at) VALUES ('t', 'stolen', ?, 'f', 0)",
}

const hold = (name: string, change: object) =>
  `INSERT INTO reprise_hold(what, hold) VALUES ('${name}', '${JSON.stringify({ what: name, until: 1, why: 'busy', by: 'x', probe: true, setAt: 0, phase: 'held', ...change })}')`

const bucket = (name: string, change: object) =>
  `INSERT INTO reprise_bucket(resource, bucket) VALUES ('${name}', '${JSON.stringify({ resource: name, health: 1, phase: 'watched', tokens: 0, at: 0, ...change })}')`

/** Damage of holds and buckets, which are of no run. */
const DAMAGES_BESIDE: Readonly<Record<string, string>> = {
  'a hold of nothing': hold('nothing', {}),
  'a hold under another name': hold('task:a', { what: 'task:b' }),
  'a hold in no phase': hold('task:c', { phase: 'open' }),
  'a probing hold without a probe': hold('task:d', { phase: 'probing' }),
  'a hold that lets in since never': hold('task:e', { phase: 'admitting' }),
  'a hold that lets in before its end': hold('task:f', { phase: 'admitting', admittingSince: 0 }),
  'a bucket of another resource': bucket('a', { resource: 'b' }),
  'a bucket without health': bucket('c', { health: -1 }),
  'a bucket that heals since never': bucket('d', { phase: 'healing' }),
}

/** Two statements, one after the other: the run is leased, and the hold says that it is its probe. */
const PROBE_ASTRAY = 'UPDATE reprise_run SET lease = 1, lease_until = 1 WHERE id = ?'

function damagesOf(file: string, damages: Readonly<Record<string, string>>): NonNullable<OpenedStore['damages']> {
  const plant = (sql: string, name: string) => (run?: string) => {
    const database = new Database(file)
    if (name === 'a probe in another lane') database.prepare(PROBE_ASTRAY).run(Number(run?.slice(1)))
    database.prepare(sql).run(...(run === undefined ? [] : [Number(run.slice(1))]))
    database.close()
  }
  return Object.fromEntries(Object.entries(damages).map(([name, sql]) => [name, plant(sql, name)]))
}
