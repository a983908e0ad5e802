/**
 * The list of all settings: their names, bounds, defaults, variables and flags, and the door that all of them pass.
 * Pure: files are found and loaded elsewhere.
 */
import { resolve } from 'node:path'
import { maskSecrets } from '../failure/mask-secrets.ts'
import { definePolicy } from '../policy/define-policy.ts'
import type { Policy } from '../policy/policy.ts'
import { presets } from '../policy/presets.ts'
import { BUDGET_FIELDS, type BudgetOptions, defineBudget } from '../run/define-budget.ts'
import { AGEING_MS } from '../run/place.ts'
import { parseArtifacts, parseBus, parseStore } from './address.ts'
import { type LimitConfig, LOG_LEVELS, type Settings } from './config.ts'
import { ConfigError } from './config-error.ts'
import { duration } from './duration-setting.ts'
import { incidentSettings } from './incident-settings.ts'
import { type ConfigEntry, type Given, isPlain, type Layers, SettingReader } from './layers.ts'
import { nearest } from './nearest.ts'
import { shown } from './shown.ts'

export interface ResolvedConfig {
  readonly settings: Settings
  /** Every setting with its origin, for `reprise config`. Secrets are masked. */
  readonly entries: readonly ConfigEntry[]
  /** The file that was read, if there was one. */
  readonly file?: string
}

const DAY_MS = 86_400_000

/** Throws one ConfigError with everything that is wrong. */
export function resolveConfig(layers: Layers): ResolvedConfig {
  const reader = new SettingReader(layers)
  const settings = readSettings(reader)
  reader.refuseUnknown()
  if (reader.problems.length > 0) throw new ConfigError(reader.problems)
  return { settings, entries: reader.entries, ...(layers.file ? { file: layers.file.path } : {}) }
}

function readSettings(reader: SettingReader): Settings {
  const masked = (_value: unknown, { raw }: Given) => maskSecrets(String(raw))
  const store = reader.need('store', {
    env: 'REPRISE_STORE',
    flag: 'store',
    fallback: 'sqlite:./reprise.db',
    parse: ({ raw, field, folder }) => parseStore(raw, field, folder),
    print: masked,
  })
  const artifacts = reader.need('artifacts', {
    env: 'REPRISE_ARTIFACTS',
    flag: 'artifacts',
    fallback: 'folder:./artifacts',
    parse: ({ raw, field, folder }) => parseArtifacts(raw, field, folder),
    print: masked,
  })
  const bus = reader.need('bus', {
    env: 'REPRISE_BUS',
    flag: 'bus',
    fallback: 'memory:',
    parse: ({ raw, field }) => parseBus(raw, field),
    print: masked,
  })
  const app = reader.read('app', { env: 'REPRISE_APP', flag: 'app', parse: moduleOf })
  const token = reader.read('token', { env: 'REPRISE_TOKEN', parse: tokenOf, print: () => '***' })
  return {
    store,
    artifacts,
    bus,
    ...(app === undefined ? {} : { app }),
    ...(token === undefined ? {} : { token }),
    worker: {
      concurrency: reader.need('worker.concurrency', {
        env: 'REPRISE_CONCURRENCY',
        flag: 'concurrency',
        fallback: 16,
        parse: (given) => wholeNumber(given, 1, 10_000),
      }),
      leaseMs: reader.need('worker.leaseMs', {
        env: 'REPRISE_LEASE',
        flag: 'lease',
        fallback: 30_000,
        parse: (given) => duration(given, 100, DAY_MS),
      }),
      pollMs: reader.need('worker.pollMs', {
        env: 'REPRISE_POLL',
        flag: 'poll',
        fallback: 1_000,
        parse: (given) => duration(given, 10, 3_600_000),
      }),
      drainMs: reader.need('worker.drainMs', {
        env: 'REPRISE_DRAIN',
        flag: 'drain',
        fallback: 30_000,
        parse: (given) => duration(given, 0, DAY_MS),
      }),
    },
    priority: {
      ageingMs: reader.need('priority.ageingMs', {
        env: 'REPRISE_AGEING',
        fallback: AGEING_MS,
        parse: (given) => duration(given, 0, 365 * DAY_MS),
      }),
    },
    timeouts: {
      ...optional(reader, 'timeouts', 'callMs', 'REPRISE_CALL_TIMEOUT', 1),
      ...optional(reader, 'timeouts', 'attemptMs', 'REPRISE_ATTEMPT_TIMEOUT', 1),
      ...optional(reader, 'timeouts', 'finalizeReserveMs', 'REPRISE_FINALIZE_RESERVE', 0),
    },
    retention: {
      ...optional(reader, 'retention', 'succeededMs', 'REPRISE_KEEP_SUCCEEDED', 0),
      ...optional(reader, 'retention', 'failedMs', 'REPRISE_KEEP_FAILED', 0),
      ...optional(reader, 'retention', 'cancelledMs', 'REPRISE_KEEP_CANCELLED', 0),
      ...keepMaxOf(reader),
      artifacts: reader.need('retention.artifacts', {
        env: 'REPRISE_KEEP_ARTIFACTS',
        fallback: 'keep',
        parse: (given) => oneOf(given, ['keep', 'with-run']),
      }),
      keysMs: reader.need('retention.keysMs', {
        env: 'REPRISE_KEEP_KEYS',
        fallback: 7 * DAY_MS,
        parse: (given) => duration(given, 7 * DAY_MS),
      }),
    },
    log: {
      level: reader.need('log.level', {
        env: 'REPRISE_LOG_LEVEL',
        flag: 'log-level',
        fallback: 'info',
        parse: (given) => oneOf(given, LOG_LEVELS),
      }),
    },
    incidents: incidentSettings(reader),
    policies: named(reader, 'policies', policyOf),
    budgets: named(reader, 'budgets', budgetOf),
    limits: named(reader, 'limits', limitOf),
  }
}

