/**
 * Every statement of the hot paths, prepared once per connection. Tests read their query plans.
 * Indexes are named outright, so that no statistics can ever change a plan; predicates of partial indexes are literals.
 * `LIMIT 0 + ?`, because SQLite plans by the value of a bare `LIMIT ?` and so prepares the statement anew at every binding:
 * measured, 13 µs instead of 2 for one row.
 */
import { BUDGET_SQL } from './budget-statements.ts'
import type { Connection, Statement } from './connection.ts'
import { KEYS_SQL } from './keys-sql.ts'
import type { JournalRow } from './row.ts'
import { rawSql, type Sql, sql } from './sql.ts'

/** A run as a claim reads it: before it is leased, or when its claim is repeated, as it is. */
export type ClaimRow = readonly [
  id: number,
  lane: number,
  place: number,
  submittedAt: number,
  leaseUntil: number | null,
  generation: number,
  attempt: number,
  errors: number,
  lapses: number,
  key: string | null,
  more: string | null,
  failure: string | null,
  input: string | null,
]

/** What a claim compares: the place of a run in the order. */
export interface Place {
  readonly id: number
  readonly lane: number
  readonly place: number
  /** Of a run in a lane of keyed runs. */
  readonly concurrency_key?: string
  readonly concurrency_max?: number
}

export interface ExpiredRow {
  readonly id: number
  readonly state: number
  readonly lease: number
  readonly generation: number
  readonly attempt: number
  readonly suspect: number
  readonly more: string | null
  readonly worker: string | null
  readonly alone: number | null
  readonly at: number | null
}

/** A leased run as its owner's commit finds it. */
export interface OwnedRow {
  readonly lane: number
  readonly generation: number
  readonly attempt: number
  readonly errors: number
  readonly lapses: number
  readonly suspect: number
  readonly more: string | null
  readonly why: string | null
  readonly failure: string | null
}

/** A run as a reviewer finds it. */
export interface TakeableRow {
  readonly state: number
  readonly generation: number
  readonly lease_until: number | null
  readonly worker: string | null
}

/** A run as an operator finds it in its queue. */
export interface PlaceRow {
  readonly state: number
  readonly lane: number
  readonly generation: number
  readonly priority: number
  readonly submitted_at: number
  readonly place: number
  readonly due_at: number | null
  readonly lease: number | null
  readonly why: string | null
}

/** A run as retention looks at it. */
export interface EndedRow {
  readonly id: number
  readonly state: number
  readonly submitted_at: number
  readonly finished_at: number | null
  readonly lane: number
  readonly key: string | null
  readonly generation: number
}

/** A key as retention looks at it. */
export interface AgedRow {
  readonly id: number
  readonly at: number
  /** Of its run; null when that is gone. */
  readonly submitted_at: number | null
}

const CLAIM_COLUMNS =
  'id, lane, place, submitted_at, lease_until, generation, attempt, errors, lapses, key, more, failure, input'
const JOURNAL_COLUMNS =
  'name, input_hash, token, takes, intent_at, answered_at, late, cost_usd, failure, answer, question'

export const READY = 'reprise_run INDEXED BY reprise_ready WHERE state = 1 AND lease IS NULL AND suspect = 0'
export const SUSPECT = 'reprise_run INDEXED BY reprise_suspect WHERE state = 1 AND lease IS NULL AND suspect > 0'

const LEASE = 'UPDATE reprise_run SET lease = ?, lease_until = ?, attempt = attempt + 1'
const SUCCEED = `UPDATE reprise_run SET state = 4, lease = NULL, lease_until = NULL, ended_by = lease, finished_at = ?,
    due_at = NULL, suspect = 0, why = NULL, failure = NULL`

const places = (from: string, columns = 'id, lane, place') =>
  `SELECT ${columns} FROM ${from} AND lane = ? ORDER BY place, id LIMIT 0 + ?`

const WITH_KEY = 'id, lane, place, concurrency_key, concurrency_max'

/** The head of each lane that has any: one probe per such lane, whatever the number of lanes and runs. */
const heads = (from: string) => `
  WITH RECURSIVE head(id, lane, place) AS (
    SELECT * FROM (SELECT id, lane, place FROM ${from} ORDER BY lane, place, id LIMIT 1)
    UNION ALL
    SELECT next.id, next.lane, next.place FROM head CROSS JOIN reprise_run AS next
    WHERE next.id = (SELECT id FROM ${from} AND lane > head.lane ORDER BY lane, place, id LIMIT 1)
  )
  SELECT id, lane, place FROM head`

