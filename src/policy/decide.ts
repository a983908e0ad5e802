/**
 * What to do about a failure: one pure, total function from a situation to a decision, and the bookkeeping after it.
 * It knows no clock, no dice and no store; what it is not told it does not see.
 *
 * The laws that callers may lean on:
 * - Every decision but `ignore` makes exactly one entry, and no ledger passes its bound. So any sequence of failures ends
 *   within `executionsBound(policy)` executions.
 * - `at` is a whole number, never before `now` and always before `deadlineAt`.
 * - The same situation gives the same decision.
 */
import { type Failure, UNKNOWN_CODE } from '../failure/failure.ts'
import { backoffLabel, delayAfter } from './backoff.ts'
import type { Decision } from './decision.ts'
import { REVIEW, type RungShape, repairsOf } from './ladder.ts'
import type { KindRule, Recourse } from './policy.ts'
import { type ErrorKey, LAPSED_CODE, type LedgerName, type Ledgers, type Situation } from './situation.ts'
import type { Reasons, Why } from './why.ts'

/** A month's budget heals within 31 days; nothing of our own is waited for longer. */
const WINDOW_MAX_MS = 32 * 86_400_000

/** Codes of quotas that heal when a day turns. Providers tell seconds with them that free nothing, so what they tell is a lower bound. */
const DAY_QUOTA = /\.quota\.day$/

/** Twenty looks reach over any day, wherever it turns. */
const DAY_QUOTA_LOOK_MS = 2 * 3_600_000

export function decide(situation: Situation): Decision {
  const { failure, policy, now } = situation
  const rule = policy.kinds[failure.kind] ?? policy.kinds.transient
  const stuck = stuckReason(situation, rule)
  if (stuck) return instead(situation, rule.whenSpent, stuck)
  switch (rule.recourse) {
    case 'ignore':
      return { act: 'ignore', counted: false, why: { code: 'ignored', params: { message: failure.message } } }
    case 'retry':
      return failure.kind === 'interrupted' ? afterInterruption(situation, rule) : again(situation, rule)
    case 'repair':
      return repair(situation, rule)
    case 'wait':
      return waitForWindow(situation, rule) ?? instead(situation, rule.whenSpent, reasonOf(failure, now))
    default:
      // Without a rung to go to, a limit that says when it heals is waited for rather than ended on.
      return (
        goOn(situation, rule.recourse, reasonOf(failure, now)) ??
        waitForWindow(situation, rule) ??
        end(reasonOf(failure, now))
      )
  }
}

/** The ledgers after a decision. Corrections start anew on another rung, and only there. */
export function applyEntry(ledgers: Ledgers, decision: Decision, failure: Failure): Ledgers {
  const { entry } = decision
  if (entry === undefined) return ledgers
  const after = { ...ledgers, [entry]: ledgers[entry] + 1 }
  if (decision.rung !== undefined) after.repairs = 0
  if (entry === 'errors') {
    const key = errorKey(failure)
    after.errorsByKind = { ...ledgers.errorsByKind, [key]: (ledgers.errorsByKind[key] ?? 0) + 1 }
  }
  return after
}

/** A reason with its parameters, before it is known where it leads. */
type Reason = {
  [Code in keyof Reasons]: { readonly code: Code; readonly params: Reasons[Code]; readonly spent?: LedgerName }
}[keyof Reasons]

