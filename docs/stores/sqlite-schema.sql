-- Schema 3 of the SQLite store, as a new file has it.

CREATE INDEX reprise_again ON reprise_run(lane, ended_by) WHERE lane < 0 AND state = 2 AND due_at IS NOT NULL;

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

CREATE TABLE reprise_body(
  run INTEGER PRIMARY KEY,
  input TEXT,
  output TEXT
);

CREATE TABLE reprise_bucket(
  resource TEXT PRIMARY KEY,
  bucket TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE reprise_budget(
  name TEXT PRIMARY KEY,
  defined TEXT,
  set_over TEXT
) WITHOUT ROWID;

CREATE TABLE reprise_claim(
  token INTEGER PRIMARY KEY AUTOINCREMENT,
  worker TEXT NOT NULL,
  nonce TEXT NOT NULL,
  alone INTEGER NOT NULL,
  at INTEGER NOT NULL
);

CREATE INDEX reprise_due ON reprise_run(due_at) WHERE due_at IS NOT NULL;

CREATE INDEX reprise_failed ON reprise_run(id) WHERE state = 5;

CREATE TABLE reprise_flow(
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  key TEXT,
  fingerprint TEXT,
  at INTEGER NOT NULL
);

CREATE UNIQUE INDEX reprise_flow_key ON reprise_flow(name, key) WHERE key IS NOT NULL;

CREATE TABLE reprise_hold(
  what TEXT PRIMARY KEY,
  hold TEXT NOT NULL
) WITHOUT ROWID;

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

CREATE TABLE reprise_key(
  task TEXT NOT NULL,
  key TEXT NOT NULL,
  run INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  at INTEGER NOT NULL
);

CREATE UNIQUE INDEX reprise_key_name ON reprise_key(task, key);

CREATE INDEX reprise_keyed ON reprise_run(concurrency_key, lease, state, lane, place)
  WHERE concurrency_key IS NOT NULL AND finished_at IS NULL AND due_at IS NULL;

CREATE TABLE reprise_lane(
  id INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  category TEXT,
  resource TEXT,
  again INTEGER NOT NULL,
  keyed INTEGER NOT NULL
);

CREATE UNIQUE INDEX reprise_lane_name ON reprise_lane(task, coalesce(category, 0), coalesce(resource, 0), again, keyed);

CREATE INDEX reprise_leased ON reprise_run(lease_until) WHERE lease_until IS NOT NULL;

CREATE TABLE reprise_meta(
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE reprise_meter(
  name TEXT NOT NULL,
  window_at INTEGER NOT NULL,
  reserved REAL NOT NULL DEFAULT 0,
  spent REAL NOT NULL DEFAULT 0,
  PRIMARY KEY (name, window_at)
) WITHOUT ROWID;

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

CREATE INDEX reprise_need_open ON reprise_need(run) WHERE open = 1;

CREATE UNIQUE INDEX reprise_need_place ON reprise_need(run, generation, name, place);

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

CREATE INDEX reprise_ready ON reprise_run(lane, place) WHERE state = 1 AND lease IS NULL AND suspect = 0;

CREATE INDEX reprise_review ON reprise_run(id) WHERE state = 3;

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
, ready_at INTEGER);

CREATE TRIGGER reprise_run_newest BEFORE DELETE ON reprise_run
WHEN old.id = (SELECT max(id) FROM reprise_run)
BEGIN
  SELECT raise(ABORT, 'the newest run stays, so that its id is never given to another');
END;

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

CREATE TABLE reprise_step(
  run INTEGER PRIMARY KEY,
  flow INTEGER NOT NULL,
  name TEXT NOT NULL
);

CREATE UNIQUE INDEX reprise_step_name ON reprise_step(flow, name);

CREATE INDEX reprise_suspect ON reprise_run(lane, place) WHERE state = 1 AND lease IS NULL AND suspect > 0;

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
