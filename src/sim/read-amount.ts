/**
 * Amounts and currencies as invoices print them: `1,284.50`, `1.284,50 €`, `CHF 1'284.50`, `(90.00)`, `90,00-`.
 * It reads one short text and knows nothing of the line around it.
 */

const NUMBER = /\d[\d.,'’\u00a0\u202f ]*/g
const PERCENT = /\d+(?:[.,]\d+)?\s?%/g

/** The last number in the text, percentages left out; null when there is none. */
export function readAmount(text: string): number | null {
  const plain = text.replace(PERCENT, ' ')
  const found = [...plain.matchAll(NUMBER)].at(-1)
  if (found === undefined) return null
  const digits = plainDigits(found[0].trim().replace(/[.,]$/, ''))
  if (digits === null) return null
  const before = plain.slice(0, found.index).trimEnd()
  const after = plain.slice(found.index + found[0].length).trimStart()
  const isNegative = /[-−]\s*(?:[A-Z]{3}|[€$£¥])?$/.test(before) || /^[-−)]/.test(after) || /\($/.test(before)
  return isNegative && digits !== 0 ? -digits : digits
}

function plainDigits(printed: string): number | null {
  const grouped = printed.replace(/['’\u00a0\u202f ]/g, '')
  const lastDot = grouped.lastIndexOf('.')
  const lastComma = grouped.lastIndexOf(',')
  const decimalAt = Math.max(lastDot, lastComma)
  const sign = grouped[decimalAt]
  const isDecimal =
    decimalAt >= 0 &&
    // Both signs: the later one is the decimal. One sign: a group of three behind it is thousands.
    ((lastDot >= 0 && lastComma >= 0) || (grouped.length - decimalAt !== 4 && grouped.split(sign ?? '').length === 2))
  const whole = (isDecimal ? grouped.slice(0, decimalAt) : grouped).replace(/[.,]/g, '')
  const value = Number(isDecimal ? `${whole}.${grouped.slice(decimalAt + 1)}` : whole)
  return Number.isFinite(value) ? value : null
}

/** The rate in percent, if the text names exactly one. */
export function readRate(text: string): number | null {
  const found = text.match(PERCENT) ?? []
  return found.length === 1 ? Number.parseFloat(found[0].replace(',', '.')) : null
}

const CODES = ['EUR', 'USD', 'GBP', 'CHF', 'SEK', 'NOK', 'DKK', 'PLN', 'CZK', 'JPY', 'CAD', 'AUD', 'INR', 'BRL', 'MXN']
const SYMBOLS: ReadonlyArray<readonly [sign: string, code: string]> = [
  ['C$', 'CAD'],
  ['A$', 'AUD'],
  ['R$', 'BRL'],
  ['€', 'EUR'],
  ['£', 'GBP'],
  ['¥', 'JPY'],
  ['₹', 'INR'],
  ['$', 'USD'],
]

export function readCurrency(text: string): string | null {
  const code = CODES.find((each) => new RegExp(`\\b${each}\\b`).test(text))
  return code ?? SYMBOLS.find(([sign]) => text.includes(sign))?.[1] ?? null
}

/** Sums in whole cents, so that a tenth and two tenths are three. */
export function roundCents(amount: number): number {
  return Math.round(amount * 100 + (amount < 0 ? -1e-6 : 1e-6)) / 100
}
