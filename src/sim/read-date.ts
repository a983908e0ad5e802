/**
 * Dates as invoices print them, in six languages, turned into ISO 8601; and terms such as "30 days".
 * It never looks at a clock: a date without a year is no date.
 */

const DAY_MS = 86_400_000

/** The first letters are enough to tell the months apart in English, German, French, Spanish, Italian and Dutch. */
const MONTHS: ReadonlyArray<readonly [start: RegExp, month: number]> = [
  [/^(jan|gen|ene)/, 1],
  [/^(feb|fév|fev)/, 2],
  [/^(mar|mär|maa|mrt)/, 3],
  [/^(apr|avr|abr)/, 4],
  [/^(may|mai|mag|mei)/, 5],
  [/^(jun|juin|giu)/, 6],
  [/^(jul|juil|lug)/, 7],
  [/^(aug|aoû|aou|ago)/, 8],
  [/^(sep|set)/, 9],
  [/^(oct|okt|ott)/, 10],
  [/^nov/, 11],
  [/^(dec|dez|déc|dic)/, 12],
]

/** `isMonthFirst` rules where both readings of `03/04/2026` are possible. */
export function readDate(text: string, isMonthFirst = false): string | null {
  const iso = /(\d{4})[-/](\d{1,2})[-/](\d{1,2})/.exec(text)
  if (iso) return isoDate(Number(iso[1]), Number(iso[2]), Number(iso[3]))
  const numeric = /(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4})/.exec(text)
  if (numeric) {
    const [first, second, year] = [Number(numeric[1]), Number(numeric[3]), Number(numeric[4])]
    const isSwapped = second > 12 || (isMonthFirst && numeric[2] === '/' && first <= 12)
    return isSwapped ? isoDate(year, first, second) : isoDate(year, second, first)
  }
  const dayFirst = /(\d{1,2})(?:st|nd|rd|th|er|º|\.)?\s+(?:de\s+)?(\p{L}{3,})\.?,?\s+(?:de\s+)?(\d{4})/u.exec(text)
  if (dayFirst) return isoDate(Number(dayFirst[3]), monthOf(dayFirst[2]), Number(dayFirst[1]))
  const monthFirst = /(\p{L}{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})/u.exec(text)
  if (monthFirst) return isoDate(Number(monthFirst[3]), monthOf(monthFirst[1]), Number(monthFirst[2]))
  return null
}

/** `30 days`, `net 30`, `14 Tage`: that long after the date of issue. */
export function readTerm(text: string, issuedOn: string | null): string | null {
  const found = /(?:net\s+(\d{1,3})|(\d{1,3})\s*(?:days|tage|jours|días|giorni|dagen))/iu.exec(text)
  const days = Number(found?.[1] ?? found?.[2])
  if (issuedOn === null || !Number.isFinite(days)) return null
  return new Date(Date.parse(issuedOn) + days * DAY_MS).toISOString().slice(0, 10)
}

function monthOf(name: string | undefined): number {
  const word = (name ?? '').toLowerCase()
  return MONTHS.find(([start]) => start.test(word))?.[1] ?? 0
}

function isoDate(year: number, month: number, day: number): string | null {
  const at = new Date(Date.UTC(year, month - 1, day))
  // The 31st of April would come back as the 1st of May.
  return month >= 1 && at.getUTCMonth() === month - 1 && at.getUTCDate() === day ? at.toISOString().slice(0, 10) : null
}
