/**
 * The sample invoices: every one can be read, its right answer passes schema and gate, and the fault script tells the story that
 * samples/README.md tells, take by take, through the real SDK.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { generateText, jsonSchema, Output } from 'ai'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { extractText, getDocumentProxy } from 'unpdf'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import rules from '../../samples/invoice.gate.ts'
import { sampleDocuments } from '../../scripts/samples/document.ts'
import { STORY } from '../../scripts/samples/fault-story.ts'
import { printed } from '../../scripts/samples/print.ts'
import { checkPlan } from '../../src/sim/check-plan.ts'
import { readInvoice } from '../../src/sim/read-invoice.ts'
import { type Simulator, startSimulator } from '../../src/sim/simulator.ts'

const folder = fileURLToPath(new URL('../../samples/', import.meta.url))
const json = (name: string) => JSON.parse(readFileSync(`${folder}${name}`, 'utf8'))
const files = readdirSync(`${folder}invoices`)
const ids = [...new Set(files.map((file) => file.replace(/\.\w+$/, '')))].sort()

const schema = json('invoice.schema.json')
const gold = new Map(
  readFileSync(`${folder}expected.jsonl`, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ document, expected }) => [document as string, expected]),
)
const validate = (addFormats.default ?? addFormats)(new Ajv2020({ allErrors: true })).compile(schema)

/** What schema and gate say against an answer. */
function complaints(value: unknown): string[] {
  if (!validate(value)) return (validate.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`)
  return rules.filter(({ check }) => !check(value as never)).map(({ name }) => name)
}

/** As a client takes the text out of a file. */
async function textOf(id: string): Promise<string> {
  const path = (ending: string) => `${folder}invoices/${id}.${ending}`
  const ending = ['md', 'txt', 'pdf'].find((each) => existsSync(path(each))) ?? 'md'
  if (ending !== 'pdf') return readFileSync(path(ending), 'utf8')
  const pdf = await getDocumentProxy(new Uint8Array(readFileSync(path('pdf'))))
  return (await extractText(pdf, { mergePages: true })).text
}

describe('the documents', () => {
  test('are 48, the empty one among them, and small', () => {
    expect(ids).toHaveLength(48)
    expect([...gold.keys()]).toEqual(ids.filter((id) => id !== 'INV-044'))
    expect(statSync(`${folder}invoices/INV-044.md`).size).toBe(0)
    for (const file of files) expect(statSync(`${folder}invoices/${file}`).size, file).toBeLessThanOrEqual(15_000)
  })

  test('are what the script writes', () => {
    for (const document of sampleDocuments()) {
      expect(gold.get(document.id), document.id).toEqual(document.truth)
      if (document.form === 'pdf') continue
      const ending = document.form === 'columns' || document.form === 'png' ? 'txt' : 'md'
      const written = readFileSync(`${folder}invoices/${document.id}.${ending}`, 'utf8')
      expect(written, document.id).toBe(printed(document, document.form === 'png'))
    }
    expect(checkPlan(json('faults.json'))).toMatchObject(STORY)
  })

  test('are of good variety', () => {
    const all = [...gold.values()]
    expect(new Set(all.map(({ currency }) => currency)).size).toBeGreaterThanOrEqual(7)
    expect(new Set(all.map(({ vendor }) => vendor)).size).toBe(12)
    expect(all.filter(({ type }) => type === 'credit_note')).toHaveLength(2)
    expect(all.filter(({ dueOn }) => dueOn === null)).toHaveLength(1)
    expect(files.filter((file) => file.endsWith('.png'))).toHaveLength(7)
    expect(files.filter((file) => file.endsWith('.pdf'))).toHaveLength(3)
  })

  test.each([...gold])('%s: the right answer passes, and the reader finds it', async (id, expected) => {
    expect(complaints(expected)).toEqual([])
    const { customer: _customer, taxRate: _taxRate, ...read } = readInvoice(await textOf(id), id)
    if (id === 'INV-014' || id === 'INV-036') expect(complaints(read)).not.toEqual([])
    else expect(read).toEqual(expected)
  })
})

describe('the gate', () => {
  const right = gold.get('INV-001')
  test.each([
    ['number.required', { number: ' ' }],
    ['vendor.required', { vendor: ' ' }],
    ['lines.sum', { net: right.net + 1, total: right.total + 1 }],
    ['total.sum', { total: right.total + 1 }],
    ['total.sign', { type: 'credit_note' }],
    ['dates.order', { dueOn: '2020-01-01' }],
    ['currency.known', { currency: 'XXX' }],
  ])('%s', (code, change) => {
    expect(complaints({ ...right, ...change })).toEqual([code])
  })
})

describe('the story', () => {
  let simulator: Simulator
  beforeAll(async () => {
    // The same script without its latencies: the story does not depend on them.
    const { latencyMs: _latency, models: _models, ...faults } = json('faults.json')
    simulator = await startSimulator({ faults })
  })
  afterAll(() => simulator.close())

  async function take(id: string, model: 'flash' | 'pro' = 'flash', isWithImage = false) {
    const google = createGoogleGenerativeAI({ apiKey: 'any', baseURL: `${simulator.url}/v1beta` })
    const image = `${folder}invoices/${id}.png`
    const { output, text } = await generateText({
      model: google(`gemini-${model}-latest`),
      maxRetries: 0,
      output: Output.object({ schema: jsonSchema<Record<string, unknown>>(schema) }),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: `Read ${id}.\n<document>\n${await textOf(id)}\n</document>` },
            ...(isWithImage && existsSync(image)
              ? [{ type: 'file' as const, mediaType: 'image/png', data: readFileSync(image) }]
              : []),
          ],
        },
      ],
    })
    return { output, text, isRight: complaints(output).length === 0 }
  }

  const isRight = (...args: Parameters<typeof take>) =>
    take(...args).then(
      (taken) => taken.isRight,
      () => false,
    )

  const TROUBLED = [5, 12, 19, 26, 37, 9, 23, 40, 14, 28, 34, 36, 31, 39, 17, 42, 44].map(
    (number) => `INV-${String(number).padStart(3, '0')}`,
  )

  test('31 are right at once, and what they say is right', async () => {
    const right: string[] = []
    for (const id of ids) {
      const taken = await take(id).catch(() => undefined)
      if (!taken?.isRight) continue
      right.push(id)
      expect(taken.output, id).toEqual(gold.get(id))
    }
    expect(right).toEqual(ids.filter((id) => !TROUBLED.includes(id)))
    expect(right).toHaveLength(31)
  })

  test('those that wait are right after it', async () => {
    // INV-026 is overloaded twice.
    await take('INV-026').catch(() => undefined)
    for (const id of ['INV-005', 'INV-012', 'INV-019', 'INV-026', 'INV-037']) expect(await isRight(id), id).toBe(true)
  })

  test('those that are asked again are right then: two by the picture alone', async () => {
    expect([await isRight('INV-014'), await isRight('INV-036')]).toEqual([false, false])
    for (const id of ['INV-014', 'INV-028', 'INV-034', 'INV-036']) {
      const { output } = await take(id, 'flash', true)
      expect(output, id).toEqual(gold.get(id))
    }
  })

  test('those for the stronger model stay wrong with the weaker one', async () => {
    for (const id of ['INV-031', 'INV-039']) {
      expect([await isRight(id), await isRight(id), await isRight(id, 'pro')], id).toEqual([false, false, true])
    }
    // The same wrong answer twice: a third take cannot help.
    expect((await take('INV-031')).text).toBe((await take('INV-031')).text)
  })

  test('those for a person: one is refused, of the other both models are wrong', async () => {
    expect([await isRight('INV-017'), await isRight('INV-017', 'pro')]).toEqual([false, false])
    expect([await isRight('INV-042'), await isRight('INV-042', 'pro')]).toEqual([false, false])
  })

  test('money is plausible: a strong take costs about ten times a weak one', () => {
    // US dollars for a million tokens of input and output, of the order that providers ask.
    const prices = { flash: [0.3, 2.5], pro: [1.25, 10] } as const
    const mean = (model: keyof typeof prices) => {
      const [input, output] = prices[model]
      const paid = simulator
        .requests()
        .filter((request) => request.model.includes(model) && request.tokens.output > 0)
        .map(({ tokens }) => (tokens.input * input + (tokens.output + tokens.thoughts) * output) / 1e6)
      return paid.reduce((sum, usd) => sum + usd, 0) / paid.length
    }
    expect(mean('flash')).toBeGreaterThan(0.0005)
    expect(mean('flash')).toBeLessThan(0.0015)
    expect(mean('pro') / mean('flash')).toBeGreaterThan(6)
    expect(mean('pro') / mean('flash')).toBeLessThan(20)
  })
})
