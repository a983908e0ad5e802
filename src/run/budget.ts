/**
 * Hard budgets as arithmetic: what a send reserves in which windows, whether it still fits, and what its end makes of it.
 * Pure, and the same for every store; where tallies are kept and what makes a write atomic is a store's affair.
 */
import { windowOf } from '../time/window.ts'

export type BudgetWindow = 'day' | 'month' | 'run'

export type BudgetUnit = 'calls' | 'usd'

/** Absent: no cap. */
export interface WindowLimits {
  readonly calls?: number
  readonly usd?: number
}

export type BudgetLimits = Readonly<Partial<Record<BudgetWindow, WindowLimits>>>

/** What happens to a run that finds its budget used up: a person gets it, or it waits until the window ends. */
export type OnExhausted = 'person' | 'wait'

/** A budget as its users define it; kept by the store, so that readers without the code know it too. */
export interface BudgetDefinition {
  readonly zone: string
  readonly limits: BudgetLimits
  readonly onExhausted: OnExhausted
  /** Shares of a limit, 0.8 for 80 %: the reservation that reaches one says so, once in each window. */
  readonly warnAt: readonly number[]
}

/** What one physical send takes from one budget before it is sent. */
export interface Reserve extends BudgetDefinition {
  readonly budget: string
  readonly calls: 1
  /** The worst case of this send; 0 when it costs nothing or money is not capped. */
  readonly usd: number
  /** Then it is spent, whatever became of it. */
  readonly lastsMs: number
}

/** The budget that `maxCostUsd` of a run is: one window as long as the run. */
export const RUN_BUDGET = 'run'

export interface Over {
  readonly budget: string
  readonly window: BudgetWindow
  readonly unit: BudgetUnit
  readonly used: number
  readonly reserved: number
  readonly limit: number
  /** When the window ends; absent for a run's own. */
  readonly resetsAt?: number
}

export interface BudgetWarning extends Over {
  /** The share of the limit that is reached. */
  readonly share: number
}

/** A send that cost more than its worst case. */
export interface Overshoot {
  readonly budget: string
  readonly usd: number
  readonly reservedUsd: number
}

/** What an answer tells of them, by the names of their budgets. */
export function overshotBy(found: readonly Overshoot[]): { readonly overshot?: readonly Overshoot[] } {
  if (found.length === 0) return {}
  return { overshot: [...found].sort((a, b) => (a.budget < b.budget ? -1 : 1)) }
}

/**
 * What a budget has given out in one window. Money in nano-dollars, because whole numbers add up exactly.
 * The limits are those of the latest reservation that was let in: so it can be checked that nothing was ever let in above them.
 */
export interface Tally {
  readonly callsReserved: number
  readonly callsSpent: number
  readonly nanoReserved: number
  readonly nanoSpent: number
  /** Of what is spent, how much no reservation had foreseen. */
  readonly nanoOver: number
  readonly callsLimit?: number
  readonly nanoLimit?: number
  /** The highest share that was warned of. */
  readonly warned: number
}

export const NO_TALLY: Tally = Object.freeze({
  callsReserved: 0,
  callsSpent: 0,
  nanoReserved: 0,
  nanoSpent: 0,
  nanoOver: 0,
  warned: 0,
})

/** A window by name: `pro`, `day`, `2026-11-15`. */
export interface Place {
  readonly budget: string
  readonly window: BudgetWindow
  readonly key: string
  readonly endsAt?: number
}

/** One send under one budget, kept until its windows are forgotten, so that nothing is settled twice. */
export interface Spend {
  readonly budget: string
  /** Of its windows: the day and the month, or the run. */
  readonly day?: string
  readonly month?: string
  readonly nano: number
  readonly until: number
  /** `expired`: spent, because its time was over and nobody had said how it ended. */
  readonly state: 'reserved' | 'expired' | 'spent' | 'released'
}

const NANO = 1_000_000_000

export const nanoOf = (usd: number): number => Math.round(usd * NANO)
export const usdOf = (nano: number): number => nano / NANO

