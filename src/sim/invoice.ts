/**
 * What can be read from an invoice, as plain data: the facts from which the simulator makes its right answers.
 * Nothing is invented: what a document does not say stays null.
 */

export interface InvoiceLine {
  readonly description: string
  readonly quantity: number
  readonly unitPrice: number
  readonly amount: number
}

export interface Invoice {
  readonly type: 'invoice' | 'credit_note'
  readonly number: string | null
  readonly vendor: string | null
  readonly customer: string | null
  /** ISO 8601 dates. */
  readonly issuedOn: string | null
  readonly dueOn: string | null
  /** ISO 4217. */
  readonly currency: string | null
  /** Discounts and shipping are lines too, so that the lines sum up to the net. */
  readonly lines: readonly InvoiceLine[]
  readonly net: number | null
  /** In percent; null when there are several. */
  readonly taxRate: number | null
  readonly tax: number | null
  readonly total: number | null
}
