/**
 * The tasks of the simulation: the real policies in small, so that every ledger runs out within minutes of virtual time.
 */
import { defineTask, type Task } from '../../engine/task.ts'
import type { PolicyInput } from '../../policy/complete-policy.ts'
import type { TaskName } from './script.ts'

export interface SimInput {
  readonly item: number
  /** A run that the item's own run began: which of the children of its join, or `told` for the one that began with its success. */
  readonly child?: number | 'told'
}

/** What several tasks need, and what is therefore held, limited and watched for all of them. */
export const SIM_RESOURCE = 'api'

const quick: PolicyInput = {
  name: 'simulated',
  maxAttempts: 4,
  unknownMaxAttempts: 2,
  rateWaitsMax: 3,
  interruptionsMax: 2,
  lapsesMax: 3,
  toldDelay: { minMs: 100, maxMs: 90_000 },
  kinds: {
    transient: { backoff: { baseMs: 1_000, capMs: 6_000 } },
    rate_limited: { backoff: { baseMs: 1_000, capMs: 6_000 } },
    interrupted: { backoff: { baseMs: 400, capMs: 3_000 } },
  },
}

/** The same under another name: one more policy that every process has to keep before it decides by it. */
const named = (name: string): PolicyInput => ({ ...quick, name: `simulated-${name}` })

const climbing: PolicyInput = {
  ...quick,
  name: 'simulated-ladder',
  ladder: [
    { type: 'model', name: 'small', attempts: 2 },
    { type: 'model', name: 'large', attempts: 2 },
    { type: 'person', name: 'desk', queue: 'desk', withinMs: 20_000 },
  ],
}

export const SIM_TASKS: Readonly<Record<TaskName | 'part', Task<SimInput, unknown>>> = {
  plain: defineTask<SimInput, unknown>({ name: 'plain', policy: quick }),
  limited: defineTask<SimInput, unknown>({
    ...{ name: 'limited', policy: named('limited'), timeout: 9_000, concurrency: { perKey: 2 } },
  }),
  climb: defineTask<SimInput, unknown>({ name: 'climb', policy: climbing, resources: ['small'] }),
  metered: defineTask<SimInput, unknown>({ name: 'metered', policy: named('metered'), resources: [SIM_RESOURCE] }),
  part: defineTask<SimInput, unknown>({ name: 'part', policy: named('part') }),
}
