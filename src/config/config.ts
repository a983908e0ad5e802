/**
 * Configuration as it is written in `reprise.config.ts`, and as it comes out of the door: checked, complete, typed.
 * Types and `defineConfig` only; where values come from is `load-config.ts`.
 */
import type { Webhook } from '../incidents/webhook-address.ts'
import type { PolicyInput } from '../policy/complete-policy.ts'
import type { Policy } from '../policy/policy.ts'
import type { PresetName } from '../policy/presets.ts'
import type { BudgetOptions } from '../run/define-budget.ts'
import type { BusinessHours } from '../time/business-hours.ts'
import type { Duration } from '../time/duration.ts'
import type { ArtifactsAddress, BusAddress, StoreAddress } from './address.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

/** What `reprise.config.ts` exports. Every field may be left out; paths are relative to the file. */
export interface Config {
  /** `sqlite:./reprise.db`, `firestore://project`, `memory:`. */
  readonly store?: string
  /** `folder:./artifacts`, `gcs://bucket/prefix`, `memory:`. */
  readonly artifacts?: string
  /** `memory:`, `amqp://…`. */
  readonly bus?: string
  /** The module with your handlers, for `reprise work`. */
  readonly app?: string
  /** What clients of the HTTP API must show. Better kept in REPRISE_TOKEN. */
  readonly token?: string
  /** By task: a preset's name, or a policy. It goes before the one that the task was defined with. */
  readonly policies?: { readonly [task: string]: PresetName | PolicyInput }
  /** By name: hard caps, reserved before each call. */
  readonly budgets?: { readonly [budget: string]: BudgetOptions }
  /** By resource: how much of it may be used at a time. */
  readonly limits?: { readonly [resource: string]: LimitConfig }
  /** How long ended runs are kept; absent: for ever. */
  readonly retention?: {
    readonly succeededMs?: Duration
    readonly failedMs?: Duration
    readonly cancelledMs?: Duration
    /** Of each task at most this many ended runs are kept, the newest. */
    readonly keepMax?: number
    /** Whether a run that goes takes its artifacts with it. */
    readonly artifacts?: 'keep' | 'with-run'
    /** Keys outlive their runs by at least seven days. */
    readonly keysMs?: Duration
  }
  /** For tasks whose policy sets no limits of its own. */
  readonly timeouts?: {
    readonly callMs?: Duration
    readonly attemptMs?: Duration
    readonly finalizeReserveMs?: Duration
  }
  readonly worker?: {
    /** Attempts at a time. */
    readonly concurrency?: number
    /** How long a silent worker keeps its runs. */
    readonly leaseMs?: Duration
    /** How often the store is asked when no hint comes. */
    readonly pollMs?: Duration
    /** How long handlers may go on after a stop. */
    readonly drainMs?: Duration
  }
  readonly priority?: {
    /** A lower priority catches up one step in this time of waiting; 0 for never. For runs submitted from then on. */
    readonly ageingMs?: Duration
  }
  readonly log?: { readonly level?: LogLevel }
  /** Who answers when a threshold is passed, by when, and who hears of it. */
  readonly incidents?: {
    /** IANA zone of the business hours. */
    readonly zone?: string
    /** `Mon-Fri 09:00-17:00`. */
    readonly hours?: string
    /** Dates on which nobody works. */
    readonly holidays?: readonly string[]
    /** By subject (`collection:archives`) or tier (`3`). */
    readonly owners?: Readonly<Record<string, string>>
    /** A run that could have been claimed for longer is stuck, for incidents and metrics. */
    readonly stuckAfterMs?: Duration
    /** https, or http to this machine. */
    readonly webhookUrl?: string
    /** Signs what is sent there. Better kept in REPRISE_WEBHOOK_SECRET. */
    readonly webhookSecret?: string
  }
}

export interface LimitConfig {
  readonly concurrency?: number
  readonly perSecond?: number
  readonly perMinute?: number
}

/** Configuration after the door. Records by user-chosen name have no prototype. */
export interface Settings {
  readonly store: StoreAddress
  readonly artifacts: ArtifactsAddress
  readonly bus: BusAddress
  readonly app?: string
  readonly token?: string
  readonly policies: Readonly<Record<string, Policy>>
  readonly budgets: Readonly<Record<string, BudgetOptions>>
  readonly limits: Readonly<Record<string, LimitConfig>>
  readonly retention: {
    readonly succeededMs?: number
    readonly failedMs?: number
    readonly cancelledMs?: number
    readonly keepMax?: number
    readonly artifacts: 'keep' | 'with-run'
    readonly keysMs: number
  }
  readonly timeouts: { readonly callMs?: number; readonly attemptMs?: number; readonly finalizeReserveMs?: number }
  readonly worker: {
    readonly concurrency: number
    readonly leaseMs: number
    readonly pollMs: number
    readonly drainMs: number
  }
  readonly priority: { readonly ageingMs: number }
  readonly log: { readonly level: LogLevel }
  readonly incidents: {
    readonly calendar: BusinessHours
    readonly owners: Readonly<Record<string, string>>
    readonly stuckAfterMs: number
    readonly webhook?: Webhook
  }
}

/**
 * Gives `reprise.config.ts` its types. The values are checked when the file is loaded, together with everything that overrides them.
 * @example export default defineConfig({ store: 'sqlite:./reprise.db', worker: { concurrency: 8 } })
 */
export function defineConfig(config: Config): Config {
  return config
}
