/**
 * What must hold for an invoice beyond its shape: sums, dates and currencies.
 * Messages never name a value, because they are shown to models.
 */

interface Invoice {
  readonly type: 'invoice' | 'credit_note'
  readonly number: string
  readonly vendor: string
  readonly issuedOn: string
  readonly dueOn: string | null
  readonly currency: string
  readonly lines: ReadonlyArray<{ readonly description: string; readonly amount: number }>
  readonly net: number
  readonly tax: number
  readonly total: number
}

/** Figures are printed in cents; less than half a cent is rounding. */
const TOLERANCE = 0.005

const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'CAD', 'NOK', 'DKK', 'PLN', 'CZK', 'AUD']

const equal = (a: number, b: number) => Math.abs(a - b) < TOLERANCE
const sumOf = (lines: Invoice['lines']) => lines.reduce((sum, { amount }) => sum + amount, 0)
const isSaid = (text: unknown) => typeof text === 'string' && text.trim() !== ''

export default [
  {
    name: 'number.required',
    path: '/number',
    message: 'the number of the document is required',
    check: ({ number }: Invoice) => isSaid(number),
  },
  {
    name: 'vendor.required',
    path: '/vendor',
    message: 'the name of the seller is required',
    check: ({ vendor }: Invoice) => isSaid(vendor),
  },
  {
    name: 'lines.sum',
    path: '/net',
    message: 'net must be the sum of the amounts of all lines',
    check: ({ lines, net }: Invoice) => equal(sumOf(lines), net),
  },
  {
    name: 'total.sum',
    path: '/total',
    message: 'total must be net plus tax',
    check: ({ net, tax, total }: Invoice) => equal(net + tax, total),
  },
  {
    name: 'total.sign',
    path: '/total',
    message: 'an invoice is positive, a credit note negative',
    check: ({ type, total }: Invoice) => (type === 'credit_note' ? total < 0 : total > 0),
  },
  {
    name: 'dates.order',
    path: '/dueOn',
    message: 'the due date must not be before the date of issue',
    check: ({ issuedOn, dueOn }: Invoice) => dueOn === null || dueOn >= issuedOn,
  },
  {
    name: 'currency.known',
    path: '/currency',
    message: 'the currency is not one we trade in',
    check: ({ currency }: Invoice) => CURRENCIES.includes(currency),
  },
]
