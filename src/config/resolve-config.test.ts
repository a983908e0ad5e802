import { describe, expect, test } from 'vitest'
import { daemon } from '../policy/defaults.ts'
import { definePolicy } from '../policy/define-policy.ts'
import { businessHours } from '../time/business-hours.ts'
import { defineConfig } from './config.ts'
import { ConfigError } from './config-error.ts'
import type { Layers } from './layers.ts'
import { printConfig } from './print-config.ts'
import { resolveConfig } from './resolve-config.ts'

const FILE = '/srv/app/reprise.config.ts'

interface Given {
  readonly file?: unknown
  readonly env?: Layers['env']
  readonly flags?: Layers['flags']
}

const resolve = ({ file, env = {}, flags = {} }: Given) =>
  resolveConfig({ cwd: '/home/me', env, flags, ...(file === undefined ? {} : { file: { path: FILE, config: file } }) })

function problemsOf(given: Given): string[] {
  try {
    resolve(given)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ origin, message }) => `${message} (${origin})`)
    throw error
  }
  return []
}

const row = (given: Given, name: string) => printConfig(resolve(given)).find((each) => each.name === name)

describe('where a value comes from', () => {
  test('without anything, everything is a default', () => {
    const { settings, entries } = resolve({})
    expect(settings).toEqual({
      store: { driver: 'sqlite', file: '/home/me/reprise.db' },
      artifacts: { driver: 'folder', folder: '/home/me/artifacts' },
      bus: { driver: 'memory' },
      worker: { concurrency: 16, leaseMs: 30_000, pollMs: 1_000, drainMs: 30_000 },
      priority: { ageingMs: 600_000 },
      timeouts: {},
      retention: { artifacts: 'keep', keysMs: 604_800_000 },
      log: { level: 'info' },
      incidents: { calendar: businessHours(), owners: {}, stuckAfterMs: 86_400_000 },
      policies: {},
      budgets: {},
      limits: {},
    })
    expect(entries.every(({ origin }) => origin === 'default')).toBe(true)
  })

  test('file over default, variable over file, flag over variable', () => {
    const file = defineConfig({ worker: { leaseMs: '40s' } })
    const env = { REPRISE_LEASE: '50s' }
    const flags = { lease: '60s' }
    expect(row({ file }, 'worker.leaseMs')).toMatchObject({ value: '40 s', origin: `file:${FILE}` })
    expect(row({ file, env }, 'worker.leaseMs')).toMatchObject({ value: '50 s', origin: 'env:REPRISE_LEASE' })
    expect(row({ file, env, flags }, 'worker.leaseMs')).toMatchObject({ value: '60 s', origin: 'flag:--lease' })
    expect(resolve({ file, env, flags }).settings.worker.leaseMs).toBe(60_000)
  })

  test('relative paths begin where they are written', () => {
    const file = defineConfig({ store: 'sqlite:a.db', artifacts: 'folder:b', app: './app.ts' })
    const { settings } = resolve({ file, env: { REPRISE_STORE: 'sqlite:c.db' } })
    expect(settings).toMatchObject({
      store: { file: '/home/me/c.db' },
      artifacts: { folder: '/srv/app/b' },
      app: '/srv/app/app.ts',
    })
    expect(resolve({ flags: { app: 'jobs/app.mjs' } }).settings.app).toBe('/home/me/jobs/app.mjs')
    expect(resolve({ flags: { app: '@me/jobs' } }).settings.app).toBe('@me/jobs')
  })

  test('every setting can be written', () => {
    const file = defineConfig({
      store: 'memory:',
      artifacts: 'memory:',
      bus: 'amqp://mq',
      app: 'jobs',
      token: 'abc',
      policies: { embed: 'daemon', 'extract:v2': { name: 'mine', maxAttempts: 3 }, own: definePolicy({ name: 'own' }) },
      budgets: { pro: { day: 50, month: { usd: 12.5 }, onExhausted: 'wait', zone: 'Europe/Berlin' } },
      limits: { 'gemini:flash': { concurrency: 8, perMinute: 600 } },
      retention: {
        ...{ succeededMs: '30d', failedMs: '90d', cancelledMs: 0, keepMax: 9, artifacts: 'with-run', keysMs: '14d' },
      },
      timeouts: { callMs: '60s', attemptMs: '10m', finalizeReserveMs: '5s' },
      worker: { concurrency: 4, leaseMs: 60_000, pollMs: '250ms', drainMs: '0s' },
      priority: { ageingMs: '1m' },
      log: { level: 'silent' },
      incidents: {
        zone: 'Europe/Berlin',
        hours: 'Mon-Thu 08:00-16:00',
        holidays: ['2026-12-25'],
        owners: { '2': 'platform', 'collection:archives': 'parsing' },
        stuckAfterMs: '6h',
        webhookUrl: 'https://example.com/hook',
        webhookSecret: 'a-secret-of-more-than-24-letters',
      },
    })
    const { settings, entries } = resolve({ file })
    expect(settings.policies['embed']).toBe(daemon)
    expect(settings.policies['extract:v2']).toMatchObject({ name: 'mine', maxAttempts: 3, scale: 'durable' })
    expect(settings.budgets['pro']).toEqual({
      day: 50,
      month: { usd: 12.5 },
      onExhausted: 'wait',
      zone: 'Europe/Berlin',
    })
    expect(settings.incidents).toMatchObject({
      calendar: { zone: 'Europe/Berlin', opensMinute: 480, holidays: ['2026-12-25'] },
      owners: { 'collection:archives': 'parsing' },
      stuckAfterMs: 21_600_000,
      webhook: { url: 'https://example.com/hook' },
    })
    expect(settings.limits['gemini:flash']).toEqual({ concurrency: 8, perMinute: 600 })
    expect(settings.retention).toEqual({
      ...{ succeededMs: 2_592_000_000, failedMs: 7_776_000_000, cancelledMs: 0 },
      ...{ keepMax: 9, artifacts: 'with-run', keysMs: 1_209_600_000 },
    })
    expect(settings.timeouts).toEqual({ callMs: 60_000, attemptMs: 600_000, finalizeReserveMs: 5_000 })
    expect(entries.filter(({ origin }) => origin !== `file:${FILE}`)).toEqual([])
  })

  test('every variable is read', () => {
    const env = {
      REPRISE_STORE: 'memory:',
      REPRISE_ARTIFACTS: 'memory:',
      REPRISE_BUS: 'memory:',
      REPRISE_APP: './app.ts',
      REPRISE_TOKEN: 'abc',
      REPRISE_CONCURRENCY: '3',
      REPRISE_LEASE: '45000',
      REPRISE_POLL: '2s',
      REPRISE_DRAIN: '5s',
      REPRISE_AGEING: '30m',
      REPRISE_CALL_TIMEOUT: '1m',
      REPRISE_ATTEMPT_TIMEOUT: '2m',
      REPRISE_FINALIZE_RESERVE: '3s',
      REPRISE_KEEP_SUCCEEDED: '1d',
      REPRISE_KEEP_FAILED: '2d',
      REPRISE_KEEP_CANCELLED: '3d',
      REPRISE_KEEP_MAX: '1000',
      REPRISE_KEEP_ARTIFACTS: 'with-run',
      REPRISE_KEEP_KEYS: '8d',
      REPRISE_LOG_LEVEL: 'debug',
      REPRISE_INCIDENT_ZONE: 'Europe/Berlin',
      REPRISE_INCIDENT_HOURS: 'Mon-Thu 08:00-16:00',
      REPRISE_INCIDENT_HOLIDAYS: '2026-12-25, 2026-12-26',
      REPRISE_INCIDENT_OWNERS: '2=platform,collection:archives=parsing',
      REPRISE_STUCK_AFTER: '2h',
      REPRISE_WEBHOOK_URL: 'http://127.0.0.1:8080/hook',
      REPRISE_WEBHOOK_SECRET: 'a-secret-of-more-than-24-letters',
    }
    const { settings, entries } = resolve({ env })
    expect(entries.map(({ origin }) => origin)).toEqual(entries.map(({ env: name }) => `env:${name}`))
    expect(entries).toHaveLength(Object.keys(env).length)
    expect(settings.worker).toEqual({ concurrency: 3, leaseMs: 45_000, pollMs: 2_000, drainMs: 5_000 })
  })

  test('every flag is read', () => {
    const flags = {
      store: 'memory:',
      artifacts: 'memory:',
      bus: 'memory:',
      app: './app.ts',
      concurrency: 3,
      lease: '45s',
      poll: '2s',
      drain: '5s',
      'log-level': 'warn',
      config: 'x',
    }
    const { entries } = resolve({ flags })
    expect(entries.flatMap(({ flag }) => (flag === undefined ? [] : [flag]))).toHaveLength(9)
    expect(entries.filter(({ origin }) => origin.startsWith('flag:'))).toHaveLength(9)
  })

  test('variables of other parts of the house, and of others, are left alone', () => {
    const env = {
      REPRISE_CORPUS: 'x',
      REPRISE_TEST_STRICT: '1',
      REPRISE_CRASH_AT: 'x',
      REPRISE_MODE: 'x',
      REPRISE_CONFIG: 'x',
      HOME: '/x',
    }
    expect(problemsOf({ env })).toEqual([])
  })

  test('a flag that was not given does not hide a variable', () => {
    expect(row({ env: { REPRISE_LEASE: '50s' }, flags: { lease: undefined } }, 'worker.leaseMs')?.origin).toBe(
      'env:REPRISE_LEASE',
    )
  })
})

