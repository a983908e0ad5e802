/**
 * How the sweep looks: a pass, the state of collections, documents, and what a verb did.
 */
import type { SourceDocument, SourceNote } from '../../ports/source.ts'
import type { Acted } from '../../sweep/operate.ts'
import type { CollectionReport } from '../../sweep/pass-parts.ts'
import type { PassReport } from '../../sweep/sweep.ts'
import { briefDuration, formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'

const figure = (header: string) => ({ header, align: 'right' }) as const

export function passLines({ collections, ms, ok, dryRun }: PassReport, screen: Screen): string[] {
  const columns = [
    { header: 'collection' },
    figure(dryRun ? 'to begin' : 'begun'),
    figure(dryRun ? 'to end' : 'failed now'),
    figure('waiting'),
    figure('stuck'),
    figure('failed'),
    { header: 'service', flexible: true },
  ]
  const rows = collections.map((each) => [
    screen.text(each.collection),
    String(each.begun + each.resent),
    String(each.ended),
    // What could not be counted is not 0.
    ...[each.waiting, each.stuck, each.failed].map((count) => (each.isCounted ? String(count) : '?')),
    serviceText(each),
  ])
  const end = dryRun ? 'Nothing has changed.' : ok ? 'All well.' : 'Not all of it could be done; the next pass goes on.'
  return [...table(screen, columns, rows), '', ...wrap(`${formatDuration(ms)}. ${end}`, screen.columns)]
}

function serviceText({ health, deferred, errors }: CollectionReport): string {
  const trouble = Object.entries(errors).map(([type, count]) => `${type} ×${count}`)
  const state = health === 'sick' ? `sick: only probes go out, ${deferred} kept back` : 'well'
  return [state, ...trouble].join('; ')
}

export function documentLines(
  documents: readonly (SourceDocument & { readonly collection: string })[],
  screen: Screen,
  zone: string,
  now: number,
): string[] {
  const columns = [
    { header: 'collection' },
    { header: 'document', usual: 28 },
    figure('attempts'),
    { header: 'last attempt' },
    { header: 'last error', flexible: true },
  ]
  const rows = documents.map(({ collection, id, attempts, lastAttemptAt, marks }) => [
    screen.text(collection),
    screen.text(id),
    String(attempts),
    lastAttemptAt === undefined ? 'never' : clockTime(lastAttemptAt, zone, now),
    screen.text(marks.failure ? `${marks.failure.code}: ${marks.failure.message}` : (marks.why ?? '')),
  ])
  return table(screen, columns, rows)
}

export function auditLines(notes: readonly SourceNote[], screen: Screen, zone: string, now: number): string[] {
  const columns = [
    { header: 'when' },
    { header: 'who' },
    { header: 'what' },
    { header: 'of' },
    figure('done'),
    { header: 'which', flexible: true },
  ]
  const rows = notes.map(({ at, by, what, collection, data = {} }) => [
    clockTime(at, zone, now),
    screen.text(by),
    screen.text(what),
    screen.text(collection ?? String(data['queue'] ?? '')),
    `${data['done'] ?? 0}/${data['matched'] ?? 0}`,
    screen.text([data['of'], data['filter']].filter((each) => each !== undefined && each !== '{}').join(' ')),
  ])
  return table(screen, columns, rows)
}

const DONE: Readonly<Record<Acted['verb'], string>> = {
  requeue: 'due now',
  reset: 'begun again',
  schedule: 'scheduled',
  purge: 'deleted',
}

export function actedLines(
  { verb, collection, dryRun, matched, done, lost, ids }: Acted,
  screen: Screen,
  spreadMs = 0,
): string[] {
  const spread = spreadMs > 0 && matched > 1 ? `, spread over ${briefDuration(spreadMs)}` : ''
  const noun = (count: number) => `${count} ${count === 1 ? 'document' : 'documents'} of ${collection}`
  const such = ids.length > 0 ? `: ${ids.slice(0, 5).join(', ')}${matched > 5 ? ', …' : ''}` : ''
  if (dryRun)
    return matched === 0
      ? wrap(`There is no such document in ${collection}.`, screen.columns)
      : wrap(
          screen.text(`Would ${verb} ${noun(matched)}${such}${spread}. Nothing has changed yet; add --yes to do it.`),
          screen.columns,
        )
  const skipped = lost > 0 ? ` ${lost} changed meanwhile and were left alone.` : ''
  const what = verb === 'requeue' && spread !== '' ? 'due again' : DONE[verb]
  return wrap(
    screen.text(`${noun(done)} ${done === 1 ? 'is' : 'are'} ${what}${such}${spread}.${skipped}`),
    screen.columns,
  )
}
