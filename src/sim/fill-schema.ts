/**
 * An answer in the shape that was asked for: a JSON Schema filled with the facts of an invoice, by the names of its properties.
 * A property that no fact answers is looked for as a label in the document, else it is null or empty; nothing is made up.
 */
import type { Invoice, InvoiceLine } from './invoice.ts'
import { readAmount } from './read-amount.ts'
import { readDate } from './read-date.ts'

/** Schemas may point at themselves. */
const DEPTH_MAX = 12

type Json = Readonly<Record<string, unknown>>
type Fact = string | number | null

export interface Facts {
  readonly invoice: Invoice
  readonly text: string
}

/** Names as people give them, in letters only, and the fact each one means. */
const NAMES: ReadonlyArray<readonly [RegExp, keyof Invoice]> = [
  [/^(invoice|document|bill|credit)?(number|no|nr|id)$|^invoicenum$/, 'number'],
  [/^(vendor|seller|supplier|issuer|merchant|company|from)(name)?$/, 'vendor'],
  [/^(customer|buyer|client|billto|recipient)(name)?$/, 'customer'],
  [/^(issuedon|issuedat|issued|issuedate|invoicedate|date|documentdate|dateofissue)$/, 'issuedOn'],
  [/^(dueon|dueat|due|duedate|paymentdue|payby)$/, 'dueOn'],
  [/^currency(code)?$/, 'currency'],
  [/^(net|netamount|nettotal|subtotal|amountnet|totalnet)$/, 'net'],
  [/^(taxrate|vatrate|taxpercent)$/, 'taxRate'],
  [/^(tax|vat|taxamount|vatamount|taxtotal|totaltax)$/, 'tax'],
  [/^(total|totalamount|grandtotal|amountdue|gross|grossamount|amount|totaldue)$/, 'total'],
  [/^(type|kind|documenttype)$/, 'type'],
]

const LINE_NAMES: ReadonlyArray<readonly [RegExp, keyof InvoiceLine]> = [
  [/^(description|name|item|product|title|text)$/, 'description'],
  [/^(quantity|qty|count|units)$/, 'quantity'],
  [/^(unitprice|price|rate|priceperunit|unitcost)$/, 'unitPrice'],
  [/^(amount|total|linetotal|lineamount|sum|net|value)$/, 'amount'],
]

const LINES = /^(invoice)?(lines?|items?|lineitems|positions|rows|entries|products)$/

/** The shape of an answer when none was asked for. */
export function plainAnswer({
  type,
  number,
  vendor,
  issuedOn,
  dueOn,
  currency,
  lines,
  net,
  tax,
  total,
}: Invoice): Json {
  return { type, number, vendor, issuedOn, dueOn, currency, lines, net, tax, total }
}

export function fillSchema(schema: unknown, facts: Facts): unknown {
  return fill(asJson(schema), '', { facts, root: asJson(schema), line: undefined }, 0)
}

interface Place {
  readonly facts: Facts
  readonly root: Json
  readonly line: InvoiceLine | undefined
}

function fill(raw: Json, name: string, place: Place, depth: number): unknown {
  const { schema, isNullable } = resolve(raw, place.root)
  const type = typeOf(schema)
  if (depth > DEPTH_MAX) return null
  if (type === 'object') return fillObject(schema, name, place, depth)
  if (type === 'array') {
    const { lines } = place.facts.invoice
    if (!LINES.test(letters(name)) && name !== '') return []
    return lines.map((line) => fill(asJson(schema['items']), 'line', { ...place, line }, depth + 1))
  }
  if (schema['const'] !== undefined) return schema['const']
  const fact = factFor(name, place)
  const choices = Array.isArray(schema['enum']) ? schema['enum'] : undefined
  if (choices) return choices.find((choice) => same(choice, fact)) ?? (isNullable ? null : choices[0])
  return coerce(fact, type, isNullable)
}

function fillObject(schema: Json, name: string, place: Place, depth: number): Json {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const filled: Record<string, unknown> = {}
  for (const [property, own] of Object.entries(asJson(schema['properties']))) {
    // `vendor: { name }` means the vendor's name.
    const meant = property === 'name' && name !== '' && place.line === undefined ? name : property
    const value = fill(asJson(own), meant, place, depth + 1)
    const isAbsent = value === null || value === ''
    if (!isAbsent || required.includes(property) || required.length === 0) filled[property] = value
  }
  return filled
}

function factFor(name: string, { facts, line }: Place): Fact {
  const key = letters(name)
  if (line !== undefined) {
    const own = LINE_NAMES.find(([pattern]) => pattern.test(key))?.[1]
    if (own !== undefined) return line[own]
  }
  const known = NAMES.find(([pattern]) => pattern.test(key))?.[1]
  const fact = known === undefined ? undefined : facts.invoice[known]
  if (typeof fact === 'string' || typeof fact === 'number') return fact
  return known === undefined ? labelled(facts.text, name) : null
}

/** `poNumber` is looked for as "PO number: …". */
function labelled(text: string, name: string): string | null {
  const key = letters(name)
  if (key.length < 2) return null
  for (const line of text.split('\n')) {
    const [, label, value] = /^[\s|>*#-]*([^:|]{2,40})[:|]\s*(.{1,200})$/.exec(line) ?? []
    if (label !== undefined && letters(label) === key) return value?.replace(/[|*\s]+$/, '').trim() ?? null
  }
  return null
}

function coerce(fact: Fact, type: string, isNullable: boolean): unknown {
  if (type === 'number' || type === 'integer') {
    const amount = typeof fact === 'string' ? readAmount(fact) : fact
    const whole = type === 'integer' && amount !== null ? Math.round(amount) : amount
    return whole ?? (isNullable ? null : 0)
  }
  if (type === 'boolean')
    return fact === null ? (isNullable ? null : false) : /^(yes|true|ja|oui|sí)$/i.test(String(fact))
  if (type === 'null') return null
  if (fact === null) return isNullable ? null : ''
  return typeof fact === 'string' ? (readDate(fact) ?? fact) : String(fact)
}

/** References and alternatives followed to one schema; `null` beside it is remembered. */
function resolve(raw: Json, root: Json): { schema: Json; isNullable: boolean } {
  let schema = raw
  let isNullable = false
  for (let step = 0; step < DEPTH_MAX; step += 1) {
    isNullable ||= schema['nullable'] === true || (Array.isArray(schema['type']) && schema['type'].includes('null'))
    const reference = schema['$ref']
    const choices = [schema['anyOf'], schema['oneOf'], schema['allOf']].find(Array.isArray)
    if (typeof reference === 'string') schema = follow(reference, root)
    else if (choices !== undefined && schema['properties'] === undefined) {
      isNullable ||= choices.some((choice) => asJson(choice)['type'] === 'null')
      schema = asJson(choices.find((choice) => asJson(choice)['type'] !== 'null'))
    } else break
  }
  return { schema, isNullable }
}

function follow(reference: string, root: Json): Json {
  const steps = reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '')
  return steps.reduce((at, step) => asJson(at[step.replaceAll('~1', '/').replaceAll('~0', '~')]), root)
}

/** Gemini's own schemas write types in capitals. */
function typeOf(schema: Json): string {
  const { type } = schema
  const first = Array.isArray(type) ? type.find((each) => each !== 'null') : type
  if (typeof first === 'string') return first.toLowerCase()
  return schema['properties'] === undefined ? 'string' : 'object'
}

const letters = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
const same = (choice: unknown, fact: Fact) => letters(String(choice)) === letters(String(fact)) && fact !== null
const asJson = (value: unknown): Json => (typeof value === 'object' && value !== null ? (value as Json) : {})
