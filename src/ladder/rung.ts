/**
 * A rung of a ladder as its writer gives it, checked at the door: which model is asked how often, at what price, from which budget;
 * or which desk, within which time. It sends nothing.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import { PERSON_ATTEMPTS } from '../policy/ladder.ts'
import type { Policy } from '../policy/policy.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { type AnyModel, idOf, resourceOf } from './model-id.ts'
import { factsOf, type Price, type Prices } from './prices.ts'

/** What one window of a budget allows: calls, or calls and money. */
export type BudgetLimit = number | { readonly calls?: number; readonly usd?: number }

export interface RungBudget {
  readonly name: string
  readonly day?: BudgetLimit
  readonly month?: BudgetLimit
  /** @default "UTC" */
  readonly zone?: string
}

export interface RungOptions {
  /** Shown, stored, and part of the journal's names. @default the resource, such as "gemini:flash" */
  readonly name?: string
  /** Takes in all: the first ask and its corrections. @default 1 */
  readonly attempts?: number
  /** Each send reserves from it: the name of a budget that is defined elsewhere, or its definition. */
  readonly budget?: string | RungBudget
  /** When the budget is used up: a person, the next rung, or wait until its window opens again. @default "person" */
  readonly onExhausted?: 'person' | 'next' | 'wait'
  /** Room for the first answer, in tokens. An answer that was cut off gets twice as much. @default 8,192 */
  readonly maxOutputTokens?: number
  /** The most room an answer may get. @default what the model can give, else four times `maxOutputTokens` */
  readonly maxOutputTokensLimit?: number
  /** One send may take this long. @default "5m" */
  readonly timeout?: Duration
  /** Over the table in `prices.ts`. */
  readonly price?: Price
  /** What is held for everyone when the provider says to wait. @default of the model: "gemini:flash" */
  readonly resource?: string
  /** When an earlier send may or may not have arrived: send again, or ask a person. @default "again" */
  readonly ambiguous?: 'again' | 'person'
  /** Of repeats inside one send. */
  readonly policy?: Policy
  /** Where the provider's API is, instead of its own address: a proxy, or a server on this machine. */
  readonly baseURL?: string
  readonly temperature?: number
  /** Handed on to the provider as they are. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export interface ModelRung extends Omit<RungOptions, 'timeout' | 'budget'> {
  readonly type: 'model'
  readonly name: string
  readonly model: AnyModel
  readonly attempts: number
  readonly budget?: RungBudget
  readonly onExhausted: 'person' | 'next' | 'wait'
  readonly maxOutputTokens: number
  readonly timeoutMs: number
  readonly resource: string
}

export interface DeskOptions {
  readonly queue: string
  /** When it should be answered; past it the next rung gets it, and without one somebody is told. @default "4h" */
  readonly within?: Duration
  /** @default the queue's name */
  readonly name?: string
  /** How many answers the gate may refuse. @default 10 */
  readonly attempts?: number
}

export interface PersonRung {
  readonly type: 'person'
  readonly name: string
  readonly queue: string
  readonly withinMs: number
  readonly attempts: number
}

export type Rung = ModelRung | PersonRung

/** Enough for an ordinary document's answer, and small enough that its worst price is no surprise. */
export const OUTPUT_TOKENS = 8_192
const OUTPUT_TOKENS_MAX = 1_000_000
const ATTEMPTS_MAX = 20
const WITHIN = '4h'

/** A model that thinks for long is not cut short, and one that hangs does not hang for ever. */
export const TIMEOUT = '5m'
const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,59}$/

/**
 * A model's rung.
 * @example rung('google/gemini-pro-latest', { budget: { name: 'pro', day: 50, month: 1_000 } })
 */
export function rung(model: AnyModel, options: RungOptions = {}): ModelRung {
  const resource = options.resource ?? resourceOf(idOf(model))
  const {
    attempts = 1,
    maxOutputTokens = OUTPUT_TOKENS,
    onExhausted = 'person',
    timeout = TIMEOUT,
    budget,
    ...rest
  } = options
  const name = options.name ?? resource.replaceAll('/', '.')
  checkName('rung.name', name)
  checkCount('rung.attempts', attempts, ATTEMPTS_MAX)
  checkCount('rung.maxOutputTokens', maxOutputTokens, OUTPUT_TOKENS_MAX)
  if (rest.maxOutputTokensLimit !== undefined)
    checkCount('rung.maxOutputTokensLimit', rest.maxOutputTokensLimit, OUTPUT_TOKENS_MAX)
  if (!['person', 'next', 'wait'].includes(onExhausted)) refuse('rung.onExhausted', onExhausted, 'person, next, wait')
  if (rest.price) checkPrice(rest.price)
  const drawn = budgetOf(budget)
  if (drawn && capsMoney(drawn) && options.maxOutputTokens === undefined) {
    refuse(
      'rung.maxOutputTokens',
      undefined,
      `a number of tokens, because budget "${drawn.name}" caps money and the worst case of a send must be known`,
    )
  }
  return Object.freeze({
    ...rest,
    type: 'model',
    name,
    model,
    attempts,
    onExhausted,
    maxOutputTokens,
    resource,
    ...(drawn ? { budget: drawn } : {}),
    timeoutMs: parseDuration(timeout, 'rung.timeout'),
  })
}

/**
 * A person is a rung: a desk, and the time within which it should answer.
 * @example person({ queue: 'accounts', within: '4h' })
 */
export function person({ queue, within = WITHIN, name = queue, attempts = PERSON_ATTEMPTS }: DeskOptions): PersonRung {
  checkName('person.queue', queue)
  checkName('person.name', name)
  checkCount('person.attempts', attempts, 100)
  return Object.freeze({ type: 'person', name, queue, withinMs: parseDuration(within, 'person.within'), attempts })
}

function budgetOf(budget: RungOptions['budget']): RungBudget | undefined {
  if (budget === undefined) return undefined
  const named = typeof budget === 'string' ? { name: budget } : budget
  checkName('rung.budget.name', named.name)
  return named
}

/** The most room that an answer may get, in tokens. */
export function roomOf({ model, maxOutputTokens, maxOutputTokensLimit }: ModelRung, prices?: Prices): number {
  return maxOutputTokensLimit ?? factsOf(idOf(model), prices).maxOutputTokens ?? maxOutputTokens * 4
}

/** A name alone refers to a budget that is defined elsewhere. */
export const isDefined = ({ day, month }: RungBudget): boolean => day !== undefined || month !== undefined

const capsMoney = ({ day, month }: RungBudget): boolean =>
  [day, month].some((limit) => typeof limit === 'object' && limit.usd !== undefined)

function checkPrice(price: Price): void {
  for (const field of ['input', 'output', 'cached'] as const) {
    const usd = price[field]
    if (usd === undefined && field === 'cached') continue
    if (!(typeof usd === 'number' && usd >= 0 && Number.isFinite(usd)))
      refuse(`rung.price.${field}`, usd, 'US dollars per million tokens, 0 or more')
  }
}

function checkName(field: string, value: unknown): void {
  if (typeof value !== 'string' || !NAME.test(value))
    refuse(field, value, '1 to 60 letters, digits, ".", "_", ":" or "-", beginning with a letter or digit')
}

function checkCount(field: string, value: unknown, max: number): void {
  if (!(Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max))
    refuse(field, value, `a whole number from 1 to ${max}`)
}

function refuse(field: string, value: unknown, allowed: string): never {
  throw new RepriseError('ladder.invalid', `${field} is ${JSON.stringify(value) ?? 'not given'}. Allowed: ${allowed}.`)
}
