import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Script } from './fault-plan.ts'
import { findDocument, sha256Of } from './find-document.ts'
import type { Question } from './question.ts'

const sample = (name: string) => readFileSync(new URL(`../../samples/invoices/${name}`, import.meta.url), 'utf8')
const invoice = sample('INV-001.md')
const smudged = sample('INV-014.txt')

const question = (...texts: readonly string[]): Question => ({
  model: 'gemini-flash-latest',
  texts,
  system: '',
  pictures: [],
  schema: undefined,
  maxOutputTokens: undefined,
  isStreamed: false,
})

const found = (texts: readonly string[], script: Script = {}) =>
  findDocument(question(...texts), { script, images: {} })

describe('the document in the prompt', () => {
  const alone = found([invoice]).invoice
  const complaint = [
    'Your last answer was refused.',
    '--- answer 9f31c2aa07d14be2 ---',
    '{"number": "X-1", "net": 1, "tax": 2, "total": 99}',
    'Net: 90.00',
    'VAT 10 %: 9.00',
    'Total: 99.00 EUR',
    '--- end 9f31c2aa07d14be2 ---',
    '- /total total.sum: total must be net plus tax',
  ].join('\n')

  test.each([
    ['in tags', [`Read it.\n<document>\n${invoice}\n</document>\n${complaint}`]],
    ['in a fence', [`Read it.\n\`\`\`\n${invoice}\n\`\`\`\n${complaint}`]],
    ['in a boundary', [`--- document 0aa31f77c9d24b11 ---\n${invoice}\n--- end 0aa31f77c9d24b11 ---\n${complaint}`]],
    [
      'in one of several blocks with one boundary',
      [
        `Lines that hold 7c1d90b2aa514e0f frame data.\n\n[7c1d90b2aa514e0f document]\n${invoice}\n[7c1d90b2aa514e0f end]\n\n[7c1d90b2aa514e0f answer]\n${complaint}\n[7c1d90b2aa514e0f end]`,
      ],
    ],
    ['as a part of its own', ['Total: what is to be paid, net and tax.', invoice, complaint]],
    ['with nothing around it', [`Please read this.\n\n${invoice}`]],
  ])('%s', (_, texts) => {
    expect(found(texts)).toMatchObject({ name: 'INV-001', invoice: alone })
  })

  test('a complaint is no source: what the document lost stays lost', () => {
    const before = found([`<document>\n${smudged}\n</document>`])
    const after = found([`<document>\n${smudged}\n</document>\n${complaint}`])
    const framed = found([
      `[7c1d90b2aa514e0f document]\n${smudged}\n[7c1d90b2aa514e0f end]\n\n[7c1d90b2aa514e0f answer]\n${complaint}`,
    ])
    expect([after.invoice, framed.invoice]).toEqual([before.invoice, before.invoice])
  })

  test('an empty document is known by its name in the prompt', () => {
    expect(found(['Read INV-044.md:\n<document>\n\n</document>'], { 'INV-044': ['no-pages'] })).toMatchObject({
      name: 'INV-044',
      scriptKey: 'INV-044',
      invoice: { number: null, total: null, lines: [] },
    })
  })
})

describe('the script’s key', () => {
  test.each<[string, Script, string | undefined]>([
    ['a word', { 'INV-001': ['ok'] }, 'INV-001'],
    ['not a part of a word', { 'INV-00': ['ok'], 'NV-001': ['ok'] }, undefined],
    ['a pattern', { '/zürcher werk/i': ['ok'] }, '/zürcher werk/i'],
    [
      'a hash',
      { [`sha256:${sha256Of(invoice.trim()).slice(0, 12)}`]: ['ok'] },
      `sha256:${sha256Of(invoice.trim()).slice(0, 12)}`,
    ],
    ['none', { 'INV-002': ['ok'] }, undefined],
  ])('%s', (_, script, key) => {
    expect(found([invoice], script).scriptKey).toBe(key)
  })

  test('a text without a mark is named by its hash, take after take', () => {
    const text = 'Invoice number: 4711\nTotal: 5.00 EUR\nDate: 2026-01-02\nNet: 4.00'
    const { name } = found([text])
    expect(name).toMatch(/^sha256:[0-9a-f]{12}$/)
    expect(found([text, 'Your last answer was refused.']).name).toBe(name)
  })

  test('so is a text that is no invoice, when it stands between boundaries', () => {
    const framed = (boundary: string, more = '') =>
      found([`Sum it up.\n[${boundary} document]\nOnce upon a time.\n[${boundary} end]\n${more}`]).name
    expect(framed('7c1d90b2aa514e0f')).toBe(framed('0d2be6f1c3a94871', 'Your last answer was refused.'))
  })
})