describe('what is refused', () => {
  const allowedDuration =
    'allowed are milliseconds from 0 to 3155760000000 or text such as "500ms", "30s", "1m30s", "24h", "7d"'
  const top =
    'store, artifacts, bus, app, token, worker, priority, timeouts, retention, log, incidents, policies, budgets, limits'
  const files: Array<[unknown, string]> = [
    [{ stores: 'memory:' }, 'stores is not a setting; did you mean store?'],
    [{ wroker: {} }, 'wroker is not a setting; did you mean worker?'],
    [{ colour: 'red' }, `colour is not a setting; allowed are ${top}`],
    [{ [Symbol('x')]: 1 }, `Symbol(x) is not a setting; allowed are ${top}`],
    [{ worker: { leasMs: 1 } }, 'worker.leasMs is not a setting; did you mean worker.leaseMs?'],
    [
      { worker: { threads: 1 } },
      'worker.threads is not a setting; allowed are worker.concurrency, worker.leaseMs, worker.pollMs, worker.drainMs',
    ],
    [
      { worker: 5 },
      'worker: 5 is not allowed; allowed is an object with the fields concurrency, leaseMs, pollMs, drainMs',
    ],
    [{ log: null }, 'log: null is not allowed; allowed is an object with the fields level'],
    [{ worker: { concurrency: 0 } }, 'worker.concurrency: 0 is not allowed; allowed is a whole number from 1 to 10000'],
    [
      { worker: { concurrency: '8' } },
      'worker.concurrency: "8" is not allowed; allowed is a whole number from 1 to 10000',
    ],
    [
      { worker: { concurrency: 1.5 } },
      'worker.concurrency: 1.5 is not allowed; allowed is a whole number from 1 to 10000',
    ],
    [{ worker: { leaseMs: 'soon' } }, `worker.leaseMs: "soon" is not a duration; ${allowedDuration}`],
    [{ worker: { leaseMs: 5 } }, 'worker.leaseMs: 5 is not allowed; allowed is 100 ms to 24 h'],
    [{ worker: { leaseMs: '2d' } }, 'worker.leaseMs: "2d" is not allowed; allowed is 100 ms to 24 h'],
    [{ worker: { pollMs: 1 } }, 'worker.pollMs: 1 is not allowed; allowed is 10 ms to 1 h'],
    [{ worker: { drainMs: -1 } }, `worker.drainMs: -1 is not a duration; ${allowedDuration}`],
    [{ priority: { ageingMs: '400d' } }, 'priority.ageingMs: "400d" is not allowed; allowed is 0 ms to 365 d'],
    [{ priority: { agingMs: 1 } }, 'priority.agingMs is not a setting; did you mean priority.ageingMs?'],
    [{ timeouts: { callMs: 0 } }, 'timeouts.callMs: 0 is not allowed; allowed is 1 ms and more'],
    [{ retention: { keysMs: '1d' } }, 'retention.keysMs: "1d" is not allowed; allowed is 7 d and more'],
    [
      { retention: { keepMax: -1 } },
      'retention.keepMax: -1 is not allowed; allowed is a whole number from 0 to 1000000000',
    ],
    [{ retention: { artifacts: 'burn' } }, 'retention.artifacts: "burn" is not allowed; allowed is keep, with-run'],
    [{ log: { level: 'loud' } }, 'log.level: "loud" is not allowed; allowed is debug, info, warn, error, silent'],
    [
      { log: { level: 'inof' } },
      'log.level: "inof" is not allowed; allowed is debug, info, warn, error, silent; did you mean info?',
    ],
    [
      { log: { level: 'debugg' } },
      'log.level: "debugg" is not allowed; allowed is debug, info, warn, error, silent; did you mean debug?',
    ],
    [{ app: '' }, 'app: "" is not allowed; allowed is the path or the name of a module'],
    [
      { app: 'https://x/app.js' },
      'app: "https://x/app.js" is not allowed; allowed is the path or the name of a module',
    ],
    [
      { token: 'canary canary' },
      'token: its value, not shown, is not allowed; allowed is text of 1 to 4096 characters without spaces',
    ],
    [
      { incidents: { webhookUrl: 'http://example.com/canary' } },
      'incidents.webhookUrl: its value, not shown, is not allowed; allowed is an https address, or http to this machine, without a login in it',
    ],
    [
      { incidents: { webhookSecret: 'canary' } },
      'incidents.webhookSecret (its value is not shown) is not allowed; allowed is text of 24 to 200 characters without spaces',
    ],
    [
      { incidents: { zone: 'Mars/Olympus' } },
      'incidents.zone: "Mars/Olympus" is not a time zone; allowed are IANA names such as "UTC" or "Europe/Berlin"',
    ],
    [
      { incidents: { holidays: ['tomorrow'] } },
      'incidents.holidays: "tomorrow" is not a date; allowed are dates such as "2026-12-25"',
    ],
    [
      { incidents: { owners: { '5': 'x' } } },
      'incidents.owners: "5": "x" is not allowed; allowed are names by tier ("3") or subject ("collection:archives", "task:summarize")',
    ],
    [{ policies: 'daemon' }, 'policies: "daemon" is not allowed; allowed are plain objects'],
    [{ budgets: [] }, 'budgets: a list is not allowed; allowed are plain objects'],
    [
      { policies: { embed: 'deamon' } },
      'policies.embed: "deamon" is not allowed; allowed is inCall, extraction, flowReport, flowStorage, sqlAgent, documents, documentsPatient, daemon; did you mean daemon?',
    ],
    [
      { policies: { embed: 'forever' } },
      'policies.embed: "forever" is not allowed; allowed is inCall, extraction, flowReport, flowStorage, sqlAgent, documents, documentsPatient, daemon',
    ],
    [
      { policies: { embed: { maxAttempts: 0 } } },
      'policies.embed.maxAttempts: 0 is not allowed; allowed are whole numbers from 1 to 10000',
    ],
    [{ policies: { embed: 5 } }, 'policies.embed: 5 is not allowed; allowed are objects'],
    [
      { policies: JSON.parse('{"__proto__": "daemon"}') as object },
      'policies: "__proto__" is not a name; allowed are ^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,127}$',
    ],
    [{ budgets: { pro: {} } }, 'budgets.pro: {} is not allowed; allowed is a budget with at least one of day, month'],
    [
      { budgets: { pro: 50 } },
      'budgets.pro: 50 is not allowed; allowed is an object with the fields day, month, zone, onExhausted, warnAt',
    ],
    [{ budgets: { pro: { days: 5 } } }, 'budgets.pro.days is not a setting; did you mean budgets.pro.day?'],
    [
      { budgets: { pro: { colour: 5 } } },
      'budgets.pro.colour is not a setting; allowed are day, month, zone, onExhausted, warnAt',
    ],
    [
      { budgets: { pro: { day: -1 } } },
      'budgets.pro.day: -1 is not allowed; allowed is a whole number from 0 to 1000000000',
    ],
    [
      { budgets: { pro: { day: { usd: -2 } } } },
      'budgets.pro.day.usd: -2 is not allowed; allowed is dollars from 0 to 1000000',
    ],
    [
      { budgets: { pro: { day: 1, onExhausted: 'stop' } } },
      'budgets.pro.onExhausted: "stop" is not allowed; allowed is person, wait',
    ],
    [
      { budgets: { pro: { day: 1, zone: 'Mars/Base' } } },
      'budgets.pro.zone: "Mars/Base" is not allowed; allowed is an IANA time zone such as UTC or Europe/Berlin',
    ],
    [
      { budgets: { run: { day: 1 } } },
      'budgets.run: "run" is not allowed; allowed is a name such as "pro" or "gemini:pro", and not "run"',
    ],
    [
      { limits: { 'gemini:flash': {} } },
      'limits.gemini:flash: an object is not allowed; allowed is a limit with at least one of concurrency, perSecond, perMinute',
    ],
    [
      { limits: { 'gemini:flash': { concurrency: 0 } } },
      'limits.gemini:flash.concurrency: 0 is not allowed; allowed is a whole number from 1 to 1000000',
    ],
  ]
  test.each(files)('in the file: %j', (file, message) => {
    expect(problemsOf({ file })).toEqual([`${message} (file:${FILE})`])
  })

  const variables: Array<[string, string, string]> = [
    ['REPRISE_STOER', 'memory:', 'REPRISE_STOER is not a variable of Reprise; did you mean REPRISE_STORE?'],
    ['REPRISE_LEASE', 'x', `REPRISE_LEASE: "x" is not a duration; ${allowedDuration}`],
    [
      'REPRISE_CONCURRENCY',
      'many',
      'REPRISE_CONCURRENCY: "many" is not allowed; allowed is a whole number from 1 to 10000',
    ],
    ['REPRISE_CONCURRENCY', '', 'REPRISE_CONCURRENCY: "" is not allowed; allowed is a whole number from 1 to 10000'],
    [
      'REPRISE_TOKEN',
      '',
      'REPRISE_TOKEN: its value, not shown, is not allowed; allowed is text of 1 to 4096 characters without spaces',
    ],
  ]
  test.each(variables)('in the environment: %s=%s', (name, value, message) => {
    expect(problemsOf({ env: { [name]: value } })).toEqual([`${message} (env:${name})`])
  })

  test('an unknown variable lists what there is', () => {
    const [problem] = problemsOf({ env: { REPRISE_FAVOURITE_COLOUR: 'red' } })
    expect(problem).toMatch(
      /^REPRISE_FAVOURITE_COLOUR is not a variable of Reprise; allowed are REPRISE_STORE, REPRISE_ARTIFACTS,/,
    )
  })

  test('a flag', () => {
    expect(problemsOf({ flags: { lease: 1, leese: 2 } })).toEqual([
      '--lease: 1 is not allowed; allowed is 100 ms to 24 h (flag:--lease)',
      '--leese is not a flag of the configuration; did you mean --lease? (flag:--leese)',
    ])
  })

  test('everything at once, also what another layer overrides', () => {
    const given = {
      file: { worker: { leaseMs: 'soon' }, colour: 1 },
      env: { REPRISE_LEASE: '30s', REPRISE_STORE: 'mysql://u:canary-pw@h/d' },
    }
    expect(problemsOf(given).map((problem) => problem.split(' ')[0])).toEqual([
      'REPRISE_STORE:',
      'worker.leaseMs:',
      'colour',
    ])
    expect(() => resolve(given)).toThrow(expect.not.stringContaining('canary'))
  })
})

