/**
 * The invoice reader: facts from the text of a document by rules, so that the simulator's right answers are right.
 * It reads labelled lines and rows of tables; sentences, and whatever they ask for, it does not obey.
 */
import type { Invoice, InvoiceLine } from './invoice.ts'
import { type LabelName, labelOf } from './labels.ts'
import { readAmount, readCurrency, readRate, roundCents } from './read-amount.ts'
import { readDate, readTerm } from './read-date.ts'

/** Longer lines are prose. */
const LINE_MAX = 200

const TITLE =
  /^(tax invoice|invoice|bill|rechnung|facture|factura|fattura|factuur|credit note|gutschrift|avoir|receipt)\b\s*(?:no\.?|nr\.?|n°|nº|n\.|#|number|nummer)?\s*[:#]?\s*(.*)$/i
const NUMBER_LIKE = /^[A-Z0-9][A-Z0-9/._-]*\d[A-Z0-9/._-]*$/i
const CREDIT = /\b(credit note|gutschrift|avoir|nota de crédito|nota di credito|creditnota)\b/i

type Found = Partial<Record<LabelName, Array<{ readonly label: string; readonly value: string }>>>

export function readInvoice(text: string, mark?: string): Invoice {
  const lines = text
    .split(/\r?\n/)
    .filter((line) => line.length <= LINE_MAX && !isOfJson(line))
    .map(plainLine)
    .filter((line) => line !== '' && !/^[|\s:=-]+$/.test(line))
  const found: Found = {}
  const rows: InvoiceLine[] = []
  for (const line of lines) {
    const cells = cellsOf(line)
    const pair = pairOf(line, cells)
    const name = pair === undefined ? undefined : labelOf(pair.label)
    if (pair !== undefined && name !== undefined) {
      const known = found[name] ?? []
      found[name] = known
      known.push(pair)
      if (name === 'extra') rows.push(...extraLine(pair))
    } else rows.push(...rowOf(cells))
  }
  return assemble(lines, found, rows, mark)
}

/** How much of an invoice this is: the number of facts that were found. */
export function factsFound(invoice: Invoice): number {
  const { number, issuedOn, net, total, tax, lines } = invoice
  return [number, issuedOn, net, total, tax].filter((fact) => fact !== null).length + Math.min(1, lines.length)
}

function assemble(lines: readonly string[], found: Found, rows: readonly InvoiceLine[], mark?: string): Invoice {
  const first = (name: LabelName) => found[name]?.[0]?.value
  const currency = currencyIn(found, lines)
  const isMonthFirst = currency === 'USD'
  const issuedOn = readDate(first('issuedOn') ?? '', isMonthFirst)
  const due = first('dueOn') ?? ''
  const net = amountIn(found.net)
  const taxes = (found.tax ?? []).map(({ value }) => readAmount(value)).filter((amount) => amount !== null)
  const tax = taxes.length === 0 ? null : roundCents(taxes.reduce((sum, amount) => sum + amount, 0))
  const rates = (found.tax ?? []).map(({ label, value }) => readRate(`${label} ${value}`))
  const isInWords = [...(found.due ?? []), ...(found.total ?? [])].length > 0
  const printed = amountIn(found.due) ?? amountIn(found.total)
  return {
    type: lines.some((line) => CREDIT.test(line)) ? 'credit_note' : 'invoice',
    number: first('number') ?? titleNumber(lines),
    vendor: first('vendor') ?? letterhead(lines, mark),
    customer: first('customer') ?? null,
    issuedOn,
    dueOn: readDate(due, isMonthFirst) ?? readTerm(due, issuedOn),
    currency,
    lines: rows,
    net,
    taxRate: rates.length === 1 ? (rates[0] ?? null) : null,
    tax,
    // A total that is written in words is what net and tax come to.
    total: printed ?? (isInWords && net !== null && tax !== null ? roundCents(net + tax) : null),
  }
}

const amountIn = (pairs: Found[LabelName]): number | null =>
  (pairs ?? []).map(({ value }) => readAmount(value)).find((amount) => amount !== null) ?? null

function currencyIn(found: Found, lines: readonly string[]): string | null {
  const said = [found.currency, found.due, found.total, found.net].flatMap((pairs) => pairs ?? [])
  const texts = [...said.map(({ label, value }) => `${label} ${value}`), lines.join('\n')]
  return texts.map(readCurrency).find((code) => code !== null) ?? null
}

function titleNumber(lines: readonly string[]): string | null {
  for (const line of lines) {
    const rest = TITLE.exec(line)?.[2]?.trim()
    if (rest !== undefined && NUMBER_LIKE.test(rest)) return rest
  }
  return null
}

/** Who has no label stands on top. */
function letterhead(lines: readonly string[], mark: string | undefined): string | null {
  const top = lines.find((line) => /\p{L}{3}/u.test(line) && !TITLE.test(line) && !(mark && line.includes(mark)))
  return top === undefined || pairOf(top, cellsOf(top)) !== undefined ? null : top
}

const isOfJson = (line: string) => /^\s*[[\]{}"]/.test(line) || /"\s*:/.test(line) || /^\s*(?:[-*]\s+)?\//.test(line)

const plainLine = (line: string) =>
  line
    .replace(/<!--.*?-->/g, '')
    .replace(/^\s*(?:#+|>|[-*•])\s+/, '')
    .replace(/\*\*|__|`/g, '')
    .trim()

function cellsOf(line: string): string[] {
  const cells = line.includes('|') ? line.split('|') : line.split(/\t|\s{2,}/)
  return cells.map((cell) => cell.trim()).filter((cell) => cell !== '')
}

function pairOf(line: string, cells: readonly string[]): { label: string; value: string } | undefined {
  const [first, ...rest] = cells
  if (first !== undefined && rest.length > 0 && labelOf(first) !== undefined) {
    return { label: first, value: rest.join(' ') }
  }
  const colon = /^([^:]{1,48}?)\s*:\s*(.+)$/.exec(line) ?? /^(.{1,48}?)\s*\.{3,}\s*(.+)$/.exec(line)
  if (colon?.[1] !== undefined && colon[2] !== undefined) return { label: colon[1], value: colon[2] }
  // "VAT 20 % 41.00" in one breath.
  const amount = /^(\p{L}[\p{L} .'-]*(?:\s\d+(?:[.,]\d+)?\s?%)?)\s+((?:[A-Z]{3}|[€$£¥])?\s?[-−(]?\d.*)$/u.exec(line)
  if (amount?.[1] !== undefined && amount[2] !== undefined && labelOf(amount[1]) !== undefined) {
    return { label: amount[1], value: amount[2] }
  }
  return undefined
}

/** A row of the table: [position], description, [quantity, [unit price]], amount. */
function rowOf(cells: readonly string[]): InvoiceLine[] {
  const words = cells.findIndex((cell) => /\p{L}{2}/u.test(cell) && !isFigure(cell))
  const description = cells[words]
  const figures = cells.slice(words + 1).filter((cell) => !/%/.test(cell))
  if (description === undefined || words > 1 || figures.length < 2 || !figures.every(isFigure)) return []
  const amount = readAmount(figures.at(-1) ?? '')
  const quantity = readAmount(figures[0] ?? '')
  if (amount === null || quantity === null || quantity === 0) return []
  const printed = figures.length > 2 ? readAmount(figures[1] ?? '') : null
  return [{ description, quantity, unitPrice: printed ?? roundCents(amount / quantity), amount }]
}

const isFigure = (cell: string) =>
  /\d/.test(cell) && cell.replace(/[A-Z]{3}\b|h\b|pcs|Stk\.?|Std\.?/g, '').match(/\p{L}/u) === null

function extraLine({ label, value }: { label: string; value: string }): InvoiceLine[] {
  const amount = readAmount(value)
  const description = label.replace(/[:.]+$/, '').trim()
  return amount === null ? [] : [{ description, quantity: 1, unitPrice: amount, amount }]
}
