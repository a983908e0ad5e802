/**
 * I10 to I12 and the law of explain: bounded work, right waits, the step that the policy asks for, and decisions that can be
 * computed again from what is stored.
 */

import { isDeepStrictEqual } from 'node:util'
import { delayBounds } from '../../policy/backoff.ts'
import { applyEntry, decide } from '../../policy/decide.ts'
import type { Decision } from '../../policy/decision.ts'
import { executionsBound, ledgerBounds } from '../../policy/executions-bound.ts'
import type { Policy } from '../../policy/policy.ts'
import { EMPTY_LEDGERS, LAPSED_CODE, type Ledgers } from '../../policy/situation.ts'
import { type AttemptRecord, SUSPENSIONS_MAX } from '../../run/run.ts'
import { type History, only } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { type Story, stories } from './story.ts'

/** A host's idea of store time may be this far ahead: its clock ran fast since the last answer. */
const AHEAD_MAX_MS = 5_000

function policyOf(history: History, task: string): Policy {
  const policy = history.policyOf[task]
  if (!policy) throw new Error(`the history names no policy of task ${task}`)
  return policy
}

/** Rows of one generation of one run, with the run's task and deadline. */
function generations(history: History) {
  return history.dump.runs.flatMap((run) =>
    [...grouped([...(history.dump.attempts[run.id] ?? [])], ({ generation }) => String(generation)).values()].map(
      (rows) => ({
        run,
        rows,
        name: `${run.id} generation ${rows[0]?.generation}`,
      }),
    ),
  )
}

