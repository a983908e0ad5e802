/**
 * Which options and words each verb of `reprise sweep` takes: one that a verb would not look at is refused, because whoever gave it
 * believes that it was heard. It knows names only, no values.
 */
import { usageError } from './cli-error.ts'
import type { SweepVerb } from './commands/sweep-verbs.ts'

interface Takes {
  readonly options: readonly string[]
  /** How many words after the verb; absent: any number. */
  readonly words?: number
}

const CHOICE = ['collection', 'of', 'code', 'group'] as const
const ACT = ['yes', 'dryRun', 'by'] as const

const TAKES: Readonly<Record<SweepVerb | 'sweep', Takes>> = {
  sweep: { options: ['once', 'interval', 'dryRun', 'collection', 'store', 'metricsPort', 'metricsHost'], words: 0 },
  status: { options: ['collection'], words: 1 },
  stuck: { options: ['collection', 'code', 'group', 'limit'] },
  failed: { options: ['collection', 'code', 'group', 'limit'] },
  groups: { options: ['collection'], words: 1 },
  requeue: { options: [...CHOICE, ...ACT, 'spread'] },
  reset: { options: [...CHOICE, ...ACT, 'spread'] },
  schedule: { options: [...CHOICE, ...ACT, 'spread', 'at'] },
  export: { options: [...CHOICE, 'out'] },
  purge: { options: ['collection', ...ACT, 'from'], words: 1 },
  audit: { options: ['limit'], words: 0 },
  queue: { options: [...ACT, 'limit', 'out', 'spread', 'from'], words: 2 },
}

const QUEUE_TAKES: Readonly<Record<string, readonly string[]>> = {
  list: ['limit'],
  export: ['out'],
  requeue: [...ACT, 'spread'],
  purge: [...ACT, 'from'],
}

/** Options are named as they are typed. */
const typed = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** `given` are the options of this command that were typed. */
export function checkSweepOptions(
  verb: SweepVerb | undefined,
  words: readonly string[],
  given: readonly string[],
): void {
  const takes = TAKES[verb ?? 'sweep']
  const name = ['sweep', verb, verb === 'queue' ? (words[0] ?? 'list') : undefined].filter(Boolean).join(' ')
  const allowed = verb === 'queue' ? (QUEUE_TAKES[words[0] ?? 'list'] ?? takes.options) : takes.options
  const strange = given.find((option) => option !== 'config' && !allowed.includes(option))
  if (strange !== undefined)
    throw usageError(
      `${typed(strange)} is not an option of ${name}.`,
      `${['config', ...allowed].map(typed).join(', ')}.`,
    )
  const extra = takes.words === undefined ? undefined : words[takes.words]
  if (extra !== undefined) throw usageError(`${name} does not know what to do with ${JSON.stringify(extra)}.`)
}