/** Repeat after a wait: told if the other side said so, else by backoff. */
function again(situation: Situation, rule: KindRule): Decision {
  const { failure, policy, ledgers } = situation
  const told = failure.retryAfterMs
  if (DAY_QUOTA.test(failure.code)) return afterDayQuota(situation, rule)
  if (told === undefined || Number.isNaN(told)) return afterError(situation, rule)
  const { minMs, maxMs, beyond } = policy.toldDelay
  if (told > maxMs && beyond === 'fail') {
    return ended({ code: 'end.told_too_long', params: { toldMs: told, maxMs, message: failure.message } })
  }
  const toldMs = Math.min(Math.max(Math.ceil(told), minMs), maxMs)
  if (failure.kind !== 'rate_limited' || policy.rateWaitsMax === 0) return afterError(situation, rule, toldMs)
  const used = ledgers.rateWaits + 1
  const max = policy.rateWaitsMax
  if (used > max) {
    const params = { used: ledgers.rateWaits, max, message: failure.message }
    return instead(situation, rule.whenSpent, { code: 'rate_waits_spent', params, spent: 'rateWaits' })
  }
  const until = later(situation.now, toldMs)
  return scheduled(situation, until, 'rateWaits', {
    code: 'wait.told',
    params: { until, used, max, ...teller(failure) },
  })
}

/** Nothing helps before the day turns: a call ends at once, a stored run looks again now and then, uncounted. */
function afterDayQuota(situation: Situation, rule: KindRule): Decision {
  const { failure, policy, ledgers, now } = situation
  const { message } = failure
  if (policy.toldDelay.beyond === 'fail') return ended({ code: 'end.quota_day', params: { message } })
  const used = ledgers.rateWaits + 1
  const max = policy.rateWaitsMax
  if (max === 0) return afterError(situation, rule, DAY_QUOTA_LOOK_MS)
  if (used > max) {
    const params = { used: ledgers.rateWaits, max, message }
    return instead(situation, rule.whenSpent, { code: 'rate_waits_spent', params, spent: 'rateWaits' })
  }
  const until = later(now, Math.max(DAY_QUOTA_LOOK_MS, failure.retryAfterMs ?? 0))
  return scheduled(situation, until, 'rateWaits', { code: 'wait.window', params: { until, used, max, message } })
}

/** Counts an error, and repeats while the kind's own cap and the policy's bound allow it. */
function afterError(situation: Situation, rule: KindRule, toldMs?: number): Decision {
  const { failure, policy, ledgers, now, dice } = situation
  const used = ledgers.errors + 1
  const max = policy.maxAttempts
  const key = errorKey(failure)
  const cap = Math.min(max, rule.maxAttempts ?? max, key === 'unknown' ? policy.unknownMaxAttempts : max)
  const usedOfKind = (ledgers.errorsByKind[key] ?? 0) + 1
  if (used >= max || usedOfKind >= cap) {
    const byKind = used < max || (cap < max && usedOfKind >= cap)
    const figures = byKind ? { used: usedOfKind, max: cap, kind: key } : { used, max }
    return instead(situation, rule.whenSpent, {
      code: 'errors_spent',
      params: { ...figures, message: failure.message },
      spent: 'errors',
    })
  }
  if (toldMs !== undefined) {
    const until = later(now, toldMs)
    return scheduled(situation, until, 'errors', {
      code: 'wait.told_counted',
      params: { until, used, max, ...teller(failure) },
    })
  }
  const at = later(now, delayAfter(rule.backoff, used, dice))
  return scheduled(situation, at, 'errors', {
    code: 'wait.backoff',
    params: { attempt: nextAttempt(situation), at, backoff: backoffLabel(rule.backoff), dice, used, max },
  })
}

/** Our own stop: a release is free a few times and then an error; a lapse is a crash, and too many of them need a person. */
function afterInterruption(situation: Situation, rule: KindRule): Decision {
  const { failure, policy, ledgers, now, dice } = situation
  if (failure.code === LAPSED_CODE && policy.lapsesMax > 0) return afterLapse(situation, rule)
  const used = ledgers.interruptions + 1
  const max = policy.interruptionsMax
  if (used > max) return afterError(situation, rule)
  const at = later(now, delayAfter(rule.backoff, used, dice))
  return scheduled(situation, at, 'interruptions', { code: 'wait.interrupted', params: { at, used, max } })
}

