/**
 * What the study is made on: the sample invoices with their right answers, the faults at three rates, and what one request costs.
 * The same for every strategy; none of them is known here.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import rules from '../../samples/invoice.gate.ts'
import { findDocuments, type SourceDocument } from '../../src/extract/documents.ts'
import { type ReadDocument, readDocument } from '../../src/extract/read-document.ts'
import { type Gate, gate } from '../../src/gate/gate.ts'
import type { Rule } from '../../src/gate/rule.ts'
import { CHEAP, STRONG } from '../../src/ladder/ladder.ts'
import { factsOf } from '../../src/ladder/prices.ts'
import type { FaultPlan, Rates } from '../../src/sim/fault-plan.ts'
import type { LoggedRequest } from '../../src/sim/request-log.ts'

export { CHEAP, STRONG }

const samples = fileURLToPath(new URL('../../samples/', import.meta.url))

export interface StudyDocument {
  readonly source: SourceDocument
  readonly content: ReadDocument
  /** As a person would read it. */
  readonly right: unknown
}

export interface World {
  readonly documents: readonly StudyDocument[]
  readonly schema: Readonly<Record<string, unknown>>
  readonly gate: Gate
}

/** Every sample that says anything. */
export async function studyWorld(): Promise<World> {
  const text = (name: string) => readFile(`${samples}${name}`, 'utf8')
  const schema = JSON.parse(await text('invoice.schema.json'))
  const gold = new Map<string, unknown>(
    (await text('expected.jsonl'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ document, expected }) => [document, expected]),
  )
  const sources = (await findDocuments([`${samples}invoices`])).filter(({ name }) => gold.has(name))
  const documents = await Promise.all(
    sources.map(async (source) => ({ source, content: await readDocument(source), right: gold.get(source.name) })),
  )
  return { documents, schema, gate: gate(schema, rules as unknown as readonly Rule[]) as Gate }
}

export interface Level {
  readonly name: string
  /** Of the rates below. */
  readonly times: number
}

export const LEVELS: readonly Level[] = [
  { name: 'half', times: 0.5 },
  { name: 'stated', times: 1 },
  { name: 'double', times: 2 },
]

/** Per request, by model. Round numbers for a study and no claim about any provider. */
export const RATES: Readonly<Record<'cheap' | 'strong', Rates>> = {
  cheap: {
    'rate-limit': 0.04,
    overloaded: 0.04,
    reset: 0.01,
    truncated: 0.02,
    fenced: 0.03,
    prose: 0.02,
    'no-json': 0.01,
    'missing-fields': 0.03,
    'wrong-total-anew': 0.05,
    safety: 0.005,
  },
  strong: {
    'rate-limit': 0.02,
    overloaded: 0.03,
    reset: 0.01,
    'missing-fields': 0.005,
    'wrong-total-anew': 0.01,
    safety: 0.005,
  },
}

/** Per document: what a model cannot do with it, it cannot do again. */
export const ALWAYS: Readonly<Record<'cheap' | 'strong', Rates>> = {
  cheap: { 'wrong-net': 0.06 },
  strong: { 'wrong-net': 0.01 },
}

export function planOf({ times }: Level, images: FaultPlan['images']): FaultPlan {
  const scaled = (rates: Rates): Rates =>
    Object.fromEntries(Object.entries(rates).map(([fault, rate]) => [fault, (rate ?? 0) * times]))
  return {
    rates: scaled(RATES.cheap),
    always: scaled(ALWAYS.cheap),
    retryAfter: '1s',
    models: { pro: { rates: scaled(RATES.strong), always: scaled(ALWAYS.strong) } },
    ...(images ? { images } : {}),
  }
}

/** What damaged scans show, for the simulator to read. */
export async function pictures(): Promise<FaultPlan['images']> {
  return (JSON.parse(await readFile(`${samples}faults.json`, 'utf8')) as FaultPlan).images
}

/** As the provider bills it: tokens that it generated, at list price. */
export function usdOf({ model, tokens }: LoggedRequest): number {
  const { input = 0, output = 0 } = factsOf(`google/${model}`)
  return (tokens.input * input + (tokens.output + tokens.thoughts) * output) / 1_000_000
}
