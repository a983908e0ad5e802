import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAmount, readCurrency, readRate } from './read-amount.ts'
import { readDate, readTerm } from './read-date.ts'
import { readInvoice } from './read-invoice.ts'

describe('amounts', () => {
  test.each([
    ['1,284.50', 1284.5],
    ['1.284,50 €', 1284.5],
    ["CHF 1'284.50", 1284.5],
    ['1\u00a0284,50 EUR', 1284.5],
    ['1 284,50', 1284.5],
    ['12,000 JPY', 12_000],
    ['1.234.567', 1_234_567],
    ['0,5', 0.5],
    ['-90.00', -90],
    ['(90.00)', -90],
    ['90,00-', -90],
    ['-€90.00', -90],
    ['20 % 41.00', 41],
    ['nothing', null],
    ['~~~~.~~', null],
  ])('%s', (text, amount) => {
    expect(readAmount(text)).toBe(amount)
  })

  test('any amount that is printed is read again', () => {
    const styles = [
      [',', '.'],
      ['.', ','],
      ["'", '.'],
      ['\u00a0', ','],
    ] as const
    const cents = fc.integer({ min: -99_999_999, max: 99_999_999 })
    fc.assert(
      fc.property(cents, fc.constantFrom(...styles), (amount, [thousands, decimal]) => {
        const [whole = '', rest = ''] = (Math.abs(amount) / 100).toFixed(2).split('.')
        const printed = `${amount < 0 ? '-' : ''}${whole.replace(/\B(?=(\d{3})+$)/g, thousands)}${decimal}${rest}`
        expect(readAmount(printed)).toBe(amount / 100)
      }),
    )
  })

  test('rates and currencies', () => {
    expect(readRate('MwSt. 8,1 %')).toBe(8.1)
    expect(readRate('9 % and 21 %')).toBeNull()
    expect(['1 SEK', 'C$5', '$5', '£5', 'five'].map(readCurrency)).toEqual(['SEK', 'CAD', 'USD', 'GBP', null])
  })
})

describe('dates', () => {
  test.each([
    ['2026-03-04', '2026-03-04'],
    ['04.03.2026', '2026-03-04'],
    ['4 mars 2026', '2026-03-04'],
    ['4. März 2026', '2026-03-04'],
    ['March 4th, 2026', '2026-03-04'],
    ['4 de agosto de 2026', '2026-08-04'],
    ['04/03/2026', '2026-03-04'],
    ['03/25/2026', '2026-03-25'],
    ['31 April 2026', null],
    ['soon', null],
  ])('%s', (text, date) => {
    expect(readDate(text)).toBe(date)
  })

  test('a month stands first where that is the custom', () => {
    expect(readDate('03/04/2026', true)).toBe('2026-03-04')
    expect(readDate('03/04/2026')).toBe('2026-04-03')
  })

  test('terms count from the date of issue', () => {
    expect(readTerm('net 30', '2026-01-31')).toBe('2026-03-02')
    expect(readTerm('zahlbar in 14 Tagen', '2026-12-20')).toBe('2027-01-03')
    expect(readTerm('net 30', null)).toBeNull()
  })
})

test('nothing is made up: an empty text has no facts', () => {
  expect(readInvoice('')).toMatchObject({ number: null, vendor: null, lines: [], net: null, tax: null, total: null })
})

test('any text is read without trouble, and in time that grows with its length', () => {
  fc.assert(fc.property(fc.string({ maxLength: 2_000 }), (text) => void readInvoice(text)))
  const startedAt = performance.now()
  readInvoice('| a '.repeat(50_000))
  readInvoice(`${'total '.repeat(30)}\n`.repeat(5_000))
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})