describe('safety', () => {
  test('secrets are masked in rows, and whole in settings', () => {
    const env = {
      REPRISE_TOKEN: 'canary-token',
      REPRISE_STORE: 'postgres://app:canary-pw@db/app',
      REPRISE_BUS: 'amqp://g:canary-mq@mq',
      REPRISE_WEBHOOK_URL: 'https://example.com/canary-path',
      REPRISE_WEBHOOK_SECRET: 'canary-secret-canary-secret',
    }
    const resolved = resolve({ env })
    expect(JSON.stringify([printConfig(resolved), resolved.entries])).not.toContain('canary')
    expect(row({ env }, 'store')?.value).toBe('postgres://***@db/app')
    expect(row({ env }, 'token')?.value).toBe('***')
    expect(resolved.settings).toMatchObject({
      token: 'canary-token',
      store: { url: 'postgres://app:canary-pw@db/app' },
    })
  })

  test('a poisoned prototype is not configuration', () => {
    const poison = Object.prototype as { store?: string; lease?: string }
    try {
      poison.store = 'mysql://'
      poison.lease = 'x'
      expect(resolve({ file: {} }).settings.store.driver).toBe('sqlite')
    } finally {
      delete poison.store
      delete poison.lease
    }
  })

  test('records by chosen names have no prototype', () => {
    const { settings } = resolve({ file: { policies: {}, budgets: {}, limits: {} } })
    expect([settings.policies, settings.budgets, settings.limits].map((each) => Reflect.getPrototypeOf(each))).toEqual([
      null,
      null,
      null,
    ])
    expect(settings.policies['constructor']).toBeUndefined()
  })
})

describe('rows', () => {
  test('tell value, origin, and what would override it', () => {
    expect(row({}, 'worker.leaseMs')).toEqual({
      name: 'worker.leaseMs',
      value: '30 s',
      origin: 'default',
      env: 'REPRISE_LEASE',
      flag: '--lease',
    })
    expect(row({}, 'token')?.value).toBe('not set')
    expect(row({}, 'retention.failedMs')?.value).toBe('kept for ever')
    expect(row({ file: { policies: { a: { name: 'mine' } } } }, 'policies.a')?.value).toBe('policy mine')
    expect(row({ file: { budgets: { pro: { day: 5 } } } }, 'budgets.pro.day.calls')?.value).toBe('5')
  })
})
