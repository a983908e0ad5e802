import { describe, expect, test } from 'vitest'
import { fillSchema } from './fill-schema.ts'
import { readInvoice } from './read-invoice.ts'
import { schemaInPrompt } from './schema-in-prompt.ts'

const text = `Kestrel Office Supplies Ltd

Invoice number: KOS-118
Date: 3 March 2026
PO number: PO-77

| Item | Qty | Unit | Amount |
|---|---|---|---|
| Paper | 10 | 4.50 | 45.00 |

Net: 45.00
VAT 20%: 9.00
Total: GBP 54.00`

const facts = { invoice: readInvoice(text), text }

describe('shapes that users ask for', () => {
  test.each<[string, object, unknown]>([
    [
      'snake case, integers, null for what is not there',
      {
        type: 'object',
        required: ['invoice_number', 'due_date', 'total_amount'],
        properties: {
          invoice_number: { type: 'string' },
          due_date: { type: ['string', 'null'] },
          total_amount: { type: 'integer' },
        },
      },
      { invoice_number: 'KOS-118', due_date: null, total_amount: 54 },
    ],
    [
      'nested objects and lists, by reference',
      {
        type: 'object',
        properties: {
          vendor: { type: 'object', properties: { name: { type: 'string' } } },
          line_items: { type: 'array', items: { $ref: '#/$defs/item' } },
        },
        $defs: {
          item: {
            type: 'object',
            properties: { name: { type: 'string' }, qty: { type: 'number' }, total: { type: 'number' } },
          },
        },
      },
      { vendor: { name: 'Kestrel Office Supplies Ltd' }, line_items: [{ name: 'Paper', qty: 10, total: 45 }] },
    ],
    [
      'Gemini’s own types and enums',
      {
        type: 'OBJECT',
        properties: {
          currency: { type: 'STRING', enum: ['EUR', 'GBP'] },
          tax_rate: { type: 'NUMBER', nullable: true },
        },
      },
      { currency: 'GBP', tax_rate: 20 },
    ],
    [
      'a label of the document',
      { type: 'object', properties: { poNumber: { type: 'string' } } },
      { poNumber: 'PO-77' },
    ],
    [
      'alternatives',
      { anyOf: [{ type: 'null' }, { type: 'object', properties: { net: { type: 'number' } } }] },
      { net: 45 },
    ],
  ])('%s', (_, schema, filled) => {
    expect(fillSchema(schema, facts)).toEqual(filled)
  })

  test('a schema that points at itself ends', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { a: { $ref: '#/$defs/a' } } } } }
    expect(JSON.stringify(fillSchema(schema, facts)).length).toBeLessThan(1_000)
  })
})

test('a schema that stands in the words of the prompt is found', () => {
  const schema = { type: 'object', properties: { total: { type: 'number', description: 'a } in a string' } } }
  expect(schemaInPrompt(['Answer {so}', `as JSON: ${JSON.stringify(schema)} and nothing else`])).toEqual(schema)
  expect(schemaInPrompt(['"properties" { not json'])).toBeUndefined()
})
