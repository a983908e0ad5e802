/**
 * The words by which invoices name their parts, in six languages. A label is what stands before a colon or in a row's first cell.
 * Only patterns; who reads the value is `read-invoice`.
 */

export type LabelName =
  | 'number'
  | 'issuedOn'
  | 'dueOn'
  | 'vendor'
  | 'customer'
  | 'currency'
  | 'extra'
  | 'net'
  | 'tax'
  | 'due'
  | 'total'

/** Sums that are printed for information and are not this invoice's. */
const ASIDE =
  /information|previous|last month|carried|reference|vorherig|précédent|anterior|before discount|vor rabatt/i

const NOT_TAX = /\b(id|idnr|reg|no|nr|number|nummer|n°|intra|ident)\b|-id/i

const PATTERNS: ReadonlyArray<readonly [LabelName, RegExp]> = [
  [
    'number',
    /^((invoice|credit note|bill|receipt|document) ?(no|number|num|#|id)|rechnungs?-? ?(nr|nummer)|belegnummer|gutschrift(s?nummer|-? ?nr)|(n°|nº|n\.º|numéro|número|numero|num) (de |della )?(facture|factura|fattura)|(facture|factura|fattura) (n°|nº|n\.º|n)|factuurnummer)$/,
  ],
  [
    'issuedOn',
    /^((invoice |issue |billing |document )?date( of issue)?|issued( on)?|(rechnungs|beleg|ausstellungs)?datum|date (de facture|de facturation|d'émission)|fecha( de (emisión|factura|expedición))?|data( fattura| di emissione)?|factuurdatum)$/,
  ],
  [
    'dueOn',
    /^(due( date| on| by)?|payment (due|terms)|terms|pay(able)? by|zahlbar( bis)?|zahlungsziel|fällig(keit| am)?|(date d')?échéance|(fecha de )?vencimiento|scadenza|vervaldatum|te betalen voor)$/,
  ],
  [
    'vendor',
    /^(from|vendor|seller|supplier|issuer|lieferant|verkäufer|absender|fournisseur|émetteur|vendeur|proveedor|emisor|fornitore|leverancier)$/,
  ],
  ['customer', /^(bill(ed)? to|to|customer|client|kunde|an|rechnung an|facturé à|cliente|klant|aan)$/],
  ['currency', /^(currency|währung|devise|moneda|divisa|valuta)$/],
  [
    'extra',
    /^(less )?(volume |loyalty |early )?(discount|rabatt|skonto|remise|descuento|sconto|korting|shipping|delivery|freight|versand(kosten)?|livraison|envío|spedizione|verzending)$/,
  ],
  [
    'net',
    /^(sub-?total|net( total| amount| value)?|netto(betrag|summe)?|zwischensumme|summe netto|(total|montant) (ht|hors taxes?)|sous-total|base imponible|imponibile|(totale )?netto|subtotaal|totaal excl btw)$/,
  ],
  [
    'tax',
    /^(plus |zzgl )?(vat|sales tax|state tax|tax|gst|hst|mwst|mehrwertsteuer|ust|umsatzsteuer|tva|iva|btw|moms)\b/,
  ],
  [
    'due',
    /^((total )?amount (due|payable)|total (due|payable|to pay|credit)|grand total|balance due|invoice total|zu zahlen(der betrag)?|zahlbetrag|rechnungsbetrag|gesamtbetrag|gutschriftsbetrag|total ttc|net à payer|total a pagar|importe total|totale (fattura|documento|da pagare)|totaal (te betalen|incl btw)|te betalen)$/,
  ],
  ['total', /^(total( amount)?|gesamt(summe)?|summe|totale|totaal|importe)$/],
]

/** What the label names, or undefined for a label of no interest. */
export function labelOf(printed: string): LabelName | undefined {
  if (ASIDE.test(printed)) return undefined
  const label = printed
    .toLowerCase()
    .replace(/\(.*?\)|\d+([.,]\d+)?\s?%/g, ' ')
    .replace(/\b(eur|usd|gbp|chf|jpy|sek|cad)\b/g, ' ')
    .replace(/[.:*_#]+(?=\s|$)|^[*_#\s]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const name = PATTERNS.find(([, pattern]) => pattern.test(label))?.[0]
  return name === 'tax' && NOT_TAX.test(label) ? undefined : name
}
