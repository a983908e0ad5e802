/**
 * The tables and how a file gets them: numbered steps forward, each in one transaction, never changed once released.
 * The effective schema is kept in docs/stores/sqlite-schema.sql, and a test keeps that file fresh.
 */
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Connection } from './connection.ts'

/**
 * All names carry the prefix and the version is a row of our own, because the file may also hold an application's tables:
 * then a submit can share a transaction with the application's writes.
 */
const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE reprise_meta(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

-- One row per distinct (task, category, resource), made by the first run in it and never deleted.
-- again: runs whose last try met the trouble of their resource wait in a lane of their own, so that they can be let in by themselves.
-- Its number is that of its lane, negative. keyed: runs with a concurrency key have lanes of their own, so that others are claimed
-- without a look at keys.
CREATE TABLE reprise_lane(
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  category TEXT,
  resource TEXT,
  again INTEGER NOT NULL,
  keyed INTEGER NOT NULL
);
-- 0 stands for none: a number never equals a text, not even an empty one.
CREATE UNIQUE INDEX reprise_lane_name ON reprise_lane(task, coalesce(category, 0), coalesce(resource, 0), again, keyed);

-- state: 0 blocked 1 ready 2 waiting 3 review 4 succeeded 5 failed 6 cancelled
-- place: the order of claims, smaller first. lease: token of the live claim. suspect: 0 no, n: claimed alone, with n - 1 shared crashes that are not counted yet.
-- more: JSON of what most runs never have. Bodies last, so that reading the rest never touches an overflow page.
CREATE TABLE reprise_run(
  id INTEGER PRIMARY KEY,
  state INTEGER NOT NULL,
  lane INTEGER NOT NULL,
  priority INTEGER NOT NULL,
  submitted_at INTEGER NOT NULL,
  place INTEGER NOT NULL,
  lease INTEGER,
  lease_until INTEGER,
  due_at INTEGER,
  suspect INTEGER NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 1,
  attempt INTEGER NOT NULL DEFAULT 0,
  errors INTEGER NOT NULL DEFAULT 0,
  lapses INTEGER NOT NULL DEFAULT 0,
  ended_by INTEGER,
  finished_at INTEGER,
  key TEXT,
  concurrency_key TEXT,
  concurrency_max INTEGER,
  more TEXT,
  why TEXT,
  failure TEXT,
  input TEXT,
  output TEXT
);
CREATE INDEX reprise_ready ON reprise_run(lane, place) WHERE state = 1 AND lease IS NULL AND suspect = 0;
CREATE INDEX reprise_suspect ON reprise_run(lane, place) WHERE state = 1 AND lease IS NULL AND suspect > 0;
CREATE INDEX reprise_due ON reprise_run(due_at) WHERE due_at IS NOT NULL;
CREATE INDEX reprise_leased ON reprise_run(lease_until) WHERE lease_until IS NOT NULL;
-- Runs that wait to try their resource again, by the claim that ended: when it answers, those before are let in without their wait.
CREATE INDEX reprise_again ON reprise_run(lane, ended_by) WHERE lane < 0 AND state = 2 AND due_at IS NOT NULL;
-- Runs with a concurrency key that are out, ready or parked (waiting without a due time), in this order.
CREATE INDEX reprise_keyed ON reprise_run(concurrency_key, lease, state, lane, place)
  WHERE concurrency_key IS NOT NULL AND finished_at IS NULL AND due_at IS NULL;
CREATE INDEX reprise_review ON reprise_run(id) WHERE state = 3;
CREATE INDEX reprise_failed ON reprise_run(id) WHERE state = 5;

-- Ids are never given again. SQLite's own way to that, AUTOINCREMENT, costs a sixth of a bulk submit.
CREATE TRIGGER reprise_run_newest BEFORE DELETE ON reprise_run
WHEN old.id = (SELECT max(id) FROM reprise_run)
BEGIN
  SELECT raise(ABORT, 'the newest run stays, so that its id is never given to another');
END;

-- Input and output too long for the row, which SQLite rewrites whole at every update.
CREATE TABLE reprise_body(
  run INTEGER PRIMARY KEY,
  input TEXT,
  output TEXT
);

CREATE TABLE reprise_key(
  task TEXT NOT NULL,
  key TEXT NOT NULL,
  run INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX reprise_key_name ON reprise_key(task, key);

-- One row per claim that leased something: the source of tokens, which are never used again.
CREATE TABLE reprise_claim(
  token INTEGER PRIMARY KEY AUTOINCREMENT,
  worker TEXT NOT NULL,
  nonce TEXT NOT NULL,
  alone INTEGER NOT NULL,
  at INTEGER NOT NULL
);

CREATE TABLE reprise_attempt(
  run INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  token INTEGER NOT NULL,
  worker TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  more TEXT
);
CREATE INDEX reprise_attempt_run ON reprise_attempt(run);

CREATE TABLE reprise_journal(
  run INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  name TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  token INTEGER NOT NULL,
  takes INTEGER NOT NULL,
  intent_at INTEGER NOT NULL,
  answered_at INTEGER,
  late INTEGER,
  cost_usd REAL,
  failure TEXT,
  answer TEXT,
  question TEXT
);
CREATE UNIQUE INDEX reprise_journal_entry ON reprise_journal(run, generation, name, input_hash);

CREATE TABLE reprise_note(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run TEXT,
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  what TEXT NOT NULL,
  data TEXT
);
CREATE INDEX reprise_note_run ON reprise_note(run) WHERE run IS NOT NULL;

CREATE TABLE reprise_policy(
  hash TEXT PRIMARY KEY,
  policy TEXT NOT NULL
) WITHOUT ROWID;

-- A flow is known by the run of its first step. Its key outlives it.
CREATE TABLE reprise_flow(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  key TEXT,
  fingerprint TEXT,
  at INTEGER NOT NULL
);
CREATE UNIQUE INDEX reprise_flow_key ON reprise_flow(name, key) WHERE key IS NOT NULL;
CREATE TABLE reprise_step(
  run INTEGER PRIMARY KEY,
  flow INTEGER NOT NULL,
  name TEXT NOT NULL
);
CREATE UNIQUE INDEX reprise_step_name ON reprise_step(flow, name);

-- That a run needs another one: a step another step, a parent the children of a join.
-- kind: 0 fail 1 skip 2 wait 3 join. open: not fulfilled yet. name, generation: the join and the parent's generation, else '' and 0.
-- place: its position among the needs of the step or the children of the join, so that no child is made twice.
CREATE TABLE reprise_need(
  needed INTEGER NOT NULL,
  run INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  open INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  name TEXT NOT NULL,
  place INTEGER NOT NULL,
  PRIMARY KEY (needed, run)
) WITHOUT ROWID;
CREATE UNIQUE INDEX reprise_need_place ON reprise_need(run, generation, name, place);
CREATE INDEX reprise_need_open ON reprise_need(run) WHERE open = 1;

-- A hold is a row of its own and not a column of its lanes, so that lanes made later are held too.
CREATE TABLE reprise_hold(
  what TEXT PRIMARY KEY,
  hold TEXT NOT NULL
) WITHOUT ROWID;
-- How a resource is that failed lately, and the tokens of its retries. A resource that is well has none.
CREATE TABLE reprise_bucket(
  resource TEXT PRIMARY KEY,
  bucket TEXT NOT NULL
) WITHOUT ROWID;

-- What a budget or a rate has given out in one window.
CREATE TABLE reprise_meter(
  name TEXT NOT NULL,
  window_at INTEGER NOT NULL,
  reserved REAL NOT NULL DEFAULT 0,
  spent REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (name, window_at)
) WITHOUT ROWID;

-- lanes, holds: versions, so that a process knows when another one changed the lanes, or the holds and buckets.
INSERT INTO reprise_meta(name, value) VALUES ('schema', 0), ('lanes', 0), ('holds', 0);
`,
  `
-- A budget as it was last used, and the limits that an operator set over its own, both JSON.
CREATE TABLE reprise_budget(
  name TEXT PRIMARY KEY,
  defined TEXT,
  set_over TEXT
) WITHOUT ROWID;

-- What a budget has given out in one window: a day, a month, or the life of a run, which has no end of its own.
-- nano: billionths of a dollar, because whole numbers add up exactly. over: of what is spent, what no reservation had foreseen.
-- limits: those of the latest reservation that was let in.
CREATE TABLE reprise_window(
  budget TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  ends_at INTEGER,
  calls_reserved INTEGER NOT NULL,
  calls_spent INTEGER NOT NULL,
  nano_reserved INTEGER NOT NULL,
  nano_spent INTEGER NOT NULL,
  nano_over INTEGER NOT NULL,
  calls_limit INTEGER,
  nano_limit INTEGER,
  warned REAL NOT NULL,
  PRIMARY KEY (budget, kind, key)
) WITHOUT ROWID;
CREATE INDEX reprise_window_ends ON reprise_window(ends_at) WHERE ends_at IS NOT NULL;

-- One row per send and budget. state: 0 reserved 1 expired 2 spent 3 released. nano: reserved, and once spent what it came to.
-- day, month: the windows that it is counted in; none for the budget of its run.
CREATE TABLE reprise_spend(
  run INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  name TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  take INTEGER NOT NULL,
  token INTEGER NOT NULL,
  budget TEXT NOT NULL,
  state INTEGER NOT NULL,
  until INTEGER NOT NULL,
  nano INTEGER NOT NULL,
  day TEXT,
  month TEXT,
  ends_at INTEGER
);
CREATE UNIQUE INDEX reprise_spend_call ON reprise_spend(run, generation, name, input_hash, take, token, budget);
CREATE INDEX reprise_spend_open ON reprise_spend(budget, until) WHERE state = 0;
`,
  `
-- Since when a ready run can be claimed; NULL: since it was submitted. Of a run that is not ready it says nothing.
ALTER TABLE reprise_run ADD COLUMN ready_at INTEGER;
`,
]

/** The schema that this version of the code reads and writes. */
export const SCHEMA_VERSION = MIGRATIONS.length

export function migrate(connection: Connection, file: string): void {
  // Most openings find nothing to do and need no write lock.
  if (versionOf(connection, file) === SCHEMA_VERSION) return
  for (let step = 0; step < SCHEMA_VERSION; step += 1) {
    connection.exec('BEGIN IMMEDIATE')
    try {
      // Read again under the lock: another process may have taken this step meanwhile.
      const version = versionOf(connection, file)
      const sql = MIGRATIONS[version]
      if (sql !== undefined) {
        connection.exec(sql)
        connection.prepare("UPDATE reprise_meta SET value = ? WHERE name = 'schema'").run(version + 1)
      }
      connection.exec('COMMIT')
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK')
      throw error
    }
  }
}

function versionOf(connection: Connection, file: string): number {
  const known = connection.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'reprise_meta'").get()
  if (known === undefined) return 0
  const row = connection.prepare("SELECT value FROM reprise_meta WHERE name = 'schema'").get()
  const { value: version } = row as { value: number }
  if (version > SCHEMA_VERSION) {
    throw new RepriseError(
      'sqlite.schema',
      `The SQLite store ${file} has schema ${version}, this version of Reprise knows up to ${SCHEMA_VERSION}. Update Reprise; the file was not touched.`,
    )
  }
  return version
}