/** A run as its need's end finds it. */
export interface EndRow {
  readonly lane: number
  readonly state: number
  readonly generation: number
  readonly submitted_at: number
  readonly why: string | null
  readonly failure: string | null
}

/** A step as its flow tells it. */
export interface StepRow {
  readonly run: number
  readonly name: string
  readonly state: number
  readonly generation: number
  readonly task: string
}

/** Plain runs that one statement inserts: measured, a third less CPU for each than one by one. */
export const INSERT_MANY = 16

export const SQL = {
  /** The latest instant that any process has stamped. */
  lastStamp: sql<{ at: number }>(`SELECT max(
    coalesce((SELECT at FROM reprise_claim ORDER BY token DESC LIMIT 1), 0),
    coalesce((SELECT submitted_at FROM reprise_run WHERE id = (SELECT max(id) FROM reprise_run)), 0)) AS at`),

  /** Leases that would have ended only because time leapt last as much longer. */
  spareLeases: sql(`UPDATE reprise_run INDEXED BY reprise_leased SET lease_until = lease_until + ?
    WHERE lease_until > ? AND lease_until <= ?`),

  // create
  insertReady: sql(
    'INSERT INTO reprise_run(state, lane, priority, submitted_at, place, input) VALUES (1, ?, ?, ?, ?, ?)',
  ),
  /** Ids follow each other, in the order of the rows. */
  insertReadyMany: sql(`INSERT INTO reprise_run(state, lane, priority, submitted_at, place, input)
    VALUES ${Array(INSERT_MANY).fill('(1, ?, ?, ?, ?, ?)').join(', ')}`),
  insertRun: sql(`INSERT INTO reprise_run(state, lane, priority, submitted_at, place, due_at, key, concurrency_key,
    concurrency_max, more, input) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  insertInput: sql('INSERT INTO reprise_body(run, input) VALUES (?, ?)'),
  findKey: sql<{ run: number; fingerprint: string }>(
    'SELECT run, fingerprint FROM reprise_key WHERE task = ? AND key = ?',
  ),
  insertKey: sql('INSERT INTO reprise_key(task, key, run, fingerprint, at) VALUES (?, ?, ?, ?, ?)'),
  stateOf: sql<{ state: number; generation: number }>('SELECT state, generation FROM reprise_run WHERE id = ?'),

  // claim
  tokenOfNonce: sql<{ token: number }>(
    'SELECT token FROM (SELECT token, nonce FROM reprise_claim ORDER BY token DESC LIMIT 0 + ?) WHERE nonce = ?',
  ),
  promote: sql(`UPDATE reprise_run SET state = 1, due_at = NULL, ready_at = due_at WHERE id IN (
    SELECT id FROM reprise_run INDEXED BY reprise_due WHERE due_at <= ? AND lease IS NULL ORDER BY due_at LIMIT 0 + ?)`),
  bringForward: sql(`UPDATE reprise_run SET state = 1, due_at = NULL, ready_at = ? WHERE id IN (
    SELECT id FROM reprise_run INDEXED BY reprise_again
    WHERE lane < 0 AND state = 2 AND due_at IS NOT NULL AND lane = ? AND ended_by <= ? ORDER BY ended_by LIMIT 0 + ?)`),
  lastToken: sql<{ token: number }>('SELECT token FROM reprise_claim ORDER BY token DESC LIMIT 1'),
  expired: sql<ExpiredRow>(`
    SELECT run.id, run.state, run.lease, run.generation, run.attempt, run.suspect, run.more, claim.worker, claim.alone, claim.at
    FROM reprise_run AS run INDEXED BY reprise_leased LEFT JOIN reprise_claim AS claim ON claim.token = run.lease
    WHERE run.lease_until <= ? ORDER BY run.lease_until LIMIT 0 + ?`),
  lapse:
    sql(`UPDATE reprise_run SET lease = NULL, lease_until = NULL, ready_at = lease_until, suspect = ?, lapses = lapses + ?,
    more = ? WHERE id = ?`),
  dropLease: sql('UPDATE reprise_run SET lease = NULL, lease_until = NULL WHERE id = ?'),
  ready: sql<Place>(places(READY)),
  readyKeyed: sql<Place>(places(READY, WITH_KEY)),
  suspects: sql<Place>(places(SUSPECT, WITH_KEY)),
  readyHeads: sql<Place>(heads(READY)),
  suspectHeads: sql<Place>(heads(SUSPECT)),
  anySuspect: sql<{ id: number }>(`SELECT id FROM ${SUSPECT} LIMIT 1`),
  insertClaim: sql('INSERT INTO reprise_claim(worker, nonce, alone, at) VALUES (?, ?, ?, ?)'),
  readLane: rawSql<ClaimRow>(places(READY, CLAIM_COLUMNS)),
  readIds: rawSql<ClaimRow>(`SELECT ${CLAIM_COLUMNS} FROM reprise_run WHERE id IN (SELECT value FROM json_each(?))`),
  lease: sql(`${LEASE} WHERE id IN (SELECT value FROM json_each(?))`),
  leaseRange: sql(`${LEASE} WHERE id BETWEEN ? AND ?`),
  leasedBy: rawSql<ClaimRow>(`SELECT ${CLAIM_COLUMNS} FROM reprise_run INDEXED BY reprise_leased
    WHERE lease_until IS NOT NULL AND lease = ?`),
  hasJournal: sql<{ found: number }>('SELECT 1 AS found FROM reprise_journal WHERE run = ? AND generation = ? LIMIT 1'),
  inputOf: sql<{ input: string }>('SELECT input FROM reprise_body WHERE run = ?'),
  dueNext: sql<{ at: number; lane: number }>(
    `SELECT due_at AS at, lane FROM reprise_run INDEXED BY reprise_due
    WHERE due_at IS NOT NULL AND lease IS NULL ORDER BY due_at LIMIT 0 + ?`,
  ),
  leasesNext: sql<{ at: number; lane: number }>(`SELECT lease_until AS at, lane
    FROM reprise_run INDEXED BY reprise_leased WHERE lease_until IS NOT NULL ORDER BY lease_until LIMIT 0 + ?`),

  // renew
  renew: sql('UPDATE reprise_run SET lease_until = ? WHERE id IN (SELECT value FROM json_each(?)) AND lease = ?'),
  stillHeld: sql<{ id: number }>(
    'SELECT id FROM reprise_run WHERE id IN (SELECT value FROM json_each(?)) AND lease = ?',
  ),

  // take
  takeable: sql<TakeableRow>(`SELECT run.state, run.generation, run.lease_until, claim.worker
    FROM reprise_run AS run LEFT JOIN reprise_claim AS claim ON claim.token = run.lease WHERE run.id = ?`),
  take: sql('UPDATE reprise_run SET lease = ?, lease_until = ? WHERE id = ?'),

  // commit
  succeedMany: sql(`${SUCCEED} WHERE id IN (SELECT value FROM json_each(?)) AND lease = ?`),
  succeedRange: sql(`${SUCCEED} WHERE id BETWEEN ? AND ? AND lease = ?`),
  succeed: sql(`${SUCCEED}, output = ? WHERE id = ? AND lease = ?`),
  owned: sql<OwnedRow>(`SELECT lane, generation, attempt, errors, lapses, suspect, more, why, failure
    FROM reprise_run WHERE id = ? AND lease = ?`),
  end: sql(`UPDATE reprise_run SET state = ?, lane = ?, lease = NULL, lease_until = NULL, due_at = ?, suspect = ?, attempt = ?,
    errors = ?, lapses = ?, ended_by = ?, finished_at = ?, more = ?, why = ?, failure = ?, output = ?, ready_at = ? WHERE id = ?`),
  setMore: sql('UPDATE reprise_run SET more = ? WHERE id = ?'),
  moreOf: sql<{ more: string | null }>('SELECT more FROM reprise_run WHERE id = ?'),
  keepOutput: sql(`INSERT INTO reprise_body(run, output) VALUES (?, ?)
    ON CONFLICT(run) DO UPDATE SET output = excluded.output`),
  dropOutput: sql('UPDATE reprise_body SET output = NULL WHERE run = ?'),
  insertAttempt:
    sql(`INSERT INTO reprise_attempt(run, generation, attempt, token, worker, started_at, ended_at, outcome, more)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  intent: sql(`INSERT INTO reprise_journal(run, generation, name, input_hash, token, takes, intent_at)
    SELECT id, ?, ?, ?, lease, ?, ? FROM reprise_run WHERE id = ? AND lease = ?
    ON CONFLICT(run, generation, name, input_hash) DO UPDATE SET token = excluded.token, takes = excluded.takes,
      intent_at = excluded.intent_at, failure = NULL,
      answered_at = CASE WHEN late = 1 THEN answered_at END, answer = CASE WHEN late = 1 THEN answer END, late = nullif(late, 0)`),
  entry: sql<JournalRow>(`SELECT ${JOURNAL_COLUMNS} FROM reprise_journal
    WHERE run = ? AND generation = ? AND name = ? AND input_hash = ?`),
  settle: sql(`UPDATE reprise_journal SET answered_at = ?, late = ?, cost_usd = ?, failure = ?, answer = ?
    WHERE run = ? AND generation = ? AND name = ? AND input_hash = ?`),
  putEntry:
    sql(`INSERT INTO reprise_journal(run, generation, ${JOURNAL_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(run, generation, name, input_hash) DO UPDATE SET token = excluded.token, takes = excluded.takes,
      intent_at = excluded.intent_at, answered_at = excluded.answered_at, late = excluded.late,
      cost_usd = excluded.cost_usd, failure = excluded.failure, answer = excluded.answer, question = excluded.question`),
  workerOf: sql<{ worker: string }>('SELECT worker FROM reprise_claim WHERE token = ?'),

  // steer
  cancel: sql(`UPDATE reprise_run SET state = 6, lease = NULL, lease_until = NULL, due_at = NULL, suspect = 0,
    finished_at = ?, why = ? WHERE id = ?`),
  placeOf: sql<PlaceRow>(
    'SELECT state, lane, generation, priority, submitted_at, place, due_at, lease, why FROM reprise_run WHERE id = ?',
  ),
  reorder:
    sql(`UPDATE reprise_run SET state = ?, priority = ?, place = ?, due_at = ?, why = ?, ready_at = coalesce(?, ready_at)
    WHERE id = ?`),
  beginAgain: sql(`UPDATE reprise_run SET state = 1, lease = NULL, lease_until = NULL, due_at = NULL, suspect = 0,
    generation = generation + 1, attempt = 0, errors = 0, lapses = 0, finished_at = NULL, more = ?, why = ?, failure = NULL,
    output = NULL, ready_at = ? WHERE id = ?`),

  // prune
  oldestRuns: sql<EndedRow>(`SELECT id, state, submitted_at, finished_at, lane, key, generation FROM reprise_run
    WHERE id > ? AND id < (SELECT max(id) FROM reprise_run) ORDER BY id LIMIT 0 + ?`),
  newestRun: sql<{ id: number }>('SELECT max(id) AS id FROM reprise_run'),
  endedRun: sql<EndedRow>(
    'SELECT id, state, submitted_at, finished_at, lane, key, generation FROM reprise_run WHERE id = ?',
  ),
  // The steps of a flow are reached through its first one.
  linkedTo: sql<{ run: number }>(`SELECT needed AS run FROM reprise_need INDEXED BY reprise_need_place WHERE run = ?
    UNION ALL SELECT run FROM reprise_need WHERE needed = ?
    UNION ALL SELECT flow FROM reprise_step WHERE run = ?
    UNION ALL SELECT run FROM reprise_step INDEXED BY reprise_step_name WHERE flow = ?`),
  flowKeyOf: sql<{
    key: string
  }>(`SELECT flow.key FROM reprise_step AS step CROSS JOIN reprise_flow AS flow ON flow.id = step.flow
    WHERE step.run = ? AND flow.key IS NOT NULL`),
  dropNeeds: sql('DELETE FROM reprise_need WHERE needed IN (SELECT value FROM json_each(?))'),
  dropSteps: sql('DELETE FROM reprise_step WHERE run IN (SELECT value FROM json_each(?))'),
  dropFlows: sql('DELETE FROM reprise_flow WHERE id IN (SELECT value FROM json_each(?))'),
  dropRuns: sql('DELETE FROM reprise_run WHERE id IN (SELECT value FROM json_each(?))'),
  dropBodies: sql('DELETE FROM reprise_body WHERE run IN (SELECT value FROM json_each(?))'),
  dropAttempts: sql('DELETE FROM reprise_attempt WHERE run IN (SELECT value FROM json_each(?))'),
  dropJournals: sql('DELETE FROM reprise_journal WHERE run IN (SELECT value FROM json_each(?))'),
  ageKey: sql('UPDATE reprise_key SET at = ? WHERE task = ? AND key = ? AND run = ?'),
  oldestKeys: sql<AgedRow>(`SELECT key.rowid AS id, key.at,
      (SELECT submitted_at FROM reprise_run WHERE id = key.run) AS submitted_at
    FROM reprise_key AS key WHERE key.rowid > ? ORDER BY key.rowid LIMIT 0 + ?`),
  dropKeys: sql('DELETE FROM reprise_key WHERE rowid IN (SELECT value FROM json_each(?))'),
  oldestNotes: sql<{ id: number; run: string | null; at: number }>(
    'SELECT id, run, at FROM reprise_note WHERE id > ? ORDER BY id LIMIT 0 + ?',
  ),
  dropNotes: sql('DELETE FROM reprise_note WHERE id IN (SELECT value FROM json_each(?))'),
  oldestClaims: sql<{ token: number; at: number }>(
    'SELECT token, at FROM reprise_claim WHERE token > 0 ORDER BY token LIMIT 0 + ?',
  ),
  firstLeased: sql<{ token: number | null }>(
    'SELECT min(lease) AS token FROM reprise_run INDEXED BY reprise_leased WHERE lease_until IS NOT NULL',
  ),
  dropClaims: sql('DELETE FROM reprise_claim WHERE token <= ?'),

  // flows and needs
  findFlow: sql<{ id: number; fingerprint: string }>(
    'SELECT id, fingerprint FROM reprise_flow INDEXED BY reprise_flow_key WHERE name = ? AND key = ? AND key IS NOT NULL',
  ),
  insertFlow: sql('INSERT INTO reprise_flow(id, name, key, fingerprint, at) VALUES (?, ?, ?, ?, ?)'),
  insertStep: sql('INSERT INTO reprise_step(run, flow, name) VALUES (?, ?, ?)'),
  stepOf: sql<{ flow: number; name: string }>('SELECT flow, name FROM reprise_step WHERE run = ?'),
  stepsOf: sql<StepRow>(`SELECT step.run, step.name, run.state, run.generation, lane.task
    FROM reprise_step AS step INDEXED BY reprise_step_name CROSS JOIN reprise_run AS run ON run.id = step.run
    CROSS JOIN reprise_lane AS lane ON lane.id = run.lane WHERE step.flow = ?`),
  insertNeed: sql(
    'INSERT INTO reprise_need(needed, run, kind, open, generation, name, place) VALUES (?, ?, ?, 1, ?, ?, ?)',
  ),
  anyNeed: sql<{ needed: number }>('SELECT needed FROM reprise_need LIMIT 1'),
  isNeeded: sql<{ run: number }>('SELECT run FROM reprise_need WHERE needed = ? AND open = 1 LIMIT 1'),
  openDependents: sql<{ run: number; kind: number }>(
    'SELECT run, kind FROM reprise_need WHERE needed = ? AND open = 1',
  ),
  neededAmong: sql<{ needed: number }>(
    'SELECT needed FROM json_each(?) AS ended CROSS JOIN reprise_need ON needed = ended.value AND open = 1 LIMIT 1',
  ),
  dependents: sql<{ run: number; kind: number; generation: number }>(
    'SELECT run, kind, generation FROM reprise_need WHERE needed = ?',
  ),
  endOf: sql<EndRow>('SELECT lane, state, generation, submitted_at, why, failure FROM reprise_run WHERE id = ?'),
  fulfil: sql('UPDATE reprise_need SET open = 0 WHERE needed = ? AND run = ?'),
  reopen: sql('UPDATE reprise_need SET open = 1 WHERE needed = ? AND run = ?'),
  closeJoins: sql('UPDATE reprise_need SET open = 0 WHERE run = ? AND open = 1 AND kind = 3'),
  unblock: sql(`UPDATE reprise_run SET state = 1, why = NULL, ready_at = ? WHERE id = ? AND state = 0
    AND NOT EXISTS (SELECT 1 FROM reprise_need INDEXED BY reprise_need_open WHERE run = ? AND open = 1)`),
  blockAgain: sql(`UPDATE reprise_run SET state = 0 WHERE id = ? AND state = 1
    AND EXISTS (SELECT 1 FROM reprise_need INDEXED BY reprise_need_open WHERE run = ? AND open = 1)`),
  endBlocked: sql('UPDATE reprise_run SET state = ?, finished_at = ?, why = ?, failure = ? WHERE id = ? AND state = 0'),
  hopelessNeed: sql<{ needed: number }>(`SELECT need.needed
    FROM reprise_need AS need INDEXED BY reprise_need_open CROSS JOIN reprise_run AS needed ON needed.id = need.needed
    WHERE need.run = ? AND need.open = 1 AND need.kind IN (0, 1) AND needed.state IN (5, 6) LIMIT 1`),

  ...KEYS_SQL,

  // lanes, holds, notes, policies
  versions: sql<{ lanes: number; holds: number }>(`SELECT value AS lanes,
    (SELECT value FROM reprise_meta WHERE name = 'holds') AS holds FROM reprise_meta WHERE name = 'lanes'`),
  lanesChanged: sql("UPDATE reprise_meta SET value = value + 1 WHERE name = 'lanes'"),
  holdsChanged: sql("UPDATE reprise_meta SET value = value + 1 WHERE name = 'holds'"),
  allHolds: sql<{ hold: string }>('SELECT hold FROM reprise_hold ORDER BY what'),
  putHold: sql(
    'INSERT INTO reprise_hold(what, hold) VALUES (?, ?) ON CONFLICT(what) DO UPDATE SET hold = excluded.hold',
  ),
  dropHold: sql('DELETE FROM reprise_hold WHERE what = ?'),
  allBuckets: sql<{ bucket: string }>('SELECT bucket FROM reprise_bucket ORDER BY resource'),
  putBucket: sql(`INSERT INTO reprise_bucket(resource, bucket) VALUES (?, ?)
    ON CONFLICT(resource) DO UPDATE SET bucket = excluded.bucket`),
  dropBucket: sql('DELETE FROM reprise_bucket WHERE resource = ?'),
  laneOfRun: sql<{ lane: number }>('SELECT lane FROM reprise_run WHERE id = ?'),
  setLane: sql('UPDATE reprise_run SET lane = ? WHERE id = ?'),
  leasedLanes: sql<{ lane: number }>(
    'SELECT lane FROM reprise_run INDEXED BY reprise_leased WHERE lease_until IS NOT NULL AND state = 1',
  ),
  meter: sql<{ spent: number }>('SELECT spent FROM reprise_meter WHERE name = ? AND window_at = ?'),
  setMeter: sql(`INSERT INTO reprise_meter(name, window_at, spent) VALUES (?, ?, ?)
    ON CONFLICT(name, window_at) DO UPDATE SET spent = excluded.spent`),
  insertLane: sql('INSERT INTO reprise_lane(id, task, category, resource, again, keyed) VALUES (?, ?, ?, ?, ?, ?)'),
  findLane: sql<{ id: number }>(`SELECT id FROM reprise_lane
    WHERE task = ? AND coalesce(category, 0) = coalesce(?, 0) AND coalesce(resource, 0) = coalesce(?, 0)
      AND again = ? AND keyed = ?`),
  insertNote: sql('INSERT INTO reprise_note(run, at, by, what, data) VALUES (?, ?, ?, ?, ?)'),
  keepPolicy: sql('INSERT INTO reprise_policy(hash, policy) VALUES (?, ?) ON CONFLICT(hash) DO NOTHING'),
  ...BUDGET_SQL,
} as const

export type Statements = {
  readonly [Name in keyof typeof SQL]: (typeof SQL)[Name] extends Sql<infer Row> ? Statement<Row> : never
}

/** Each prepared at its first use: for a connection that only some of them are asked of. */
export function prepareLazily(connection: { prepare(sql: string): Statement }): Statements {
  const prepared: Record<string, Statement> = {}
  for (const [name, { text }] of Object.entries(SQL)) {
    let statement: Statement | undefined
    Object.defineProperty(prepared, name, {
      get: () => {
        statement ??= connection.prepare(text)
        return statement
      },
    })
  }
  return prepared as unknown as Statements
}

export function prepareAll(connection: Connection): Statements {
  const prepare = ({ text, raw }: Sql<unknown>) => {
    const statement = connection.prepare(text)
    return raw ? statement.raw?.(true) : statement
  }
  const prepared = Object.entries(SQL).map(([name, each]) => [name, prepare(each)] as const)
  return Object.fromEntries(prepared) as unknown as Statements
}