export const LEDGERS = [
  invariant(
    'I10',
    'No ledger passes its bound, no token begins twice, and nothing begins after its crashes are spent.',
    (history) => {
      const found: string[] = []
      for (const { run, rows, name } of generations(history)) {
        const bounds = ledgerBounds(policyOf(history, run.task))
        // What a person sent back may fail once more.
        const backs = rows.filter(({ why }) => why?.code === 'review.sent_back').length
        for (const ledger of ['errors', 'rateWaits', 'interruptions', 'escalations'] as const) {
          const used = rows.filter(({ decision }) => decision?.entry === ledger).length
          if (used > bounds[ledger] + backs)
            found.push(`${name}: ${used} ${ledger}, allowed are ${bounds[ledger] + backs}`)
        }
      }
      for (const { id, suspensions } of history.dump.runs) {
        if (suspensions > SUSPENSIONS_MAX + 1) found.push(`${id}: suspended ${suspensions} times`)
      }
      for (const story of stories(history).values()) found.push(...overworked(history, story))
      return found
    },
  ),

  invariant(
    'I11',
    'Nothing is claimed before it is due unless its resource answers again, and each wait is as long as the policy says, in store time.',
    (history) => {
      const found: string[] = []
      for (const { run, steps } of stories(history).values()) {
        for (const { kind, before, line, change, token } of steps) {
          if (kind === 'claimed' && before?.dueAt !== undefined && before.dueAt > line.at)
            found.push(`${run}: claimed at ${line.at}, due at ${before.dueAt}`)
          if (kind !== 'ended' || change?.type !== 'end' || !change.attempt) continue
          const { startedAt, endedAt, decision } = change.attempt
          const claimedAt = before?.holder?.claimedAt ?? 0
          if (!(claimedAt <= startedAt && startedAt <= endedAt && endedAt <= line.at + AHEAD_MAX_MS))
            found.push(
              `${run}: token ${token} was claimed at ${claimedAt}, says ${startedAt} to ${endedAt}, was stored at ${line.at}`,
            )
          const dueAt = decision?.act === 'retry' ? Math.max(decision.at ?? 0, endedAt) : undefined
          if (dueAt !== undefined && (change.dueAt ?? endedAt) !== dueAt)
            found.push(`${run}: due ${change.dueAt}, decided ${dueAt}`)
        }
      }
      for (const { run, rows, name } of generations(history)) {
        for (const row of rows)
          found.push(...wrongWait(policyOf(history, run.task), row).map((wrong) => `${name}: ${wrong}`))
      }
      return found
    },
  ),

  invariant(
    'I12',
    'Each kind of failure takes the step that the policy has for it, and a deadline is kept.',
    (history) => {
      const found: string[] = []
      for (const { run, rows, name } of generations(history)) {
        const [crashes] = rows.filter(({ failure }) => failure?.code === LAPSED_CODE)
        const person = crashes?.decision?.act === 'escalate' || crashes?.decision?.why.code === 'end.deadline'
        if (crashes && !person) found.push(`${name}: its crashes led to ${crashes.decision?.act} and not to a person`)
        for (const row of rows) {
          if (!row.failure || !row.decision) continue
          if (row.failure.code.startsWith('store.'))
            found.push(`${name}: trouble of the store was booked as its failure`)
          if (!rightStep(row, row.decision, policyOf(history, run.task)))
            found.push(
              `${name}: ${row.failure.kind} (${row.failure.code}) led to ${row.decision.act} as ${row.decision.entry}`,
            )
          if (row.deadlineAt !== undefined && (row.decision.at ?? 0) >= row.deadlineAt)
            found.push(`${name}: scheduled at ${row.decision.at}, past its deadline ${row.deadlineAt}`)
        }
      }
      for (const { run, token, seq } of only(history, 'handler').filter(({ does }) => does === 'begin')) {
        const claim = stories(history)
          .get(run)
          ?.steps.find((step) => step.kind === 'claimed' && step.token === token)
        const claimed = claim?.line.verb === 'claim' ? claim.line.runs.find(({ id }) => id === run) : undefined
        const deadlineAt = claimed?.deadlineAt
        if (claim && deadlineAt !== undefined && deadlineAt <= claim.line.at)
          found.push(`${run}: claimed at ${claim.line.at} and begun (line ${seq}), its deadline was ${deadlineAt}`)
      }
      return found
    },
  ),

  invariant(
    'explain',
    'Every stored decision comes out the same when it is computed again from what is stored.',
    (history) =>
      generations(history).flatMap(({ rows, name }) => {
        const found: string[] = []
        let ledgers: Ledgers = EMPTY_LEDGERS
        let lapsedRows = 0
        for (const row of rows) {
          if (row.outcome === 'lapsed') lapsedRows += 1
          const { failure, decision } = row
          if (!failure || !decision) continue
          const policy = JSON.parse(history.dump.policies[row.policy ?? ''] ?? 'null') as Policy | null
          if (!policy)
            found.push(`${name}: attempt ${row.attempt} was decided by policy ${row.policy}, which is not kept`)
          else if (
            !candidates(ledgers, lapsedRows).some((each) =>
              isDeepStrictEqual(plain(again(policy, row, each)), plain(decision)),
            )
          )
            found.push(
              `${name}: attempt ${row.attempt} was decided ${JSON.stringify(decision)}, now ${JSON.stringify(again(policy, row, ledgers))}`,
            )
          ledgers = applyEntry(ledgers, decision, failure)
        }
        return found
      }),
  ),
]

function overworked(history: History, { run, steps }: Story): string[] {
  const found: string[] = []
  const begins = only(history, 'handler').filter((line) => line.run === run && line.does === 'begin')
  const faults = only(history, 'fault')
  for (const [token, lines] of grouped([...begins], (line) => String(line.token))) {
    if (lines.length > 1) found.push(`${run}: begun ${lines.length} times with token ${token}`)
  }
  for (const { kind, from, line } of steps) {
    const hit = kind !== 'lapsed' || faults.some(({ process, seq }) => process === from?.process && seq < line.seq)
    if (!hit) found.push(`${run}: the lease of token ${from?.token} ran out although nothing happened to its worker`)
  }
  const task = history.dump.runs.find(({ id }) => id === run)?.task
  if (task === undefined) return found
  const policy = policyOf(history, task)
  for (const { token, generation } of begins) {
    const claim = steps.find((step) => step.kind === 'claimed' && step.token === token)
    const claimed = claim?.line.verb === 'claim' ? claim.line.runs.find(({ id }) => id === run) : undefined
    const seen = steps.some(
      (step) =>
        step.kind === 'ended' &&
        step.after.state === 'review' &&
        step.after.generation === generation &&
        step.line.seq < (claim?.line.seq ?? 0),
    )
    if (claimed && policy.lapsesMax > 0 && claimed.lapses >= policy.lapsesMax && !seen)
      found.push(`${run}: begun with token ${token} after ${claimed.lapses} crashes, and no person has seen it`)
  }
  for (const [generation, lines] of grouped([...begins], (line) => String(line.generation))) {
    const ofGeneration = steps.filter(({ after }) => String(after.generation) === generation)
    const free = ofGeneration.filter(
      ({ kind, change, from, before }) =>
        (kind === 'lapsed' && !from?.alone) ||
        kind === 'cancelled' ||
        (kind === 'ended' && before?.holder?.isPerson) ||
        (kind === 'ended' && change?.type === 'end' && (change.suspensions ?? 0) > 0),
    ).length
    const bound = executionsBound(policy) + free + 1
    if (lines.length > bound)
      found.push(`${run}: begun ${lines.length} times in generation ${generation}, allowed are ${bound}`)
  }
  return found
}

