/**
 * What `verify` of the Firestore driver checks of concurrency keys: that a line and its runs say the same of each other.
 * It repairs nothing.
 */
import type { Finding } from '../../ports/store.ts'
import { read } from './look.ts'
import { type Place, turnsOf } from './place.ts'
import { isOut, isParked, type Row } from './row.ts'
import { type Line, nextToWake } from './turn.ts'
import { lineOf, turnName } from './turns.ts'
import { readRef, type Unit } from './unit.ts'

export async function wronglyParked(place: Place, row: Row): Promise<string | false> {
  if (!isParked(row)) return false
  if (!row.concurrency) return 'waiting for nothing'
  const { key, max } = row.concurrency
  const line = await lineOfRow(place, row)
  if (!line.waiters.some(({ run }) => run === row.id)) return `it is not in the line of ${key}`
  return nextToWake(line)?.run === row.id && `of ${key} fewer than ${max} are out or before it`
}

export async function uncounted(place: Place, row: Row): Promise<string | false> {
  if (!row.concurrency || !isOut(row)) return false
  return (
    !(await lineOfRow(place, row)).out.includes(row.id) && `it is out, and ${row.concurrency.key} does not count it`
  )
}

const lineOfRow = async (place: Place, row: Row): Promise<Line> =>
  lineOf((await readRef(place, turnsOf(place).doc(turnName(row)))).get('value'))

/** Lines with runs that are not out, or do not wait. */
export async function brokenLines(place: Place, unit: Unit): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const snapshot of (await read(place, turnsOf(place))).docs) {
    const { out, waiters } = lineOf(snapshot.get('value'))
    const key = String(snapshot.get('key'))
    for (const run of out) {
      const row = await unit.row(run)
      if (!row || !isOut(row))
        findings.push({ law: 'a key counts the runs that are out', run, found: `${key} counts it, and it is not out` })
    }
    for (const { run, ready } of waiters) {
      const row = await unit.row(run)
      const isThere = row && (ready ? row.state === 'ready' && !row.lease : isParked(row))
      if (!isThere) findings.push({ law: 'a line has the runs that wait', run, found: `it does not wait for ${key}` })
    }
  }
  return findings
}
