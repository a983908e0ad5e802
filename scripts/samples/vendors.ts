/**
 * Who writes the sample invoices: twelve sellers with their language, currency, tax, way of printing figures, and wares.
 * All are invented.
 */

export interface Words {
  readonly invoice: string
  readonly creditNote: string
  readonly number: string
  readonly date: string
  readonly due: string
  readonly customer: string
  readonly vendor: string
  readonly columns: readonly [string, string, string, string]
  readonly net: string
  readonly tax: string
  readonly total: string
  readonly discount: string
  readonly shipping: string
  readonly thanks: string
  readonly months: readonly string[]
}

const EN: Words = {
  invoice: 'Invoice',
  creditNote: 'Credit note',
  number: 'Invoice number',
  date: 'Date of issue',
  due: 'Due date',
  customer: 'Bill to',
  vendor: 'From',
  columns: ['Description', 'Qty', 'Unit price', 'Amount'],
  net: 'Subtotal',
  tax: 'VAT',
  total: 'Total due',
  discount: 'Discount',
  shipping: 'Shipping',
  thanks: 'Thank you for your business. Please quote the invoice number with your payment.',
  months: 'January February March April May June July August September October November December'.split(' '),
}

const DE: Words = {
  invoice: 'Rechnung',
  creditNote: 'Gutschrift',
  number: 'Rechnungsnummer',
  date: 'Rechnungsdatum',
  due: 'Zahlbar bis',
  customer: 'Kunde',
  vendor: 'Lieferant',
  columns: ['Beschreibung', 'Menge', 'Einzelpreis', 'Betrag'],
  net: 'Nettobetrag',
  tax: 'MwSt.',
  total: 'Gesamtbetrag',
  discount: 'Rabatt',
  shipping: 'Versand',
  thanks: 'Wir danken für Ihren Auftrag. Die Ware bleibt bis zur vollständigen Bezahlung unser Eigentum.',
  months: 'Januar Februar März April Mai Juni Juli August September Oktober November Dezember'.split(' '),
}

const FR: Words = {
  invoice: 'Facture',
  creditNote: 'Avoir',
  number: 'Numéro de facture',
  date: 'Date de facture',
  due: 'Échéance',
  customer: 'Client',
  vendor: 'Fournisseur',
  columns: ['Désignation', 'Qté', 'Prix unitaire', 'Montant'],
  net: 'Total HT',
  tax: 'TVA',
  total: 'Total TTC',
  discount: 'Remise',
  shipping: 'Livraison',
  thanks: 'Nous vous remercions de votre confiance. Pas d’escompte pour paiement anticipé.',
  months: 'janvier février mars avril mai juin juillet août septembre octobre novembre décembre'.split(' '),
}

const ES: Words = {
  invoice: 'Factura',
  creditNote: 'Nota de crédito',
  number: 'Número de factura',
  date: 'Fecha de emisión',
  due: 'Fecha de vencimiento',
  customer: 'Cliente',
  vendor: 'Proveedor',
  columns: ['Descripción', 'Cant.', 'Precio', 'Importe'],
  net: 'Base imponible',
  tax: 'IVA',
  total: 'Total a pagar',
  discount: 'Descuento',
  shipping: 'Envío',
  thanks: 'Gracias por su compra. Rogamos indiquen el número de factura en la transferencia.',
  months: 'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'.split(' '),
}

const IT: Words = {
  invoice: 'Fattura',
  creditNote: 'Nota di credito',
  number: 'Numero fattura',
  date: 'Data',
  due: 'Scadenza',
  customer: 'Cliente',
  vendor: 'Fornitore',
  columns: ['Descrizione', 'Q.tà', 'Prezzo', 'Importo'],
  net: 'Imponibile',
  tax: 'IVA',
  total: 'Totale fattura',
  discount: 'Sconto',
  shipping: 'Spedizione',
  thanks: 'Grazie per averci scelto. Il pagamento è da effettuare con bonifico bancario.',
  months: 'gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'.split(' '),
}

const NL: Words = {
  invoice: 'Factuur',
  creditNote: 'Creditnota',
  number: 'Factuurnummer',
  date: 'Factuurdatum',
  due: 'Vervaldatum',
  customer: 'Klant',
  vendor: 'Leverancier',
  columns: ['Omschrijving', 'Aantal', 'Prijs', 'Bedrag'],
  net: 'Subtotaal',
  tax: 'BTW',
  total: 'Totaal te betalen',
  discount: 'Korting',
  shipping: 'Verzending',
  thanks: 'Dank voor uw bestelling. Wij verzoeken u het factuurnummer bij betaling te vermelden.',
  months: 'januari februari maart april mei juni juli augustus september oktober november december'.split(' '),
}