/** A length of time that may be left out. */
function optional<Field extends string>(
  reader: SettingReader,
  section: string,
  field: Field,
  env: `REPRISE_${string}`,
  minMs: number,
): { readonly [F in Field]?: number } {
  const value = reader.read(`${section}.${field}`, { env, parse: (given) => duration(given, minMs) })
  return (value === undefined ? {} : { [field]: value }) as { readonly [F in Field]?: number }
}

function keepMaxOf(reader: SettingReader): Pick<Settings['retention'], 'keepMax'> {
  const parse = (given: Given) => wholeNumber(given, 0, 1_000_000_000)
  const keepMax = reader.read('retention.keepMax', { env: 'REPRISE_KEEP_MAX', parse })
  return keepMax === undefined ? {} : { keepMax }
}

/** A section by user-chosen names. Without a prototype, so that a task named `constructor` finds nothing by accident. */
function named<Value>(
  reader: SettingReader,
  section: string,
  parse: (given: Given, enter: (field: string, value: string | number) => void) => Value,
): Readonly<Record<string, Value>> {
  const found: Record<string, Value> = Object.create(null)
  for (const given of reader.records(section)) {
    const enter = (field: string, value: string | number) =>
      reader.enter({ name: field === '' ? given.field : `${given.field}.${field}`, value, origin: given.origin })
    const value = reader.attempt(given.origin, () => parse(given, enter))
    if (value !== undefined) found[given.field.slice(section.length + 1)] = value
  }
  return found
}

function policyOf(given: Given, enter: (field: string, value: string) => void): Policy {
  const { raw, field } = given
  if (typeof raw === 'string') {
    const names = Object.keys(presets)
    oneOf(given, names)
    enter('', raw)
    return presets[raw as keyof typeof presets]
  }
  try {
    const policy = definePolicy(raw as Parameters<typeof definePolicy>[0])
    enter('', `policy ${policy.name}`)
    return policy
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new RangeError(error.message.replace(/^policy\b/, field))
  }
}

