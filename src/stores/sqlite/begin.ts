/**
 * The next generation of an ended run, for operators, repeated submits and needs that begin again.
 * It does not know who may ask for it, nor what the run needs.
 */
import type { Why } from '../../policy/why.ts'
import { jsonOrNull, readMore, writeMore } from './row.ts'
import type { Tx } from './session.ts'

export interface Asked {
  readonly by: string
  readonly why?: Why
  readonly deadlineAt?: number | undefined
}

/** Everything of the attempts is new, the deadline too; history, money and what the submitter asked for stay. */
export function beginAgain(tx: Tx, run: number, generation: number, asked: Asked): void {
  const { statements } = tx
  const { deadlineAt } = asked
  const { costUsd, maxCostUsd, step, needs, home } = readMore(statements.moreOf.get(run)?.more ?? null)
  const kept = {
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(step === undefined ? {} : { step }),
    ...(needs === undefined ? {} : { needs }),
  }
  statements.beginAgain.run(writeMore(kept), jsonOrNull(asked.why), tx.now, run)
  statements.dropOutput.run(run)
  const lane = statements.laneOfRun.get(run)?.lane
  // What was a retry begins as a first try, whose lane has the same number without the sign; and what has climbed begins below.
  const first = Math.abs(home ?? lane ?? 0)
  if (lane !== undefined && lane !== first) statements.setLane.run(first, run)
  recordAct(tx, run, generation + 1, asked)
}

/** An act in the history of the run, an operator's or the flow's: not an execution, so it has neither attempt nor token. */
export function recordAct({ statements, now }: Tx, run: number, generation: number, { by, why }: Asked): void {
  const more = why === undefined ? null : JSON.stringify({ why })
  statements.insertAttempt.run(run, generation, 0, 0, by, now, now, 'operator', more)
}