/** Independent of `decide`: the bounds that hold for any dice. */
function wrongWait(policy: Policy, { failure, decision, endedAt }: AttemptRecord): string[] {
  if (!failure || decision?.act !== 'retry' || decision.at === undefined) return []
  const waitMs = decision.at - endedAt
  const { why } = decision
  if (why.code === 'wait.backoff' || why.code === 'wait.interrupted') {
    const { minMs, maxMs } = delayBounds(policy.kinds[failure.kind].backoff, why.params.used)
    return waitMs >= minMs && waitMs <= maxMs ? [] : [`waits ${waitMs} ms, the policy says ${minMs} to ${maxMs}`]
  }
  if (why.code === 'wait.told' || why.code === 'wait.told_counted') {
    const { minMs, maxMs } = policy.toldDelay
    const told = Math.min(Math.max(Math.ceil(failure.retryAfterMs ?? 0), minMs), maxMs)
    return waitMs === told ? [] : [`waits ${waitMs} ms, told were ${told}`]
  }
  return []
}

/** The table of kinds and steps, written down a second time on purpose. */
function rightStep({ failure }: AttemptRecord, { act, entry, counted }: Decision, { ladder }: Policy): boolean {
  if (!failure) return true
  if ((entry === 'errors') !== counted && act !== 'ignore') return false
  const ends = act === 'fail' && entry === 'errors'
  switch (failure.kind) {
    case 'transient':
      return ends || (act === 'retry' && entry === 'errors')
    case 'rate_limited':
      return ends || (act === 'retry' && entry === (failure.retryAfterMs === undefined ? 'errors' : 'rateWaits'))
    case 'syntax':
    case 'semantic':
      return ends || (act === 'retry' && entry === 'repairs') || (act === 'escalate' && ladder !== undefined)
    case 'refused':
      return ladder === undefined ? ends : ends || act === 'escalate'
    case 'final':
      return ends
    case 'conflict':
      return act === 'ignore' && entry === undefined
    case 'exhausted':
      return ends || (act === 'escalate' && ladder !== undefined) || (act === 'retry' && entry === 'rateWaits')
    case 'interrupted':
      if (failure.code === LAPSED_CODE) return act !== 'ignore' && (act !== 'retry' || entry === 'lapses')
      return ends || (act === 'retry' && (entry === 'interruptions' || entry === 'errors'))
  }
}

/** A suspect's lapse counts for two, so rows give the number of lapses only within bounds. */
function candidates(ledgers: Ledgers, lapsedRows: number): Ledgers[] {
  const most = 2 * lapsedRows + 1
  return Array.from({ length: most + 1 }, (_, lapses) => ({ ...ledgers, lapses }))
}

function again(policy: Policy, row: AttemptRecord, ledgers: Ledgers): Decision {
  const { failure, dice = 0, attempt, endedAt, rung, noProgress, deadlineAt } = row
  if (!failure) throw new Error('a row without a failure decided nothing')
  return decide({
    failure,
    policy,
    ledgers,
    now: endedAt,
    dice,
    attempt,
    ...(rung === undefined ? {} : { rung }),
    ...(noProgress === undefined ? {} : { noProgress }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
  })
}

/** As it comes back from a store. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