/** The same form as in code; what is left out is shown as what it means. */
function budgetOf(given: Given, enter: (field: string, value: string | number) => void): BudgetOptions {
  const { raw, field } = given
  const budget = members(given, BUDGET_FIELDS) as BudgetOptions
  const { limits, onExhausted, zone, warnAt } = defineBudget(field.slice(field.indexOf('.') + 1), budget, field)
  for (const [window, of] of Object.entries(limits))
    for (const [unit, limit] of Object.entries(of ?? {})) enter(`${window}.${unit}`, limit)
  enter('onExhausted', onExhausted)
  enter('zone', zone)
  enter('warnAt', warnAt.join(', '))
  return Object.freeze({ ...(raw as BudgetOptions) })
}

const LIMITS = ['concurrency', 'perSecond', 'perMinute'] as const

function limitOf(given: Given, enter: (field: string, value: number) => void): LimitConfig {
  const limit = members(given, LIMITS)
  for (const name of LIMITS) {
    const part = partOf(given, limit, name)
    if (part.raw !== undefined) enter(name, wholeNumber(part, 1, 1_000_000))
  }
  if (LIMITS.every((name) => limit[name] === undefined))
    refuse(given, `a limit with at least one of ${LIMITS.join(', ')}`)
  return Object.freeze({ ...(limit as LimitConfig) })
}

/** A plain object with known fields only. */
function members(given: Given, known: readonly string[]): Readonly<Record<string, unknown>> {
  const { raw, field } = given
  if (!isPlain(raw)) return refuse(given, `an object with the fields ${known.join(', ')}`)
  for (const key of Reflect.ownKeys(raw)) {
    const name = String(key)
    if (known.includes(name)) continue
    const meant = nearest(name, known)
    const hint = meant === undefined ? `allowed are ${known.join(', ')}` : `did you mean ${field}.${meant}?`
    throw new RangeError(`${field}.${name} is not a setting; ${hint}`)
  }
  return raw
}

const partOf = (given: Given, parent: Readonly<Record<string, unknown>>, name: string, fallback?: unknown): Given => ({
  ...given,
  field: `${given.field}.${name}`,
  raw: parent[name] ?? fallback,
})

function wholeNumber(given: Given, min: number, max: number): number {
  const { raw, isText } = given
  const value = isText && /^\d{1,15}$/.test(String(raw)) ? Number(raw) : raw
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  return refuse(given, `a whole number from ${min} to ${max}`)
}

function oneOf<const Word extends string>(given: Given, words: readonly Word[]): Word {
  const found = words.find((word) => word === given.raw)
  if (found !== undefined) return found
  const meant = typeof given.raw === 'string' ? nearest(given.raw, words) : undefined
  return refuse(given, `${words.join(', ')}${meant === undefined ? '' : `; did you mean ${meant}?`}`)
}

/** A path is taken from where it was written; anything else is a package's name. */
function moduleOf(given: Given): string {
  const { raw, folder } = given
  if (typeof raw !== 'string' || raw === '' || /[\0\s]|^[a-z]+:\/\//.test(raw))
    return refuse(given, 'the path or the name of a module')
  return raw.startsWith('.') || /\.[cm]?[jt]s$/.test(raw) ? resolve(folder, raw) : raw
}

const TOKEN_MAX = 4_096

/** Its value is never told, not even when it is refused. */
function tokenOf({ raw, field }: Given): string {
  if (typeof raw === 'string' && raw.length > 0 && raw.length <= TOKEN_MAX && !/[\s\p{Cc}]/u.test(raw)) return raw
  throw new RangeError(
    `${field}: its value, not shown, is not allowed; allowed is text of 1 to ${TOKEN_MAX} characters without spaces`,
  )
}

function refuse({ raw, field }: Given, allowed: string): never {
  throw new RangeError(`${field}: ${shown(raw)} is not allowed; allowed is ${allowed}`)
}
