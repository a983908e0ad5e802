/**
 * `verify`: every invariant that can be read from the tables, one finding per breach, and SQLite's own check of the file.
 * It repairs nothing.
 */
import type { Finding } from '../../ports/store.ts'
import { faultOfBucket, faultOfHold } from '../../run/check-hold.ts'
import { covers, type Hold } from '../../run/hold.ts'
import type { RetryBucket } from '../../run/retry-bucket.ts'
import { turn } from '../../time/clock.ts'
import type { Readers } from './read.ts'
import { idOf, laneOf, numberOf } from './row.ts'
import { BUDGET_LAWS } from './verify-budgets.ts'

/** More of one kind tell nothing new. */
const FINDINGS_MAX = 100

/** Runs looked at before others may run. */
const STRETCH = 10_000

interface Breach {
  readonly run: number
  readonly found: string
}

/** Each selects the runs between two ids that break the law, and in what way. */
const LAWS: readonly (readonly [law: string, sql: string])[] = [
  ['a state is one of the seven', rows("'state ' || state", 'state NOT BETWEEN 0 AND 6')],
  [
    'a lease only on a run that is ready or in review',
    rows(
      "'state ' || state || ', lease ' || coalesce(lease, 'none')",
      '(lease IS NOT NULL AND state NOT IN (1, 3)) OR (lease IS NULL) <> (lease_until IS NULL)',
    ),
  ],
  [
    'a due time only on waiting or review',
    rows("'a due time on state ' || state", 'due_at IS NOT NULL AND state NOT IN (2, 3)'),
  ],
  [
    'an output only on succeeded',
    rows(
      "'an output on state ' || state",
      'state <> 4 AND coalesce(output, (SELECT output FROM reprise_body AS body WHERE body.run = run.id)) IS NOT NULL',
    ),
  ],
  [
    'a finish time exactly on ended runs',
    rows(
      "'finished at ' || coalesce(finished_at, 'none') || ' in state ' || state",
      '(finished_at IS NOT NULL) <> (state IN (4, 5, 6))',
    ),
  ],
  ['a suspect is not finished', rows("'a suspect in state ' || state", 'suspect <> 0 AND state IN (4, 5, 6)')],
  [
    'a token was given out by a claim',
    rows(
      "'token ' || max(coalesce(lease, 0), coalesce(ended_by, 0)) || ' is past the last claim'",
      "max(coalesce(lease, 0), coalesce(ended_by, 0)) > coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'reprise_claim'), 0)",
    ),
  ],
  ['a run has its lane', rows("'lane ' || lane || ' does not exist'", 'lane NOT IN (SELECT id FROM reprise_lane)')],
  [
    'a run has its input',
    rows("'no input'", 'input IS NULL AND (SELECT input FROM reprise_body AS body WHERE body.run = run.id) IS NULL'),
  ],
  [
    'a key points to its run',
    rows(
      "'no entry for the key ' || key",
      'key IS NOT NULL AND NOT EXISTS (SELECT 1 FROM reprise_key AS named JOIN reprise_lane AS lane ON lane.id = run.lane WHERE named.task = lane.task AND named.key = run.key AND named.run = run.id)',
    ),
  ],
  [
    'a need is open only while it is not fulfilled',
    needs(
      "'its need r' || needed.id || ' has state ' || needed.state || ', and yet is open'",
      'needed.state = 4 OR (need.kind = 3 AND needed.state IN (5, 6))',
    ),
  ],
  [
    'no run waits for what cannot come',
    needs(
      "'its need r' || needed.id || ' has state ' || needed.state",
      'run.state = 0 AND need.kind IN (0, 1) AND needed.state IN (5, 6)',
    ),
  ],
  [
    'blocked exactly while a need is open',
    rows(
      "'state ' || state || ', open needs ' || (SELECT count(*) FROM reprise_need AS need WHERE need.run = run.id AND open = 1)",
      'state IN (0, 1, 2, 3) AND (state = 0) <> EXISTS (SELECT 1 FROM reprise_need AS need WHERE need.run = run.id AND open = 1)',
    ),
  ],
  [
    'what ended by its need has such a need',
    rows(
      "'state ' || state || ' by ' || (why ->> '$.code')",
      `state IN (5, 6) AND why ->> '$.code' IN ('end.need_failed', 'run.skipped') AND NOT EXISTS (
        SELECT 1 FROM reprise_need AS need JOIN reprise_run AS needed ON needed.id = need.needed
        WHERE need.run = run.id AND need.open = 1 AND need.kind IN (0, 1) AND needed.state IN (5, 6))`,
    ),
  ],
  [
    'no run is parked whose key has room',
    rows(
      "coalesce('fewer than ' || concurrency_max || ' of ' || concurrency_key || ' are out or before it', 'waiting for nothing')",
      `state = 2 AND due_at IS NULL AND (concurrency_key IS NULL OR concurrency_max >
        (SELECT count(*) FROM reprise_run AS other INDEXED BY reprise_keyed WHERE other.concurrency_key = run.concurrency_key
          AND other.finished_at IS NULL AND other.due_at IS NULL AND other.lease > 0) +
        (SELECT count(*) FROM reprise_run AS other INDEXED BY reprise_keyed WHERE other.concurrency_key = run.concurrency_key
          AND other.finished_at IS NULL AND other.due_at IS NULL AND other.lease IS NULL AND other.state = 1 AND other.suspect = 0
          AND other.lane = run.lane AND (other.place, other.id) < (run.place, run.id)))`,
    ),
  ],
  ['ledgers are the fold of history', ledgers()],
  [
    'cost is what the journal settled',
    `SELECT id AS run, cost || ' USD, the journal has ' || settled AS found FROM (
      SELECT id, coalesce(more ->> 'costUsd', 0.0) AS cost,
        (SELECT coalesce(sum(cost_usd), 0.0) FROM reprise_journal AS entry WHERE entry.run = run.id) AS settled
      FROM reprise_run AS run WHERE id BETWEEN ? AND ?)
    WHERE abs(cost - settled) > 1e-9 LIMIT ${FINDINGS_MAX}`,
  ],
]