/** Two reservations of one budget would each be let in as if the other were not there. */
export function checkReserves(reserves: readonly Reserve[]): void {
  const names = new Set<string>()
  for (const { budget } of reserves) {
    if (names.has(budget)) throw new RangeError(`reserve: budget ${JSON.stringify(budget)} twice; allowed is each once`)
    names.add(budget)
  }
}

/** Day and month are counted even where they are not capped: a cap that is set later then finds what was used. */
export function placesOf({ budget, zone, limits }: Reserve, run: string, now: number): Place[] {
  if (limits.run) return [{ budget, window: 'run', key: run }]
  return (['day', 'month'] as const).map((window) => {
    const { key, endsAt } = windowOf(window, now, zone)
    return { budget, window, key, endsAt }
  })
}

export interface Counted {
  readonly place: Place
  readonly tally: Tally
}

/** The limits in force: an operator's own win, each by itself. */
export function inForce(defined: BudgetLimits, set: BudgetLimits | undefined): BudgetLimits {
  if (!set) return defined
  const merged = (window: BudgetWindow) => {
    const both = { ...defined[window], ...set[window] }
    return Object.keys(both).length > 0 ? { [window]: both } : {}
  }
  return { ...merged('day'), ...merged('month'), ...merged('run') }
}

/** Lets a send in or not: `over` names the first limit that it would pass, and then nothing at all is taken. */
export function admit(
  { calls, usd, warnAt }: Pick<Reserve, 'calls' | 'usd' | 'warnAt'>,
  limits: BudgetLimits,
  counted: readonly Counted[],
): { readonly over: Over } | { readonly counted: readonly Counted[]; readonly warned: readonly BudgetWarning[] } {
  const nano = nanoOf(usd)
  for (const each of counted) {
    const over = firstOver(each, limits[each.place.window], calls, nano)
    if (over) return { over }
  }
  const warned: BudgetWarning[] = []
  const after = counted.map(({ place, tally }) => {
    const { calls: callsLimit, usd: usdLimit } = limits[place.window] ?? {}
    const { callsLimit: _callsLimit, nanoLimit: before, ...counts } = tally
    // What costs nothing was not measured by the limit, so it does not stand for it either.
    const nanoLimit = nano === 0 ? before : usdLimit === undefined ? undefined : nanoOf(usdLimit)
    const next: Tally = {
      ...counts,
      callsReserved: tally.callsReserved + calls,
      nanoReserved: tally.nanoReserved + nano,
      ...(callsLimit === undefined ? {} : { callsLimit }),
      ...(nanoLimit === undefined ? {} : { nanoLimit }),
    }
    const warning = warningOf(place, next, warnAt)
    if (!warning) return { place, tally: next }
    warned.push(warning)
    return { place, tally: { ...next, warned: warning.share } }
  })
  return { counted: after, warned }
}

function firstOver(
  { place, tally }: Counted,
  limits: WindowLimits | undefined,
  calls: number,
  nano: number,
): Over | undefined {
  const { callsSpent, callsReserved, nanoSpent, nanoReserved } = tally
  if (limits?.calls !== undefined && callsSpent + callsReserved + calls > limits.calls)
    return { ...named(place), unit: 'calls', used: callsSpent, reserved: callsReserved, limit: limits.calls }
  // What costs nothing passes: it cannot make an overshoot worse.
  if (limits?.usd !== undefined && nano > 0 && nanoSpent + nanoReserved + nano > nanoOf(limits.usd))
    return { ...named(place), unit: 'usd', used: usdOf(nanoSpent), reserved: usdOf(nanoReserved), limit: limits.usd }
  return undefined
}

const named = ({ budget, window, endsAt }: Place) => ({
  budget,
  window,
  ...(endsAt === undefined ? {} : { resetsAt: endsAt }),
})

/** The highest share that is reached for the first time, of the unit that is nearest to its limit. */
function warningOf(place: Place, tally: Tally, warnAt: readonly number[]): BudgetWarning | undefined {
  const { callsSpent, callsReserved, callsLimit, nanoSpent, nanoReserved, nanoLimit } = tally
  const ofCalls = callsLimit ? (callsSpent + callsReserved) / callsLimit : 0
  const ofMoney = nanoLimit ? (nanoSpent + nanoReserved) / nanoLimit : 0
  const reached = Math.max(ofCalls, ofMoney)
  const share = Math.max(0, ...warnAt.filter((each) => each <= reached && each > tally.warned))
  if (share === 0) return undefined
  const figures =
    ofCalls >= ofMoney
      ? { unit: 'calls' as const, used: callsSpent, reserved: callsReserved, limit: callsLimit ?? 0 }
      : { unit: 'usd' as const, used: usdOf(nanoSpent), reserved: usdOf(nanoReserved), limit: usdOf(nanoLimit ?? 0) }
  return { ...named(place), ...figures, share }
}

