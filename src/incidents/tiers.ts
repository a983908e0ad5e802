/**
 * The tiers of escalation as data: what begins each, whose it is, how soon, and what is to be done.
 * Nothing here acts; thresholds are compared in `breach.ts` and times are counted in `incidents.ts`.
 */
export type Tier = 1 | 2 | 3 | 4

/** Counted in business hours of the calendar, or by the clock. */
export interface TimeLimit {
  readonly ms: number
  readonly hours: 'business' | 'clock'
}

export interface TierRule {
  readonly tier: Tier
  readonly name: string
  readonly owner: string
  /** Until somebody acknowledges it. Absent: nobody has to. */
  readonly respond?: TimeLimit
  /** Until it is resolved. */
  readonly resolve?: TimeLimit
  /** As people read the two. */
  readonly within: string
  /** It may be resolved by whoever sees that the breach is over; else only a person does. */
  readonly heals: boolean
  readonly steps: readonly string[]
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

export const TIERS: Readonly<Record<Tier, TierRule>> = {
  1: {
    tier: 1,
    name: 'automatic retry',
    owner: 'the retry itself',
    within: 'no limit: it wakes nobody',
    heals: true,
    steps: ['Nothing: what failed or fell silent is begun again by itself.'],
  },
  2: {
    tier: 2,
    name: 'warning',
    owner: 'platform team',
    respond: { ms: 4 * HOUR_MS, hours: 'business' },
    within: 'investigated within 4 business hours',
    heals: true,
    steps: [
      'Look at the health of the service: its log, its metrics, its resources.',
      'Was it deployed or reconfigured when this began?',
      'Look at what is stuck: is it of one kind, one source, one hour?',
      'If it is not yours to mend, tell the team of the service.',
    ],
  },
  3: {
    tier: 3,
    name: 'critical',
    owner: 'team of the service',
    respond: { ms: HOUR_MS, hours: 'clock' },
    within: 'answered within an hour',
    heals: false,
    steps: [
      'Read the errors, and the messages in the failed queue.',
      'Find the cause: a bug, bad data, or something it depends on.',
      'Mend it, and deploy if that is needed.',
      'Decide: begin again what can be mended, purge what never can.',
      'Write the decision into the log of this incident.',
    ],
  },
  4: {
    tier: 4,
    name: 'engineering lead',
    owner: 'engineering lead',
    // At once means at once; it is called late only after the time that it takes to reach a keyboard.
    respond: { ms: 5 * MINUTE_MS, hours: 'clock' },
    resolve: { ms: 24 * HOUR_MS, hours: 'clock' },
    within: 'answered at once, resolved within 24 hours',
    heals: false,
    steps: [
      'Declare the incident and name who leads it.',
      'Call together platform and the teams of the services.',
      'Find the root cause.',
      'Do what helps at once: a hotfix, a requeue by hand, a purge.',
      'Write down what happened, and what is done so that it does not again.',
    ],
  },
}

export const TRIGGERS = ['stuck', 'stuckMany', 'stuckThousand', 'exhausted', 'failed', 'day', 'week'] as const

export type Trigger = (typeof TRIGGERS)[number]

export interface TriggerRule {
  readonly tier: Tier
  /** More than this is a breach: a count, or milliseconds for `day` and `week`. */
  readonly above: number
  /** The headings in the runbooks, for documents and for runs. */
  readonly runbook: { readonly collection: string; readonly task: string }
}

/** Each is an incident of its own: what has grown past the next threshold is somebody else's too, who owes an answer sooner. */
export const TRIGGER_RULES: Readonly<Record<Trigger, TriggerRule>> = {
  stuck: { tier: 2, above: 50, runbook: { collection: 'StuckDocumentsWarning', task: 'StuckRunsWarning' } },
  stuckMany: { tier: 3, above: 200, runbook: { collection: 'StuckDocumentsCritical', task: 'StuckRunsCritical' } },
  stuckThousand: {
    tier: 4,
    above: 1_000,
    runbook: { collection: 'StuckDocumentsThousand', task: 'StuckRunsThousand' },
  },
  exhausted: { tier: 3, above: 0, runbook: { collection: 'MaxRetriesExceededCritical', task: 'FailureRateHigh' } },
  failed: { tier: 4, above: 1_000, runbook: { collection: 'FailedDocumentsMany', task: 'FailureRateHigh' } },
  day: { tier: 2, above: 24 * HOUR_MS, runbook: { collection: 'StuckDocumentsWarning', task: 'StuckRunsWarning' } },
  week: { tier: 4, above: 7 * 24 * HOUR_MS, runbook: { collection: 'StuckDocumentsWeek', task: 'StuckRunsWeek' } },
}

const RUNBOOKS = 'docs/operating/runbooks.md'

export function runbookOf({ trigger, subject }: { readonly trigger: Trigger; readonly subject: string }): string {
  const { collection, task } = TRIGGER_RULES[trigger].runbook
  return `${RUNBOOKS}#${(subject.startsWith('task:') ? task : collection).toLowerCase()}`
}