export type DateStyle = 'iso' | 'words' | 'dots' | 'slashes' | 'month-first'
export type FigureStyle = 'english' | 'german' | 'french' | 'swiss'

export interface Vendor {
  readonly name: string
  readonly place: string
  readonly taxId: string
  readonly words: Words
  readonly currency: string
  readonly sign: string
  readonly taxRates: readonly number[]
  readonly dates: DateStyle
  readonly figures: FigureStyle
  readonly decimals: 0 | 2
  readonly numbering: (year: number, count: number) => string
  /** Name and price. */
  readonly wares: ReadonlyArray<readonly [string, number]>
}

const three = (count: number) => String(count).padStart(3, '0')

export const VENDORS: readonly Vendor[] = [
  {
    name: 'Kestrel Office Supplies Ltd',
    place: '14 Foundry Lane, Leeds LS10 1JE, United Kingdom',
    taxId: 'VAT reg: GB 284 5517 20',
    words: EN,
    currency: 'GBP',
    sign: '£',
    taxRates: [20],
    dates: 'words',
    figures: 'english',
    decimals: 2,
    numbering: (year, count) => `KOS/${year}/${three(count)}`,
    wares: [
      ['Copier paper A4, box of 5 reams', 18.9],
      ['Toner cartridge black', 64.5],
      ['Ring binder, 50 mm', 3.15],
      ['Desk lamp with clamp', 41.99],
      ['Whiteboard markers, set of 8', 9.6],
      ['Filing cabinet, 3 drawers', 189],
    ],
  },
  {
    name: 'Nordwind Bürotechnik GmbH',
    place: 'Speicherstraße 9, 20457 Hamburg',
    taxId: 'USt-IdNr.: DE 811 220 457',
    words: DE,
    currency: 'EUR',
    sign: '€',
    taxRates: [19],
    dates: 'dots',
    figures: 'german',
    decimals: 2,
    numbering: (year, count) => `RE-${year}-${three(count)}`,
    wares: [
      ['Wartung Drucksystem', 149],
      ['Bildtrommel Farbe', 212.4],
      ['Arbeitszeit Techniker (Stunde)', 92.5],
      ['Anfahrtspauschale', 45],
      ['Netzwerkkabel 10 m', 12.75],
      ['Etiketten, Rolle', 7.2],
    ],
  },
  {
    name: 'Papeterie du Canal SARL',
    place: '27 quai de Valmy, 75010 Paris',
    taxId: 'N° TVA intracommunautaire : FR 55 402 118 930',
    words: FR,
    currency: 'EUR',
    sign: '€',
    taxRates: [20],
    dates: 'words',
    figures: 'french',
    decimals: 2,
    numbering: (year, count) => `F${year}${three(count)}`,
    wares: [
      ['Carnet relié A5', 11.5],
      ['Encre bleue, flacon', 8.9],
      ['Enveloppes kraft, paquet de 50', 14.2],
      ['Impression de cartes de visite', 86],
      ['Stylo plume laiton', 58.3],
    ],
  },
  {
    name: 'Librería Sol y Sombra S.L.',
    place: 'Calle del Olmo 18, 28012 Madrid',
    taxId: 'CIF: B84120376',
    words: ES,
    currency: 'EUR',
    sign: '€',
    taxRates: [21],
    dates: 'slashes',
    figures: 'german',
    decimals: 2,
    numbering: (year, count) => `${year}/A-${three(count)}`,
    wares: [
      ['Manual de contabilidad, 4.ª edición', 39.5],
      ['Atlas de bolsillo', 17.25],
      ['Suscripción trimestral a la revista', 54],
      ['Papel de regalo, rollo', 4.8],
    ],
  },
  {
    name: 'Officina Ferretti S.r.l.',
    place: 'Via dei Mille 40, 40121 Bologna',
    taxId: 'P. IVA: IT 03318840372',
    words: IT,
    currency: 'EUR',
    sign: '€',
    taxRates: [22],
    dates: 'slashes',
    figures: 'german',
    decimals: 2,
    numbering: (year, count) => `${three(count)}/${year}`,
    wares: [
      ['Revisione compressore', 320],
      ['Filtro aria', 27.8],
      ['Manodopera (ora)', 48],
      ['Olio sintetico, 5 litri', 61.9],
      ['Guarnizione in gomma', 3.45],
    ],
  },
  {
    name: 'Zürcher Werkzeug AG',
    place: 'Hardturmstrasse 201, 8005 Zürich',
    taxId: 'UID: CHE-114.552.870',
    words: DE,
    currency: 'CHF',
    sign: 'CHF',
    taxRates: [8.1],
    dates: 'dots',
    figures: 'swiss',
    decimals: 2,
    numbering: (year, count) => `ZW${year % 100}-${three(count)}`,
    wares: [
      ['Akkuschrauber 18 V', 289],
      ['Drehmomentschlüssel', 174.5],
      ['Bohrersatz Kobalt, 25 Stück', 118.9],
      ['Schutzbrille', 16.4],
      ['Werkbank, verstellbar', 1240],
    ],
  },
  {
    name: 'Blue Mesa Hosting Inc.',
    place: '500 Canyon Road, Boulder, CO 80302',
    taxId: 'EIN: 84-3120077',
    words: { ...EN, date: 'Invoice date', tax: 'Sales tax', total: 'Amount due' },
    currency: 'USD',
    sign: '$',
    taxRates: [8.25],
    dates: 'month-first',
    figures: 'english',
    decimals: 2,
    numbering: (year, count) => `BM-${year}${three(count)}`,
    wares: [
      ['Managed database, 1 month', 219],
      ['Object storage, per TB', 21.5],
      ['Dedicated host, 1 month', 640],
      ['Support plan, business', 99],
      ['Static IP address', 3.6],
    ],
  },
  {
    name: 'Sakura Print K.K.',
    place: '2-11-5 Kanda, Chiyoda, Tokyo 101-0044',
    taxId: 'Registration: T4010001092886',
    words: { ...EN, tax: 'Tax', total: 'Amount payable' },
    currency: 'JPY',
    sign: '¥',
    taxRates: [10],
    dates: 'iso',
    figures: 'english',
    decimals: 0,
    numbering: (year, count) => `SP${year}-${three(count)}`,
    wares: [
      ['Offset printing, 500 sheets', 18_500],
      ['Cover lamination', 6_200],
      ['Hand binding', 1_450],
      ['Design correction', 9_800],
    ],
  },
  {
    name: 'Grachten Koffie B.V.',
    place: 'Prinsengracht 312, 1016 HX Amsterdam',
    taxId: 'BTW-id: NL 8541 22 903 B01',
    words: NL,
    currency: 'EUR',
    sign: '€',
    taxRates: [9],
    dates: 'words',
    figures: 'german',
    decimals: 2,
    numbering: (year, count) => `GK${year}.${three(count)}`,
    wares: [
      ['Koffiebonen espresso, 1 kg', 17.9],
      ['Filterkoffie, 500 g', 8.45],
      ['Havermelk, doos van 6', 13.2],
      ['Rietjes papier, 250 stuks', 6.1],
    ],
  },
  {
    name: 'Fjällglas AB',
    place: 'Kvarngatan 3, 903 26 Umeå, Sweden',
    taxId: 'Org. no: 556801-2299',
    words: { ...EN, tax: 'Moms', total: 'Total to pay' },
    currency: 'SEK',
    sign: 'SEK',
    taxRates: [25],
    dates: 'iso',
    figures: 'french',
    decimals: 2,
    numbering: (_year, count) => `${7_400 + count}`,
    wares: [
      ['Tempered glass panel 80 × 120', 1_490],
      ['Edge polishing, per metre', 64],
      ['Mounting kit, stainless', 385.5],
      ['Crate and packing', 240],
    ],
  },
  {
    name: 'Harbour Legal LLP',
    place: '3 Quayside, Bristol BS1 4QA, United Kingdom',
    taxId: 'VAT reg: GB 917 0042 11',
    words: { ...EN, total: 'Grand total' },
    currency: 'GBP',
    sign: '£',
    taxRates: [20],
    dates: 'words',
    figures: 'english',
    decimals: 2,
    numbering: (year, count) => `HL-${year}-${three(count)}`,
    wares: [
      ['Contract review, partner (hour)', 310],
      ['Contract review, associate (hour)', 185],
      ['Filing fee', 75],
      ['Certified copies', 12.5],
    ],
  },
  {
    name: 'Prairie Seed Co.',
    place: '88 Elevator Street, Regina SK S4P 3Y2, Canada',
    taxId: 'GST no: 81340 2217 RT0001',
    words: { ...EN, tax: 'GST', total: 'Balance due' },
    currency: 'CAD',
    sign: 'C$',
    taxRates: [5],
    dates: 'iso',
    figures: 'english',
    decimals: 2,
    numbering: (year, count) => `PS-${year % 100}-${three(count)}`,
    wares: [
      ['Spring wheat, certified, 25 kg', 38.75],
      ['Flax seed, 20 kg', 44.2],
      ['Cover crop mix, 10 kg', 51.6],
      ['Seed treatment, per bag', 4.35],
    ],
  },
]