/** What was reserved, in the windows that were counted. */
export function spendOf(reserve: Reserve, places: readonly Place[], now: number): Spend {
  const keyOf = (window: BudgetWindow) => places.find((place) => place.window === window)?.key
  const day = keyOf('day')
  const month = keyOf('month')
  return {
    budget: reserve.budget,
    ...(day === undefined ? {} : { day }),
    ...(month === undefined ? {} : { month }),
    nano: nanoOf(reserve.usd),
    until: now + reserve.lastsMs,
    state: 'reserved',
  }
}

/** The windows that a spend was counted in. */
export function placesOfSpend({ budget, day, month }: Spend, run: string): Omit<Place, 'endsAt'>[] {
  if (day === undefined || month === undefined) return [{ budget, window: 'run', key: run }]
  return [
    { budget, window: 'day', key: day },
    { budget, window: 'month', key: month },
  ]
}

/** The verdict on a send. `spend` without a cost keeps the worst case. */
export interface Settlement {
  readonly settle: 'spend' | 'release'
  readonly costUsd?: number
}

export interface Settled {
  readonly spend: Spend
  readonly change: (tally: Tally) => Tally
  readonly overshoot?: Overshoot
}

/** A reservation whose time is over is spent with its worst case; `undefined` while it is not over, or has ended. */
export function expired(spend: Spend, now: number): Settled | undefined {
  if (spend.state !== 'reserved' || now < spend.until) return undefined
  return { spend: { ...spend, state: 'expired' }, change: (tally) => paid(tally, spend.nano, spend.nano) }
}

/**
 * The end of a reservation, once: `undefined` when it has ended already.
 * After its time it is never given back, nor made cheaper: a limit that counted it may have been reported as kept.
 */
export function settled(spend: Spend, { settle, costUsd }: Settlement, now: number): Settled | undefined {
  if (spend.state === 'spent' || spend.state === 'released') return undefined
  const late = expired(spend, now)
  if (spend.state === 'expired' || late) {
    const told = settle === 'release' || costUsd === undefined ? 0 : nanoOf(costUsd)
    const nano = Math.max(told, spend.nano)
    const change = (tally: Tally) => dearer(late ? late.change(tally) : tally, nano - spend.nano)
    return { spend: { ...spend, state: 'spent', nano }, change, ...overshot(spend, nano) }
  }
  if (settle === 'release')
    return { spend: { ...spend, state: 'released', nano: 0 }, change: (tally) => givenBack(tally, spend.nano) }
  const nano = costUsd === undefined ? spend.nano : nanoOf(costUsd)
  return {
    spend: { ...spend, state: 'spent', nano },
    change: (tally) => paid(tally, spend.nano, nano),
    ...overshot(spend, nano),
  }
}

const givenBack = (tally: Tally, reserved: number): Tally => ({
  ...tally,
  callsReserved: tally.callsReserved - 1,
  nanoReserved: tally.nanoReserved - reserved,
})

function paid(tally: Tally, reserved: number, nano: number): Tally {
  const { callsSpent, nanoSpent, nanoOver, ...rest } = givenBack(tally, reserved)
  const over = Math.max(0, nano - reserved)
  return { ...rest, callsSpent: callsSpent + 1, nanoSpent: nanoSpent + nano, nanoOver: nanoOver + over }
}

const dearer = (tally: Tally, nano: number): Tally => ({
  ...tally,
  nanoSpent: tally.nanoSpent + nano,
  nanoOver: tally.nanoOver + nano,
})

const overshot = ({ budget, nano: reserved }: Spend, nano: number) =>
  nano > reserved ? { overshoot: { budget, usd: usdOf(nano), reservedUsd: usdOf(reserved) } } : {}
