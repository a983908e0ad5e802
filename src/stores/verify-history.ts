/**
 * What `verify` asks of a run's history, for drivers that read it row by row: ledgers that add up, generations and tokens in order.
 * Each answers with what was found, or `false`; it knows no driver.
 */
import type { Ledgers } from '../policy/situation.ts'
import type { AttemptRecord } from '../run/run.ts'

interface Told {
  readonly generation: number
  readonly ledgers: Ledgers
}

export function wrongLedger({ generation, ledgers }: Told, history: readonly AttemptRecord[]): string | false {
  const rows = history.filter((row) => row.generation === generation)
  for (const name of ['errors', 'rateWaits', 'interruptions', 'escalations'] as const) {
    const entries = rows.filter(({ decision }) => decision?.entry === name).length
    if (entries !== ledgers[name]) return `${name} is ${ledgers[name]}, history has ${entries}`
  }
  const lapses = rows.filter(({ outcome }) => outcome === 'lapsed').length
  // A suspect that lapsed alone counts for its shared crash too, once.
  const wrong = ledgers.lapses < lapses || ledgers.lapses > 2 * lapses
  return wrong && `lapses is ${ledgers.lapses}, history has ${lapses}`
}

export function disorder({ generation }: Pick<Told, 'generation'>, history: readonly AttemptRecord[]): string | false {
  for (const [index, entry] of history.entries()) {
    const before = history[index - 1]
    if (entry.generation > generation) return `generation ${entry.generation} of ${generation}`
    if (before && before.generation > entry.generation)
      return `generation ${entry.generation} after ${before.generation}`
    if (before && before.generation === entry.generation && entry.attempt > 0 && before.token >= entry.token)
      return `token ${entry.token} after ${before.token}`
  }
  return false
}
