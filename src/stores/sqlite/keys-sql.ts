/**
 * The statements about concurrency keys. All of them read one index, which has the runs of a key that are out, ready or parked, and
 * none reads more of it than a key allows to be out; how many are parked does not matter.
 */
import { sql } from './sql.ts'

const KEYED =
  'reprise_run INDEXED BY reprise_keyed WHERE concurrency_key = ? AND finished_at IS NULL AND due_at IS NULL'
const PARKED = `${KEYED} AND lease IS NULL AND state = 2`

/** A parked run as whoever makes room finds it. */
export interface ParkedRow {
  readonly id: number
  readonly place: number
  readonly max: number
}

export const KEYS_SQL = {
  keysAmong: sql<{ key: string }>(`SELECT concurrency_key AS key FROM reprise_run
    WHERE id IN (SELECT value FROM json_each(?)) AND concurrency_key IS NOT NULL`),
  // A run that a person has in hand is in review, and not out.
  outOfKey: sql<{ runs: number }>(`SELECT count(*) AS runs FROM (SELECT 1 FROM ${KEYED} AND lease > 0 AND state = 1
    LIMIT 0 + ?)`),
  nextParkedLane: sql<{ lane: number }>(`SELECT lane FROM ${PARKED} AND lane > ? ORDER BY lane LIMIT 1`),
  nextParked: sql<ParkedRow>(`SELECT id, place, concurrency_max AS max FROM ${PARKED} AND lane = ?
    ORDER BY place, id LIMIT 1`),
  readyBefore: sql<{
    runs: number
  }>(`SELECT count(*) AS runs FROM (SELECT 1 FROM ${KEYED} AND lease IS NULL AND state = 1
    AND suspect = 0 AND lane = ? AND (place, id) < (?, ?) LIMIT 0 + ?)`),
  park: sql('UPDATE reprise_run SET state = 2 WHERE id IN (SELECT value FROM json_each(?))'),
  unpark: sql('UPDATE reprise_run SET state = 1, ready_at = ? WHERE id = ?'),
} as const
