/**
 * One sample document as data: what is true about it, who wrote it, and which trap it sets.
 * Made from a seed, so the same script always writes the same files.
 */
import { type Dice, seededDice } from '../../src/time/dice.ts'
import { VENDORS, type Vendor } from './vendors.ts'

export interface Line {
  readonly description: string
  readonly quantity: number
  readonly unitPrice: number
  readonly amount: number
}

/** The right answer, in the shape of samples/invoice.schema.json. */
export interface Truth {
  readonly type: 'invoice' | 'credit_note'
  readonly number: string
  readonly vendor: string
  readonly issuedOn: string
  readonly dueOn: string | null
  readonly currency: string
  readonly lines: readonly Line[]
  readonly net: number
  readonly tax: number
  readonly total: number
}

export type Trap =
  | 'words'
  | 'credit'
  | 'two-totals'
  | 'injection'
  | 'no-due'
  | 'term'
  | 'two-rates'
  | 'smudge'
  | 'lost-row'
export type Form = 'list' | 'table' | 'columns' | 'pdf' | 'png'

export interface SampleDocument {
  readonly id: string
  readonly vendor: Vendor
  readonly form: Form
  readonly trap: Trap | undefined
  readonly customer: string
  readonly truth: Truth
  /** Sums per tax rate, in the order of the lines. */
  readonly taxes: ReadonlyArray<{ readonly rate: number; readonly amount: number }>
}

const SEED = 2026
const DAY_MS = 86_400_000
export const EMPTY = 'INV-044'
const COUNT = 48

const PICTURES = new Set([8, 14, 16, 27, 28, 33, 36])
const PDFS = new Set([11, 24, 46])
const TRAPS: Readonly<Record<number, Trap>> = {
  6: 'no-due',
  13: 'words',
  14: 'smudge',
  20: 'term',
  22: 'credit',
  29: 'two-totals',
  32: 'two-rates',
  35: 'injection',
  36: 'lost-row',
  47: 'credit',
}

const CUSTOMERS = [
  'Alder & Finch Architects, 5 Mill Road, Cambridge',
  'Tessera Logistik SE, Hafenring 12, Bremen',
  'Clinique des Tilleuls, 8 rue Haute, Lyon',
  'Municipal Library, 200 Main Street, Springfield',
]

/** All but the empty one, in order. */
export function sampleDocuments(): SampleDocument[] {
  const dice = seededDice(SEED)
  const documents: SampleDocument[] = []
  for (let index = 1; index <= COUNT; index += 1) {
    const id = `INV-${String(index).padStart(3, '0')}`
    const made = documentOf(index, id, dice)
    if (id !== EMPTY) documents.push(made)
  }
  return documents
}

function documentOf(index: number, id: string, dice: Dice): SampleDocument {
  const trap = TRAPS[index]
  const vendor = vendorFor(index, trap)
  const lines = linesOf(vendor, trap, dice)
  const net = sum(lines.map((line) => line.amount))
  const rates = trap === 'two-rates' ? [9, 21] : vendor.taxRates
  const taxes = rates.map((rate, at) => {
    const share = rates.length === 1 ? net : sum(lines.filter((_, row) => row % 2 === at).map((line) => line.amount))
    return { rate, amount: round((share * rate) / 100, vendor.decimals) }
  })
  const tax = sum(taxes.map(({ amount }) => amount))
  const issuedAt = Date.UTC(2026, 0, 5) + Math.floor(dice() * 280) * DAY_MS
  const days = trap === 'term' ? 30 : [14, 30, 45][Math.floor(dice() * 3)]!
  return {
    id,
    vendor,
    form: PICTURES.has(index) ? 'png' : PDFS.has(index) ? 'pdf' : (['list', 'table', 'columns'] as const)[index % 3]!,
    trap,
    customer: CUSTOMERS[Math.floor(dice() * CUSTOMERS.length)]!,
    truth: {
      type: trap === 'credit' ? 'credit_note' : 'invoice',
      number: vendor.numbering(2026, 100 + index * 3),
      vendor: vendor.name,
      issuedOn: isoDate(issuedAt),
      dueOn: trap === 'no-due' ? null : isoDate(issuedAt + days * DAY_MS),
      currency: vendor.currency,
      lines,
      net,
      tax,
      total: sum([net, tax]),
    },
    taxes,
  }
}

function vendorFor(index: number, trap: Trap | undefined): Vendor {
  // Amounts in words are read in English only, and only the Netherlands have the two rates.
  if (trap === 'words' || trap === 'term') return VENDORS[10]!
  if (trap === 'two-rates') return VENDORS[8]!
  return VENDORS[(index * 5) % VENDORS.length]!
}

function linesOf(vendor: Vendor, trap: Trap | undefined, dice: Dice): Line[] {
  const sign = trap === 'credit' ? -1 : 1
  const wanted = trap === 'credit' ? 2 : 3 + Math.floor(dice() * 4)
  const shuffled = [...vendor.wares].map((ware) => ({ ware, at: dice() })).sort((a, b) => a.at - b.at)
  const lines = shuffled.slice(0, wanted).map(({ ware: [description, unitPrice] }) => {
    const quantity = 1 + Math.floor(dice() * (unitPrice > 150 ? 3 : 12))
    return { description, quantity, unitPrice, amount: sign * round(quantity * unitPrice, vendor.decimals) }
  })
  const before = sum(lines.map((line) => line.amount))
  const extra = dice()
  if (trap !== 'credit' && (extra < 0.2 || trap === 'two-totals')) {
    const amount = -round(before * 0.1, vendor.decimals)
    lines.push({ description: vendor.words.discount, quantity: 1, unitPrice: amount, amount })
  } else if (trap === undefined && extra > 0.8) {
    const amount = vendor.decimals === 0 ? 1_200 : 12.5
    lines.push({ description: vendor.words.shipping, quantity: 1, unitPrice: amount, amount })
  }
  return lines
}

export function round(amount: number, decimals: number): number {
  const scale = 10 ** decimals
  return Math.round(amount * scale + 1e-6) / scale
}

const sum = (amounts: readonly number[]) =>
  round(
    amounts.reduce((total, amount) => total + amount, 0),
    2,
  )
const isoDate = (at: number) => new Date(at).toISOString().slice(0, 10)
