/**
 * How the event catalogue describes an event and its fields: values for the reference page and types for the compiler, from one line.
 * It knows nothing of which events there are.
 */
import type { Failure } from '../failure/failure.ts'
import type { Decision } from '../policy/decision.ts'
import type { LedgerName } from '../policy/situation.ts'
import type { Why } from '../policy/why.ts'

/** `Value` lives in the type only; `type` is the same thing in words. */
export interface Field<Value, Optional extends boolean = boolean> {
  readonly type: string
  readonly says: string
  readonly optional: Optional
  readonly value?: Value
}

export type Fields = Readonly<Record<string, Field<unknown>>>

type ValueOf<F> = F extends Field<infer Value> ? Value : never

type OptionalName<F extends Fields> = { [Name in keyof F]: F[Name]['optional'] extends true ? Name : never }[keyof F]

/** The record that a set of fields describes. */
export type RecordOf<F extends Fields> = {
  readonly [Name in Exclude<keyof F, OptionalName<F>>]: ValueOf<F[Name]>
} & {
  readonly [Name in OptionalName<F>]?: ValueOf<F[Name]>
}

const field =
  <Value>(type: string) =>
  (says: string): Field<Value, false> => ({ type, says, optional: false })

export const text = field<string>('text')
export const texts = field<readonly string[]>('list of texts')
export const count = field<number>('count')
export const yes = field<boolean>('boolean')
/** An instant, epoch milliseconds of the store's clock. */
export const instant = field<number>('instant')
export const millis = field<number>('milliseconds')
export const usd = field<number>('US dollars')
export const failureField = field<Failure>('Failure, masked')
export const whyField = field<Why>('Why')
export const decisionField = field<Decision>('Decision')
export const ledgerField = field<LedgerName>('name of a ledger')
export const bag = field<Readonly<Record<string, unknown>>>('object')

export const word = <const Words extends readonly string[]>(
  words: Words,
  says: string,
): Field<Words[number], false> => ({
  type: words.map((each) => `\`${each}\``).join(' or '),
  says,
  optional: false,
})

/** The same field, which may be absent. */
export const maybe = <Value>({ type, says }: Field<Value, false>): Field<Value, true> => ({
  type,
  says,
  optional: true,
})

/** What a ledger counts, in a sentence. */
export const LEDGER_WORDS = {
  errors: 'attempts',
  rateWaits: 'told waits',
  interruptions: 'interruptions',
  lapses: 'crashes',
  repairs: 'repairs',
  escalations: 'rungs',
} as const

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export type Level = (typeof LEVELS)[number]

/** How a sentence names instants and reasons. */
export interface Voice {
  readonly time: (at: number) => string
  readonly say: (why: Why) => string
}

export interface Entry<F extends Fields> {
  readonly level: Level
  /** When it happens, for the reference page. */
  readonly when: string
  readonly fields: F
  readonly sentence: (event: RecordOf<F>, voice: Voice) => string
}

export const entry = <const F extends Fields>(
  level: Level,
  when: string,
  fields: F,
  sentence: Entry<F>['sentence'],
): Entry<F> => ({ level, when, fields, sentence })
