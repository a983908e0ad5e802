/**
 * The form in which catalogues state what they know: cases with a code, a kind, an advice and the evidence that shows them.
 * Data only; how evidence is gathered and how a winner is found is the classifier's affair.
 */
import type { Kind, Layer } from './failure.ts'

/**
 * How telling a piece of evidence is. The most telling one wins; among equals the outermost and first does.
 * A decisive status stands above loose prose and below a vendor's own code; an ambiguous status (400, 403, 500)
 * stands below almost everything, because every vendor hides other things behind those.
 */
export const RANK = {
  /** An exact vendor code, reason or type in a field made for it. */
  code: 80,
  /** A phrase that only one situation uses. */
  says: 60,
  /** A status that means one thing: 401, 429, 503. */
  status: 50,
  /** An error class name. */
  name: 40,
  /** A phrase that usually means this. */
  hint: 30,
  /** What the other side said about repeating, without a reason: `x-should-retry`. */
  flag: 25,
  /** A status or name behind which anything may hide. */
  vague: 20,
  /** A last guess from the surroundings. */
  guess: 10,
} as const

/** Who spoke, as far as the evidence shows. Used to read ambiguous words in their speaker's sense. */
export const SPEAKERS = [
  'google',
  'openai',
  'azure',
  'anthropic',
  'aws',
  'mongodb',
  'postgres',
  'mysql',
  'mssql',
  'sqlite',
  'redis',
  'amqp',
  'bigquery',
  'firestore',
  'gcs',
  'grpc',
  'gateway',
  'html',
] as const
export type Speaker = (typeof SPEAKERS)[number]

export function speakerBit(speaker: Speaker): number {
  return 1 << SPEAKERS.indexOf(speaker)
}

export interface Case {
  /** Stable and namespaced; several cases may share one code. */
  readonly code: string
  readonly kind: Kind
  /** Defaults to `infrastructure` for transient, rate_limited and interrupted, else `workflow`. */
  readonly layer?: Layer
  /** One sentence: what a person can do. */
  readonly advice: string
  /** Name of the rule inside its family; defaults to the code's last part. */
  readonly name?: string
  /** Exact values of code-like fields (`code`, `type`, `reason`, `status`, `__type`, labels). Distinctive ones are also found as words in prose. */
  readonly tokens?: readonly string[]
  /** Tokens that are ordinary words or parameter names in prose: believed in their field only. */
  readonly fields?: readonly string[]
  /** Exact error class names. */
  readonly names?: readonly string[]
  /** HTTP statuses, from a field or named as such in prose. */
  readonly statuses?: readonly number[]
  /** Telling phrases: lower-case words; `..` is a gap of up to six words, `*` any one word; a capital letter makes the phrase case-sensitive. */
  readonly says?: readonly string[]
  /** Phrases that usually mean this, believed only when nothing better speaks. */
  readonly hints?: readonly string[]
  /** The case holds only if one of these speaks. */
  readonly only?: readonly Speaker[]
  /** The case does not hold if one of these speaks. */
  readonly never?: readonly Speaker[]
  /** The case holds only beside one of these statuses. */
  readonly beside?: readonly number[]
  /** Replaces the rank of all evidence in this case. */
  readonly rank?: number
  /** The code taken instead when the other side told a delay: a reset signal wins over a billing word. */
  readonly told?: string
}

export interface Family {
  readonly name: string
  readonly cases: readonly Case[]
  /** Words and tokens that show who speaks. A leading `=` marks a token, a trailing `*` a token prefix; otherwise a phrase. */
  readonly marks?: Readonly<Partial<Record<Speaker, readonly string[]>>>
}

/** One line of the public catalogue. */
export interface CodeEntry {
  readonly code: string
  readonly kind: Kind
  readonly layer: Layer
  readonly advice: string
  /** False for conflicts: a benign race is never stored as an error. */
  readonly storable: boolean
  readonly family: string
}

export function layerOf(kind: Kind): Layer {
  return kind === 'transient' || kind === 'rate_limited' || kind === 'interrupted' ? 'infrastructure' : 'workflow'
}

/** Exact words, written as a paragraph. */
export function words(paragraph: string): string[] {
  return paragraph.trim().split(/\s+/)
}

/** Phrases, written as a paragraph with commas between them. */
export function phrases(paragraph: string): string[] {
  return paragraph.split(',').map((phrase) => phrase.trim().replace(/\s+/g, ' '))
}

/** Cases that differ only in their token: each line is `Token number number…`, the numbers being codes of `numberSpace`. */
export function rows(
  prefix: string,
  shared: Omit<Case, 'code' | 'tokens'>,
  lines: readonly string[],
  numberSpace?: string,
): Case[] {
  return lines.map((line) => {
    const [token = '', ...numbers] = line.split(' ')
    return {
      ...shared,
      code: `${prefix}.${token}`,
      tokens: [token, ...(numberSpace ? numbers.map((number) => `${numberSpace}:${number}`) : [])],
    }
  })
}
