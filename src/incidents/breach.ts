/**
 * What somebody saw of a collection or a task, and which thresholds that breaks. Pure; who looked, and how, is in `sightings.ts`.
 */
import { formatDuration } from '../time/duration.ts'
import { TRIGGER_RULES, TRIGGERS, type Trigger } from './tiers.ts'

export interface Sighting {
  /** `collection:archives`, `task:summarize`. */
  readonly subject: string
  /** Without a sign of life for longer than they should be. */
  readonly stuck: number
  /** How long the longest of them; 0 when there is none. */
  readonly oldestStuckMs: number
  /** Ran out of attempts since the last look. */
  readonly exhausted: number
  /** Wait for a decision. */
  readonly failed: number
  /** Not everything could be looked at: what is not seen may still be there. */
  readonly isPartial: boolean
}

export interface Breach {
  /** The same for the same trouble: `stuck/collection:archives`. */
  readonly key: string
  readonly trigger: Trigger
  readonly subject: string
  readonly value: number
  readonly above: number
}

const VALUES: { readonly [Each in Trigger]: (sighting: Sighting) => number } = {
  stuck: ({ stuck }) => stuck,
  stuckMany: ({ stuck }) => stuck,
  stuckThousand: ({ stuck }) => stuck,
  exhausted: ({ exhausted }) => exhausted,
  failed: ({ failed }) => failed,
  day: ({ oldestStuckMs }) => oldestStuckMs,
  week: ({ oldestStuckMs }) => oldestStuckMs,
}

export function breachesOf(sighting: Sighting): Breach[] {
  const { subject } = sighting
  return TRIGGERS.flatMap((trigger) => {
    const value = VALUES[trigger](sighting)
    const { above } = TRIGGER_RULES[trigger]
    return value > above ? [{ key: breachKey(trigger, subject), trigger, subject, value, above }] : []
  })
}

export const breachKey = (trigger: Trigger, subject: string): string => `${trigger}/${subject}`

/** One sentence, without its full stop. */
export function breachText({ trigger, subject, value }: Pick<Breach, 'trigger' | 'subject' | 'value'>): string {
  const [, kind = '', name = subject] = /^(collection|task):(.*)$/s.exec(subject) ?? []
  const things = (count: number) => {
    const [one, many] = kind === 'collection' ? ['document', 'documents'] : ['run', 'runs']
    return `${count} ${count === 1 ? one : many} of ${name}`
  }
  switch (trigger) {
    case 'stuck':
    case 'stuckMany':
    case 'stuckThousand':
      return `${things(value)} ${value === 1 ? 'is' : 'are'} stuck`
    case 'exhausted':
      return `${things(value)} ran out of attempts`
    case 'failed':
      return `${things(value)} failed and ${value === 1 ? 'waits' : 'wait'} for a decision`
    case 'day':
    case 'week':
      return `${kind === 'collection' ? 'A document' : 'A run'} of ${name} has been stuck for ${formatDuration(value)}`
  }
}