/** Laws about rows of other tables, over all of them. */
const OTHER_LAWS: readonly (readonly [law: string, sql: string])[] = [
  [
    'a key points to its run',
    `SELECT named.run, 'the key ' || named.key || ' points to another run''s' AS found
    FROM reprise_key AS named JOIN reprise_run AS run ON run.id = named.run WHERE run.key IS NOT named.key LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'a need ties two runs',
    `SELECT run, 'it needs r' || needed || ', which is not there' AS found FROM reprise_need
    WHERE needed NOT IN (SELECT id FROM reprise_run) OR run NOT IN (SELECT id FROM reprise_run) LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'a step belongs to a flow and to a run',
    `SELECT run, 'the step ' || name || ' of r' || flow AS found FROM reprise_step
    WHERE flow NOT IN (SELECT id FROM reprise_flow) OR run NOT IN (SELECT id FROM reprise_run) LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'a need is of one flow, or of a join',
    `SELECT need.run, 'it needs r' || need.needed || ' of ' || CASE need.kind WHEN 3 THEN 'generation ' || need.generation ELSE 'another flow' END AS found
    FROM reprise_need AS need JOIN reprise_run AS run ON run.id = need.run
    WHERE CASE need.kind WHEN 3 THEN need.generation > run.generation
      ELSE (SELECT flow FROM reprise_step WHERE run = need.run) IS NOT (SELECT flow FROM reprise_step WHERE run = need.needed)
        OR NOT EXISTS (SELECT 1 FROM reprise_step WHERE run = need.run) END LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'a flow has its steps and its key',
    `SELECT id AS run, 'a step of it is not there' AS found FROM reprise_flow AS flow
    WHERE NOT EXISTS (SELECT 1 FROM reprise_step AS step WHERE step.run = flow.id AND step.flow = flow.id)
      OR id NOT IN (SELECT id FROM reprise_run) LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'a journal entry belongs to a run',
    `SELECT run, 'the entry ' || name AS found FROM reprise_journal
    WHERE run NOT IN (SELECT id FROM reprise_run) LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'history is in order',
    `SELECT attempt.run, 'generation ' || attempt.generation || ' of ' || run.generation AS found
    FROM reprise_attempt AS attempt JOIN reprise_run AS run ON run.id = attempt.run
    WHERE attempt.generation > run.generation LIMIT ${FINDINGS_MAX}`,
  ],
  [
    'history is in order',
    `SELECT run, 'generation ' || generation || ', token ' || token || ' after generation ' || generation_before || ', token ' || token_before AS found
    FROM (SELECT run, generation, token, attempt,
        lag(generation) OVER story AS generation_before, lag(token) OVER story AS token_before
      FROM reprise_attempt WINDOW story AS (PARTITION BY run ORDER BY rowid))
    WHERE generation_before > generation OR (generation_before = generation AND attempt > 0 AND token_before >= token)
    LIMIT ${FINDINGS_MAX}`,
  ],
]

function rows(found: string, broken: string): string {
  return `SELECT id AS run, ${found} AS found FROM reprise_run AS run
    WHERE id BETWEEN ? AND ? AND (${broken}) LIMIT ${FINDINGS_MAX}`
}

