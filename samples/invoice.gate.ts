/**
 * What must hold for an invoice beyond its shape: sums, dates and currencies.
 * Messages name rules and never values, because they are shown to models.
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
const isSaid = (text: unknown) => typeof text === 'string' && text.trim() !== ''

export default [
  {
    code: 'number.required',
    path: '/number',
    check: ({ number }: Invoice) => isSaid(number) || 'the number of the document is required',
  },
  {
    code: 'vendor.required',
    path: '/vendor',
    check: ({ vendor }: Invoice) => isSaid(vendor) || 'the name of the seller is required',
  },
  {
    code: 'lines.sum',
    path: '/net',
    check: ({ lines, net }: Invoice) =>
      equal(
        lines.reduce((sum, { amount }) => sum + amount, 0),
        net,
      ) || 'net must be the sum of the amounts of all lines',
  },
  {
    code: 'total.sum',
    path: '/total',
    check: ({ net, tax, total }: Invoice) => equal(net + tax, total) || 'total must be net plus tax',
  },
  {
    code: 'total.sign',
    path: '/total',
    check: ({ type, total }: Invoice) =>
      (type === 'credit_note' ? total < 0 : total > 0) || 'an invoice is positive, a credit note negative',
  },
  {
    code: 'dates.order',
    path: '/dueOn',
    check: ({ issuedOn, dueOn }: Invoice) =>
      dueOn === null || dueOn >= issuedOn || 'the due date must not be before the date of issue',
  },
  {
    code: 'currency.known',
    path: '/currency',
    check: ({ currency }: Invoice) => CURRENCIES.includes(currency) || 'the currency is not one we trade in',
  },
]