function afterLapse(situation: Situation, rule: KindRule): Decision {
  const { policy, ledgers, now, dice } = situation
  const used = ledgers.lapses + 1
  const max = policy.lapsesMax
  if (used < max) {
    const at = later(now, delayAfter(rule.backoff, used, dice))
    return scheduled(situation, at, 'lapses', { code: 'wait.lapsed', params: { at, used, max } })
  }
  const reason = { code: 'lapses_spent', params: { used: Math.min(used, max), max }, spent: 'lapses' } as const
  // A run that came back from a person and lapses again goes to the next person, or ends: nobody is asked twice.
  if (used > max) return instead(situation, 'person', reason)
  const why: Why = { code: 'person.lapses_spent', params: { ...reason.params, to: REVIEW } }
  const handedOver = goOn(situation, 'person', reason) ?? scheduled(situation, now, 'lapses', why)
  if (handedOver.act === 'fail') return handedOver
  return { to: REVIEW, ...handedOver, act: 'escalate', entry: 'lapses', spent: 'lapses' }
}

/** Why a bad answer is not asked for again, whatever the ledgers say. */
function stuckReason({ failure, asked, noProgress }: Situation, rule: KindRule): Reason | undefined {
  const isAnswer = failure.kind === 'syntax' || failure.kind === 'semantic'
  if (!isAnswer || (rule.recourse !== 'repair' && rule.recourse !== 'retry')) return undefined
  if (asked) return { code: 'asked', params: { message: failure.message } }
  return noProgress ? { code: 'no_progress', params: { message: failure.message } } : undefined
}

/** Ask again with the errors, while the rung (or, without a ladder, the kind) allows it and it can still help. */
function repair(situation: Situation, rule: KindRule): Decision {
  const { failure, policy, ledgers, now, dice, deadlineAt } = situation
  const { message } = failure
  const rung = currentRung(situation)
  const max = rung ? repairsOf(rung) : (rule.maxAttempts ?? policy.maxAttempts) - 1
  const used = ledgers.repairs + 1
  if (used > max) {
    const on = rung ? { on: rung.name } : {}
    const params = { used: Math.min(ledgers.repairs, max), max, ...on, message }
    return instead(situation, rule.whenSpent, { code: 'repairs_spent', params, spent: 'repairs' })
  }
  const reserveMs = policy.limits?.finalizeReserveMs
  const leftMs = deadlineAt === undefined ? Number.POSITIVE_INFINITY : deadlineAt - now
  if (reserveMs !== undefined && leftMs <= reserveMs) {
    return instead(situation, rule.whenSpent, { code: 'time_short', params: { leftMs, reserveMs, message } })
  }
  const at = later(now, delayAfter(rule.backoff, used, dice))
  return scheduled(situation, at, 'repairs', { code: 'ask.again', params: { repair: used, max } })
}

/** A budget's window is waited for like a told delay: not counted, in the same ledger. Undefined when it cannot be waited for. */
function waitForWindow(situation: Situation, rule: KindRule): Decision | undefined {
  const { failure, policy, ledgers, now } = situation
  const told = failure.retryAfterMs
  const max = policy.rateWaitsMax
  if (failure.kind !== 'exhausted' || rule.recourse === 'fail' || max === 0) return undefined
  if (told === undefined || Number.isNaN(told)) return undefined
  const { minMs, maxMs, beyond } = policy.toldDelay
  if (beyond === 'fail' && told > maxMs) return undefined
  const { message } = failure
  const used = ledgers.rateWaits + 1
  if (used > max) {
    const params = { used: ledgers.rateWaits, max, message }
    return instead(situation, rule.whenSpent, { code: 'rate_waits_spent', params, spent: 'rateWaits' })
  }
  const until = later(now, Math.min(Math.max(Math.ceil(told), minMs), WINDOW_MAX_MS))
  return scheduled(situation, until, 'rateWaits', { code: 'wait.window', params: { until, used, max, message } })
}

/** What follows when a recourse is spent. */
function instead(situation: Situation, then: KindRule['whenSpent'], reason: Reason): Decision {
  return goOn(situation, then, reason) ?? end(reason)
}