/** Open needs of the runs between two ids that break the law. */
function needs(found: string, broken: string): string {
  return `SELECT run.id AS run, ${found} AS found FROM reprise_run AS run
    CROSS JOIN reprise_need AS need INDEXED BY reprise_need_open ON need.run = run.id AND need.open = 1
    CROSS JOIN reprise_run AS needed ON needed.id = need.needed
    WHERE run.id BETWEEN ? AND ? AND (${broken}) LIMIT ${FINDINGS_MAX}`
}

/** A suspect that lapsed alone counts for its shared crashes too, so lapses may be more than their rows, but not without any. */
function ledgers(): string {
  const entries = (name: string) =>
    `(SELECT count(*) FROM reprise_attempt AS attempt WHERE attempt.run = run.id AND attempt.generation = run.generation
      AND attempt.more ->> '$.decision.entry' = '${name}')`
  const names = ['rateWaits', 'interruptions', 'escalations']
  const lapsed = `(SELECT count(*) FROM reprise_attempt AS attempt
    WHERE attempt.run = run.id AND attempt.generation = run.generation AND attempt.outcome = 'lapsed')`
  const wrong = [
    `errors <> ${entries('errors')}`,
    ...names.map((name) => `coalesce(more ->> '${name}', 0) <> ${entries(name)}`),
    `(lapses < ${lapsed} OR (lapses > 0 AND ${lapsed} = 0))`,
  ]
  return rows(
    `'errors ' || errors || ', lapses ' || lapses || ', others ' || coalesce(more, 'none')`,
    wrong.join(' OR '),
  )
}

interface ProbeRow {
  readonly task: string
  readonly category: string | null
  readonly resource: string | null
}

/** Holds and buckets are few, and each is looked at as a whole. */
function ofHolds(readers: Readers): Finding[] {
  const finding = (law: string, found: string | undefined, run?: string): Finding[] =>
    found === undefined ? [] : [{ law, found, ...(run === undefined ? {} : { run }) }]
  const [given] = readers.all<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'reprise_claim'")
  const holds = readers.all<{ what: string; hold: string }>('SELECT what, hold FROM reprise_hold').flatMap((row) => {
    const hold = JSON.parse(row.hold) as Hold
    const { probing } = hold
    const [lane] = probing ? readers.all<ProbeRow>(PROBE_SQL, numberOf(probing.run), probing.token) : []
    const astray =
      lane && !covers(hold.what, laneOf(lane))
        ? `${row.what} has its probe in ${JSON.stringify(laneOf(lane))}`
        : undefined
    const unknown =
      probing && probing.token > (given?.seq ?? 0) ? `${row.what} has a probe with token ${probing.token}` : undefined
    return [
      ...finding('a hold is of something, and in one of its phases', faultOfHold(row.what, hold)),
      ...finding('a probe is of the lane that is held', astray, probing?.run),
      ...finding('a token was given out by a claim', unknown, probing?.run),
    ]
  })
  const buckets = readers.all<{ resource: string; bucket: string }>('SELECT resource, bucket FROM reprise_bucket')
  return [
    ...holds,
    ...buckets.flatMap(({ resource, bucket }) =>
      finding(
        'a bucket is of its resource, and in one of its phases',
        faultOfBucket(resource, JSON.parse(bucket) as RetryBucket),
      ),
    ),
  ]
}

const PROBE_SQL = `SELECT task, category, resource FROM reprise_run AS run JOIN reprise_lane AS lane ON lane.id = run.lane
  WHERE run.id = ? AND run.lease = ?`

export async function verify(readers: Readers): Promise<Finding[]> {
  const findings: Finding[] = []
  const add = (law: string, breaches: readonly Breach[]) => {
    findings.push(...breaches.map(({ run, found }) => ({ law, run: idOf(run), found })))
  }
  const [newest] = readers.all<{ id: number }>('SELECT id FROM reprise_run ORDER BY id DESC LIMIT 1')
  for (let from = 1; from <= (newest?.id ?? 0); from += STRETCH) {
    for (const [law, sql] of LAWS) add(law, readers.all<Breach>(sql, from, from + STRETCH - 1))
    await turn()
  }
  for (const [law, sql] of OTHER_LAWS) add(law, readers.all<Breach>(sql))
  for (const [law, sql] of BUDGET_LAWS)
    for (const { run, found } of readers.all<{ run: string | null; found: string }>(`${sql} LIMIT ${FINDINGS_MAX}`))
      findings.push({ law, found, ...(run === null ? {} : { run }) })
  findings.push(...ofHolds(readers))
  const checked = readers.all<{ integrity_check: string }>(`PRAGMA integrity_check(${FINDINGS_MAX})`)
  for (const { integrity_check: found } of checked)
    if (found !== 'ok') findings.push({ law: 'the file is sound', found })
  return findings
}
