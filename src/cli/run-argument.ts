/**
 * Words that mean a run, and words that filter runs, as typed on the command line.
 * What is not understood or not there becomes an error with the nearest right thing.
 */
import { isRepriseError } from '../failure/reprise-error.ts'
import { type FilterOptions, parseFilter, type RunFilter, resolveRun, storeNow } from '../ops/index.ts'
import type { RunView, Store } from '../ports/store.ts'
import { CliError, usageError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

export const RUN_HELP = 'an id (`r42`), `task/key`, a key alone, or the name of a document'
export const QUERY_HELP =
  'filters and texts: `task:invoice.* state:waiting,review kind:semantic code:gate.* category:c key:k since:2h before:12:00 "text"`'

/** The run that is meant, or an error that names the nearest ones. */
export async function runNamed(store: Store, word: string): Promise<RunView> {
  const resolved = await resolveRun(store, word)
  if ('found' in resolved) return resolved.found
  if ('several' in resolved) {
    const names = resolved.several.map(({ task, key = '' }) => `${task}/${key}`)
    throw usageError(
      `Several runs have the key ${shown(word)}.`,
      `One of: ${names.map((name) => shown(name)).join(', ')}.`,
    )
  }
  const near = resolved.nearest.map((name) => shown(name))
  throw new CliError({
    code: 'RUN_UNKNOWN',
    message: `No run ${shown(word)}.${near.length > 0 ? ` Nearest: ${near.join(', ')}.` : ''}`,
    tryThis: '`reprise runs` lists them.',
    exit: 1,
    touched: '',
  })
}

export async function filterFrom(
  store: Store,
  words: string | readonly string[],
  zone: string,
): Promise<{ readonly filter: RunFilter; readonly options: FilterOptions }> {
  const options = { now: await storeNow(store), zone }
  try {
    return { filter: parseFilter(words, options), options }
  } catch (error) {
    throw refusedFilter(error)
  }
}

/** What is wrong with a filter is for whoever wrote it; anything else stays as it is. */
export function refusedFilter(error: unknown): unknown {
  return isRepriseError(error) && error.code === 'filter.invalid'
    ? usageError(error.message, '`reprise help runs` shows the filters.')
    : error
}
