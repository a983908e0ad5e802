/**
 * What a call takes from budgets: the reservations of one send, the failure when one of them is refused, and what is told of it.
 * Whether there is room is decided by the store, in the write that also keeps the intent.
 */
import { type FailureError, failure } from '../failure/own.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { CommitAnswer } from '../ports/store.ts'
import { type OnExhausted, type Over, type Reserve, RUN_BUDGET } from '../run/budget.ts'
import { usedUp } from '../run/budget-events.ts'
import type { Execution } from './execution.ts'

export interface BudgetUse {
  readonly name: string
  /** The worst case of one send, US dollars. Needed where the budget caps money. */
  readonly usdMax?: number
}

export interface SpendOptions {
  /** What each send takes, reserved before it: a budget that is used up means that nothing is sent. */
  readonly budget?: BudgetUse | readonly BudgetUse[]
  /** The worst case of one send, US dollars: for budgets that name none of their own, and for what the run may cost. */
  readonly usdMax?: number
}

/** Time to write the answer of a send that used all of its own. */
const ANSWER_MS = 60_000

/** A send without a limit of its own is taken for lost after this. */
const LASTS_MS = 15 * 60_000

/** The reservations that each send of a call makes; `undefined` when it needs none. Checked before anything is written. */
export function reservesOf(execution: Execution, options: SpendOptions): readonly Reserve[] | undefined {
  const { budget = [], usdMax } = options
  const { maxCostUsd } = execution.run
  if (usdMax !== undefined) checkUsd('usdMax', usdMax)
  const uses: readonly BudgetUse[] = 'name' in budget ? [budget] : budget
  const reserves = uses.map((use) => reserveOf(execution, use, usdMax))
  const twice = uses.find(({ name }, index) => uses.findIndex((use) => use.name === name) !== index)
  if (twice)
    throw new RepriseError('budget.twice_in_call', `budget names "${twice.name}" twice. Allowed: each budget once.`)
  if (maxCostUsd === undefined) return reserves.length > 0 ? reserves : undefined
  const usd = usdMax ?? Math.max(0, ...reserves.map((each) => each.usd))
  const ofRun = { zone: 'UTC', limits: { run: { usd: maxCostUsd } }, onExhausted: 'person', warnAt: [] } as const
  return [...reserves, { budget: RUN_BUDGET, ...ofRun, calls: 1, usd, lastsMs: LASTS_MS }]
}

function reserveOf(execution: Execution, { name, usdMax }: BudgetUse, otherwise: number | undefined): Reserve {
  const definition = execution.parts.budgets.get(name)
  const usd = usdMax ?? otherwise
  if (usd === undefined && capsMoney(definition))
    throw new RepriseError(
      'budget.usd_max',
      `budget "${name}" caps money, and the call has no usdMax. Allowed: the most that one send may cost, US dollars.`,
    )
  if (usd !== undefined) checkUsd(`usdMax of budget "${name}"`, usd)
  return { budget: name, ...definition, calls: 1, usd: usd ?? 0, lastsMs: LASTS_MS }
}

const capsMoney = ({ limits }: Pick<Reserve, 'limits'>): boolean =>
  limits.day?.usd !== undefined || limits.month?.usd !== undefined

function checkUsd(field: string, usd: unknown): void {
  if (typeof usd === 'number' && usd >= 0 && usd <= 1_000_000) return
  throw new RepriseError(
    'budget.usd_max',
    `${field} is ${JSON.stringify(usd)}. Allowed: US dollars from 0 to 1,000,000.`,
  )
}

/** The same reservations for a send that may last so long. */
export const lasting = (reserves: readonly Reserve[], limitMs: number | undefined): readonly Reserve[] =>
  limitMs === undefined ? reserves : reserves.map((each) => ({ ...each, lastsMs: Math.ceil(limitMs) + ANSWER_MS }))

/** System errors of the two steps before the first byte leaves: looking the name up, and connecting. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set(['connect', 'getaddrinfo'])
const NEVER_SENT: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

/** Wrappers of clients are a few deep. */
const CAUSES_MAX = 8

/**
 * Whether it is sure that nothing was sent: the system itself says that there was no connection. Words of a message prove nothing,
 * because a gateway that was reached may tell of the one behind it.
 */
export function wasNeverSent(thrown: unknown, depth = 0): boolean {
  if (typeof thrown !== 'object' || thrown === null || depth > CAUSES_MAX) return false
  const { code, syscall, cause, errors } = thrown as Record<string, unknown>
  // One address after the other was tried.
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => wasNeverSent(each, depth + 1))
  return (NEVER_SENT.has(code) && BEFORE_SENDING.has(syscall)) || wasNeverSent(cause, depth + 1)
}

/** `gemini:pro` is told as `budget.gemini/pro`, because codes have no colons. */
export const budgetCode = (name: string): string => `budget.${name.replace(/[:@]/g, '/')}`

/** A send that was refused: told, and thrown as a failure that a ladder may catch. */
export function refusal(execution: Execution, call: string, over: Over): FailureError {
  const { budget, window, resetsAt } = over
  const next = window === 'run' ? 'failure' : execution.parts.budgets.get(budget).onExhausted
  execution.emit('budget.refused', { call, ...over, next })
  const message = usedUp(over)
  const now = execution.parts.time.now()
  const thrown = failure({
    kind: 'exhausted',
    code: budgetCode(budget),
    message,
    facts: { ...over },
    ...(resetsAt === undefined ? {} : { retryAfterMs: Math.max(0, resetsAt - now) }),
  })
  execution.overBudget = { thrown, leave: leaveFor(over, next) }
  return thrown
}

/** What becomes of the attempt if nobody catches it: what the budget says; the run's own cap leaves it to the policy. */
function leaveFor({ budget, window, used, reserved, limit, unit, resetsAt }: Over, next: OnExhausted | 'failure') {
  if (window === 'run' || resetsAt === undefined || next === 'failure') return undefined
  const params = { budget, window, unit, used: used + reserved, cap: limit, resetsAt, next } as const
  return { type: 'budget', at: resetsAt, why: { code: 'budget.spent', params } } as const
}

export function tellBudgets(execution: Execution, call: string, { warned, overshot }: Partial<CommitAnswer>): void {
  const { emitter, time, worker, budgets } = execution.parts
  for (const warning of warned ?? []) emitter.emit({ name: 'budget.warned', at: time.now(), worker, ...warning })
  for (const { budget, usd: costUsd, reservedUsd } of overshot ?? []) {
    // Where nobody said what a send may cost, and nothing caps it, no cost is a surprise.
    const isCapped = reservedUsd > 0 || (budget !== RUN_BUDGET && capsMoney(budgets.get(budget)))
    if (isCapped) execution.emit('budget.overshot', { call, budget, costUsd, reservedUsd })
  }
}
