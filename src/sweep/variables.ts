/**
 * The variables of a retry job by their usual names, checked: everything that is wrong is told at once, with the variable, the value and
 * what is allowed. Passwords have no default and are never shown.
 */
import { maskSecrets } from '../failure/mask-secrets.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { CollectionInput } from './collection.ts'
import { ATTEMPTS_MAX } from './collection.ts'
import { shippedCollections } from './shipped.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export const METRICS_BACKENDS = ['prometheus_pushgateway', 'prometheus', 'none'] as const

export type MetricsBackend = (typeof METRICS_BACKENDS)[number]

export interface JobSettings {
  readonly intervalMs: number
  readonly collections: readonly CollectionInput[]
  readonly source?: { readonly url: string; readonly database: string }
  readonly bus?: { readonly url: string; readonly exchange?: string }
  readonly metrics: MetricsBackend
  readonly pushgatewayUrl?: string
}

const HOUR_MS = 3_600_000

/** Shorter than this is no password of a production system; the usual examples are refused by name. */
const KNOWN_DEFAULTS = new Set(['guest', 'example', 'password', 'changeme', 'admin', 'root', 'secret'])

export function readVariables(
  env: Variables,
  collections: readonly CollectionInput[] = shippedCollections,
): JobSettings {
  const problems: string[] = []
  const whole = (name: string, fallback: number, min: number, max: number): number => {
    const text = env[name]
    if (text === undefined || text === '') return fallback
    const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    problems.push(`${name}: ${shown(text)} is not allowed; allowed is a whole number from ${min} to ${max}`)
    return fallback
  }
  const baseS = whole('RETRY_JOB_BASE_DELAY_SECONDS', 300, 1, 86_400)
  const maxS = whole('RETRY_JOB_MAX_DELAY_SECONDS', 3_600, 1, 604_800)
  if (maxS < baseS && problems.length === 0)
    problems.push(
      `RETRY_JOB_MAX_DELAY_SECONDS: ${maxS} is not allowed; allowed is RETRY_JOB_BASE_DELAY_SECONDS (${baseS}) and more`,
    )
  const stuckHours = whole('RETRY_JOB_STUCK_THRESHOLD_HOURS', 24, 1, 8_760)
  const intervalMs = whole('RETRY_JOB_INTERVAL_SECONDS', 900, 1, 604_800) * 1_000
  const tuned = collections.map((collection): CollectionInput => {
    const name = attemptsVariable(collection)
    const isAsked = (variable: string) => env[variable] !== undefined && env[variable] !== ''
    return {
      ...collection,
      maxAttempts: whole(name, collection.maxAttempts ?? 3, 1, ATTEMPTS_MAX),
      // A file's own numbers stand unless a variable says otherwise.
      ...(collection.baseDelay === undefined || isAsked('RETRY_JOB_BASE_DELAY_SECONDS')
        ? { baseDelay: baseS * 1_000 }
        : {}),
      ...(collection.maxDelay === undefined || isAsked('RETRY_JOB_MAX_DELAY_SECONDS')
        ? { maxDelay: maxS * 1_000 }
        : {}),
      ...(collection.stuckAge === undefined || isAsked('RETRY_JOB_STUCK_THRESHOLD_HOURS')
        ? { stuckAge: stuckHours * HOUR_MS }
        : {}),
    }
  })
  problems.push(...unknownIn(env, collections))
  const source = mongodbOf(env, problems, whole)
  const bus = rabbitmqOf(env, problems, whole)
  const metrics = backendOf(env, problems)
  const pushgatewayUrl = gatewayOf(env, metrics, problems)
  if (problems.length > 0) throw new RepriseError('sweep.variables', problems.join('\n'))
  return {
    intervalMs,
    collections: tuned,
    metrics,
    ...(source ? { source } : {}),
    ...(bus ? { bus } : {}),
    ...(pushgatewayUrl === undefined ? {} : { pushgatewayUrl }),
  }
}

const attemptsVariable = ({ name }: CollectionInput): string =>
  `RETRY_JOB_MAX_ATTEMPTS_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`

