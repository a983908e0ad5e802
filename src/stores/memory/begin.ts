/**
 * The next generation of an ended run: everything of the attempts is new, history and money stay.
 * It does not know who asks for it or whether they may.
 */
import type { Why } from '../../policy/why.ts'
import { EMPTY_LEDGERS } from '../../run/run.ts'
import { copy, type Row, type Tables } from './rows.ts'

export function beginAgain(
  tables: Tables,
  row: Row,
  now: number,
  act: { readonly by: string; readonly why?: Why; readonly deadlineAt?: number | undefined },
): void {
  row.generation += 1
  row.deadlineAt = act.deadlineAt
  row.state = 'ready'
  row.readyAt = now
  row.again = false
  row.lane = row.home
  row.dueAt = undefined
  row.lease = undefined
  row.attempt = 0
  row.ledgers = EMPTY_LEDGERS
  row.suspensions = 0
  row.suspect = false
  row.uncounted = 0
  row.lapsed = undefined
  row.rung = 0
  row.why = act.why && copy(act.why)
  row.failure = undefined
  row.output = undefined
  row.progress = undefined
  row.finishedAt = undefined
  tables.open.add(row)
  recordAct(row, now, act)
}

/** An operator's act in the history of the run: not an execution, so it has neither attempt nor token. */
export function recordAct(row: Row, now: number, act: { readonly by: string; readonly why?: Why }): void {
  row.history.push(
    copy({
      generation: row.generation,
      attempt: 0,
      token: 0,
      worker: act.by,
      startedAt: now,
      endedAt: now,
      outcome: 'operator',
      ...(act.why ? { why: act.why } : {}),
    }),
  )
}