/** To the next rung, or to the next person. Undefined when there is none, or when the ladder was climbed often enough. */
function goOn(situation: Situation, to: Recourse, reason: Reason): Decision | undefined {
  const ladder = situation.policy.ladder
  if (!ladder || (to !== 'escalate' && to !== 'person')) return undefined
  if (situation.ledgers.escalations >= ladder.length - 1) return undefined
  const from = situation.rung ?? 0
  const position = ladder.findIndex((rung, index) => index > from && (to === 'escalate' || rung.type === 'person'))
  const rung = ladder[position]
  if (!rung) return undefined
  const decision = scheduled(situation, situation.now, 'escalations', whyMoved(rung, reason))
  if (decision.act === 'fail') return decision
  const spent = reason.spent ? { spent: reason.spent } : {}
  return { ...decision, act: 'escalate', to: rung.name, rung: position, ...spent }
}

function whyMoved(rung: RungShape, { code, params }: Reason): Why {
  const person = rung.type === 'person'
  const within = person ? { withinMs: rung.withinMs } : {}
  // The catalogue has each reason under `next.` and `person.` with the same parameters.
  return { code: `${person ? 'person' : 'next'}.${code}`, params: { ...params, to: rung.name, ...within } } as Why
}

/** A repeat at `at`, unless that is at or past the deadline: then the end. */
function scheduled(situation: Situation, at: number, entry: LedgerName, why: Why): Decision {
  const { deadlineAt, failure } = situation
  if (deadlineAt !== undefined && at >= deadlineAt) {
    return ended({ code: 'end.deadline', params: { deadlineAt, at, message: failure.message } })
  }
  return { act: 'retry', at, counted: entry === 'errors', entry, why }
}

function end({ code, params, spent }: Reason): Decision {
  // The catalogue has each reason under `end.` with the same parameters.
  return ended({ code: `end.${code}`, params } as Why, spent)
}

/** The last execution is booked as an error. There is room: a run with a full errors ledger has ended before. */
function ended(why: Why, spent?: LedgerName): Decision {
  return { act: 'fail', counted: true, entry: 'errors', ...(spent ? { spent } : {}), why }
}

/** The reason that lies in the kind itself. */
function reasonOf({ kind, message, advice, retryAfterMs }: Failure, now: number): Reason {
  switch (kind) {
    case 'refused':
      return { code: 'refused', params: { message } }
    case 'final':
      return { code: 'final', params: { message, advice } }
    case 'exhausted':
      return { code: 'exhausted', params: retryAfterMs ? { message, until: later(now, retryAfterMs) } : { message } }
    default:
      return { code: 'policy', params: { kind, message } }
  }
}

const errorKey = (failure: Failure): ErrorKey => (failure.code === UNKNOWN_CODE ? 'unknown' : failure.kind)

const currentRung = ({ policy, rung = 0 }: Situation): RungShape | undefined => policy.ladder?.[rung]

/** Epoch milliseconds, whole and exact. */
const later = (now: number, ms: number) => Math.min(Math.ceil(now + ms), Number.MAX_SAFE_INTEGER)

/** Executions are numbered over all of them; without a number the entries tell how many there were at least. */
function nextAttempt({ attempt, ledgers }: Situation): number {
  if (attempt !== undefined) return attempt + 1
  const { errors, rateWaits, interruptions, lapses, repairs, escalations } = ledgers
  return errors + rateWaits + interruptions + lapses + repairs + escalations + 2
}

/** Whom we wait for and who said so, when the failure's facts tell. */
function teller({ facts }: Failure): { resource?: string; toldBy?: string } {
  const resource = facts?.['resource']
  const toldBy = facts?.['toldBy']
  return {
    ...(typeof resource === 'string' ? { resource } : {}),
    ...(typeof toldBy === 'string' ? { toldBy } : {}),
  }
}