/** A variable that nobody reads is a misspelt one. Those of the shipped collections are known to every sweep. */
function unknownIn(env: Variables, collections: readonly CollectionInput[]): string[] {
  const known = new Set([
    'RETRY_JOB_INTERVAL_SECONDS',
    'RETRY_JOB_BASE_DELAY_SECONDS',
    'RETRY_JOB_MAX_DELAY_SECONDS',
    'RETRY_JOB_STUCK_THRESHOLD_HOURS',
    ...[...shippedCollections, ...collections].map(attemptsVariable),
  ])
  return Object.keys(env)
    .filter((name) => name.startsWith('RETRY_JOB_') && !known.has(name))
    .map((name) => `${name}: there is no such variable; allowed are ${[...known].join(', ')}`)
}

type Whole = (name: string, fallback: number, min: number, max: number) => number

function mongodbOf(env: Variables, problems: string[], whole: Whole): JobSettings['source'] {
  const host = hostOf(env, 'MONGODB_HOST', problems)
  if (host === undefined) return undefined
  const port = whole('MONGODB_PORT', 27_017, 1, 65_535)
  const database = env['MONGODB_DATABASE']
  if (!database) problems.push('MONGODB_DATABASE: it is missing; allowed is the name of a database')
  const login = loginOf(env, 'MONGODB', problems)
  return {
    url: `mongodb://${login}${host}:${port}/${login === '' ? '' : '?authSource=admin'}`,
    database: database ?? '',
  }
}

function rabbitmqOf(env: Variables, problems: string[], whole: Whole): JobSettings['bus'] {
  const host = hostOf(env, 'RABBITMQ_HOST', problems)
  if (host === undefined) return undefined
  const port = whole('RABBITMQ_PORT', 5_672, 1, 65_535)
  const login = loginOf(env, 'RABBITMQ', problems)
  const exchange = env['RABBITMQ_EXCHANGE']
  return { url: `amqp://${login}${host}:${port}`, ...(exchange ? { exchange } : {}) }
}

function hostOf(env: Variables, name: string, problems: string[]): string | undefined {
  const host = env[name]
  if (host === undefined || host === '') return undefined
  if (!/^[A-Za-z0-9.:[\]_-]{1,253}$/.test(host))
    problems.push(`${name}: ${shown(host)} is not allowed; allowed is the name or address of a host`)
  return host
}

/** Both or neither. A password that everybody knows is none, unless it is for a server on this machine. */
function loginOf(env: Variables, of: 'MONGODB' | 'RABBITMQ', problems: string[]): string {
  const [user, password] = [env[`${of}_USERNAME`] ?? '', env[`${of}_PASSWORD`] ?? '']
  if (user === '' && password === '') return ''
  if (user === '' || password === '') {
    const missing = user === '' ? 'USERNAME' : 'PASSWORD'
    problems.push(
      `${of}_${missing}: it is missing; allowed are user and password together, or neither. It has no default`,
    )
    return ''
  }
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(env[`${of}_HOST`] ?? '')
  if (!isLocal && KNOWN_DEFAULTS.has(password.toLowerCase()))
    problems.push(`${of}_PASSWORD: its value, not shown, is one that everybody knows; allowed is one of your own`)
  return `${encodeURIComponent(user)}:${encodeURIComponent(password)}@`
}

function backendOf(env: Variables, problems: string[]): MetricsBackend {
  const given = env['METRICS_BACKEND'] || 'prometheus'
  const found = METRICS_BACKENDS.find((each) => each === given)
  if (found === undefined)
    problems.push(`METRICS_BACKEND: ${shown(given)} is not allowed; allowed are ${METRICS_BACKENDS.join(', ')}`)
  return found ?? 'none'
}

function gatewayOf(env: Variables, backend: MetricsBackend, problems: string[]): string | undefined {
  const url = env['PUSHGATEWAY_URL']
  if (url !== undefined && url !== '' && !(URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) {
    problems.push(`PUSHGATEWAY_URL: ${shown(url)} is not allowed; allowed is http://<host>:<port>`)
    return undefined
  }
  if (url) return url
  if (backend === 'prometheus_pushgateway')
    problems.push('PUSHGATEWAY_URL: it is missing; METRICS_BACKEND prometheus_pushgateway needs http://<host>:<port>')
  return undefined
}

const SHOWN_MAX = 60

const shown = (value: string): string =>
  maskSecrets(JSON.stringify(value.length > SHOWN_MAX ? `${value.slice(0, SHOWN_MAX)}…` : value))
