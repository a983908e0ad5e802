/**
 * What single passes have counted, added up in the source: a counter that begins at 0 in every process would hide what happened between
 * two pushes. And what each saw last, since a push replaces everything that was pushed before it.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Source } from '../ports/source.ts'
import type { CollectionReport } from './pass-parts.ts'
import type { PassReport } from './sweep.ts'

const TOTALS = 'metrics/totals'
const TRIES_MAX = 20

/** The totals with this report added. */
export async function addedUp(source: Source, report: PassReport): Promise<Totals> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const recalled = await source.recall(TOTALS)
    const totals = sum(recalled ? (JSON.parse(recalled.value) as Totals) : EMPTY, report)
    if ((await source.remember(TOTALS, JSON.stringify(totals), recalled?.rev ?? 0)) === 'ok') return totals
  }
  throw new RepriseError('sweep.totals', 'Other sweepers keep writing the totals; they are not pushed this time.')
}

export type Figures = Pick<CollectionReport, 'stuck' | 'failed' | 'oldestStuckMs' | 'health'>

export interface Totals {
  readonly runs: Readonly<Record<'success' | 'failure', number>>
  readonly errors: Readonly<Record<string, number>>
  readonly lastSuccessAt?: number
  readonly lastFailureAt?: number
  readonly collections: Readonly<
    Record<
      string,
      { readonly requeued: number; readonly skipped: number; readonly exceeded: number; readonly seen?: Figures }
    >
  >
}

const EMPTY: Totals = { runs: { success: 0, failure: 0 }, errors: {}, collections: {} }

function sum(known: Totals, report: PassReport): Totals {
  const status = report.ok ? 'success' : 'failure'
  const errors: Record<string, number> = { ...known.errors }
  const collections: Record<string, Totals['collections'][string]> = { ...known.collections }
  for (const each of report.collections) {
    const { requeued = 0, skipped = 0, exceeded = 0, seen: before } = collections[each.collection] ?? {}
    const { stuck, failed, oldestStuckMs, health } = each
    const seen = each.isCounted ? { stuck, failed, oldestStuckMs, health } : before
    collections[each.collection] = {
      requeued: requeued + each.begun + each.resent,
      skipped: skipped + each.waiting,
      exceeded: exceeded + each.ended,
      ...(seen ? { seen } : {}),
    }
    for (const [type, count] of Object.entries(each.errors)) errors[type] = (errors[type] ?? 0) + count
  }
  const lastSuccessAt = report.ok ? report.endedAt : known.lastSuccessAt
  const lastFailureAt = report.ok ? known.lastFailureAt : report.endedAt
  return {
    runs: { ...known.runs, [status]: known.runs[status] + 1 },
    errors,
    collections,
    ...(lastSuccessAt === undefined ? {} : { lastSuccessAt }),
    ...(lastFailureAt === undefined ? {} : { lastFailureAt }),
  }
}
