/**
 * One example of each event, for tests and for the sentences on the reference page.
 */
import type { Failure } from '../failure/failure.ts'
import type { EventName, EventOf } from './event.ts'

/** 10 November 2026, 14:00 UTC. */
const AT = Date.UTC(2026, 10, 10, 14, 0, 0)
const MINUTE = 60_000

const run = { at: AT, run: 'r-42', task: 'summarize', key: 'invoice-7', generation: 1 } as const
const attempt = { ...run, attempt: 3, worker: 'w-7f' } as const
const call = { ...attempt, call: 'summary' } as const

export const unavailable: Failure = {
  kind: 'transient',
  code: 'http.503',
  layer: 'infrastructure',
  message: 'Service unavailable',
  advice: 'Wait; the service is expected back by itself.',
  rule: 'http/503',
  facts: { status: 503 },
}

const backoff = {
  code: 'wait.backoff',
  params: { attempt: 4, at: AT + 4 * MINUTE, backoff: '60 s ×2', dice: 0.91, used: 3, max: 8 },
} as const

const spent = { code: 'end.errors_spent', params: { used: 8, max: 8, message: unavailable.message } } as const
const crashed = { code: 'person.lapses_spent', params: { used: 3, max: 3, to: 'accounts' } } as const
const higher = {
  code: 'next.repairs_spent',
  params: { used: 2, max: 2, on: 'gemini:flash', to: 'gemini:pro', message: 'The total is not the sum of the lines' },
} as const

export const SAMPLES: { readonly [Name in EventName]: EventOf<Name> } = {
  'run.submitted': { name: 'run.submitted', ...run, priority: 0 },
  'run.returned': { name: 'run.returned', ...run },
  'run.unblocked': { name: 'run.unblocked', ...run, after: 'r-41' },
  'run.skipped': {
    name: 'run.skipped',
    ...run,
    why: { code: 'run.skipped', params: { step: 'fetch', how: 'failed' } },
  },
  'submit.conflict': { name: 'submit.conflict', ...attempt, child: 'index', childKey: 'page-3' },
  'attempt.started': { name: 'attempt.started', ...attempt, token: 7, retry: 2, retriesMax: 7 },
  'attempt.retried': {
    name: 'attempt.retried',
    ...attempt,
    retry: 3,
    retriesMax: 7,
    delayMs: 4 * MINUTE,
    dueAt: AT + 4 * MINUTE,
    why: backoff,
    decision: { act: 'retry', at: AT + 4 * MINUTE, counted: true, entry: 'errors', why: backoff },
    failure: unavailable,
  },
  'run.escalated': {
    name: 'run.escalated',
    ...attempt,
    to: 'gemini:pro',
    why: higher,
    decision: { act: 'escalate', at: AT, to: 'gemini:pro', rung: 1, counted: false, entry: 'escalations', why: higher },
    failure: { ...unavailable, kind: 'semantic', code: 'gate.total', message: 'The total is not the sum of the lines' },
  },
  'run.succeeded': { name: 'run.succeeded', ...attempt, retries: 2, ms: 1_200, sinceSubmitMs: 5 * MINUTE + 4_000 },
  'attempts.spent': { name: 'attempts.spent', ...attempt, ledger: 'errors', used: 8, max: 8, failure: unavailable },
  'run.failed': {
    name: 'run.failed',
    ...attempt,
    attempt: 8,
    failure: unavailable,
    why: spent,
    ledger: 'errors',
    attempts: 8,
    submittedAt: AT - 130 * MINUTE,
    firstAt: AT - 129 * MINUTE,
    lastAt: AT - MINUTE,
  },
  'run.review': { name: 'run.review', ...attempt, why: crashed, queue: 'accounts', dueAt: AT + 240 * MINUTE },
  'run.suspended': { name: 'run.suspended', ...attempt, on: 'cool-off', until: AT + 30 * MINUTE },
  'run.interrupted': { name: 'run.interrupted', ...attempt, cause: 'deploy', counted: false },
  'run.lapsed': { name: 'run.lapsed', ...attempt, claimedBy: 'w-02', counted: true, lapses: 1, lapsesMax: 3 },
  'run.cancelled': { name: 'run.cancelled', ...run, by: 'ana' },
  'run.generation': { name: 'run.generation', ...run, generation: 2, by: 'ana' },
  'lease.lost': { name: 'lease.lost', ...attempt, token: 7 },
  'write.refused': { name: 'write.refused', ...attempt, token: 7, what: 'end' },
  'call.sent': { name: 'call.sent', ...call, take: 1 },
  'call.repeated': {
    name: 'call.repeated',
    ...call,
    take: 1,
    retry: 1,
    retriesMax: 2,
    delayMs: 2_000,
    code: unavailable.code,
    failure: unavailable,
  },
  'call.answered': { name: 'call.answered', ...call, take: 2, ms: 840, costUsd: 0.002 },
  'call.failed': { name: 'call.failed', ...call, take: 3, ms: 6_100, failure: unavailable },
  'call.replayed': { name: 'call.replayed', ...call, answeredAt: AT - 2 * MINUTE, late: false },
  'call.receipt': { name: 'call.receipt', ...call, token: 7 },
  'call.ambiguous': { name: 'call.ambiguous', ...call, intentAt: AT - MINUTE, recourse: 'again' },
  'suspension.swallowed': { name: 'suspension.swallowed', ...attempt, on: 'cool-off' },
  'artifact.stored': {
    name: 'artifact.stored',
    ...attempt,
    artifact: 'report.pdf',
    uri: 'file:r-42/report.pdf',
    bytes: 18_211,
    reused: false,
  },
  progress: { name: 'progress', ...attempt, done: 12, of: 40, note: 'pages read' },
  log: { name: 'log', ...attempt, level: 'warn', message: 'The second page is empty.', data: { page: 2 } },
  'hold.set': {
    name: 'hold.set',
    at: AT,
    what: 'resource:gemini:flash',
    until: AT + 2 * MINUTE,
    by: 'gemini.rate',
    message: 'Resource has been exhausted, please retry in 2m.',
    foundBy: 'r-42',
    worker: 'w-7f',
  },
  'hold.probe': { name: 'hold.probe', at: AT, what: 'resource:gemini:flash', first: 'r-42', worker: 'w-7f' },
  'hold.released': { name: 'hold.released', at: AT, what: 'resource:gemini:flash', by: 'r-42', worker: 'w-7f' },
  'sweep.passed': {
    name: 'sweep.passed',
    at: AT,
    collections: 4,
    begun: 12,
    ended: 1,
    waiting: 30,
    stuck: 9,
    errors: 0,
    ms: 840,
  },
  'sweep.begun': {
    name: 'sweep.begun',
    at: AT,
    collection: 'archives',
    document: 'a-17',
    attempt: 2,
    message: 'sweep/archives/a-17/1.2',
  },
  'sweep.ended': {
    name: 'sweep.ended',
    at: AT,
    collection: 'archives',
    document: 'a-17',
    attempts: 3,
    lastAttemptAt: AT - 20 * MINUTE,
    lastError: 'The archive is not a mailbox file.',
    code: 'unknown',
    reason: 'attempt 3 of 3 failed',
  },
  'sweep.dependency': {
    name: 'sweep.dependency',
    at: AT,
    collection: 'threads',
    state: 'sick',
    processed: 2,
    troubled: 18,
  },
  'sweep.trouble': {
    name: 'sweep.trouble',
    at: AT,
    collection: 'threads',
    type: 'bus.unavailable',
    message: 'connect ECONNREFUSED 127.0.0.1:5672',
  },
  'worker.started': {
    name: 'worker.started',
    at: AT,
    worker: 'w-7f',
    store: 'sqlite',
    tasks: ['summarize', 'embed'],
    concurrency: 16,
    leaseMs: 30_000,
  },
  'worker.stopping': { name: 'worker.stopping', at: AT, worker: 'w-7f', running: 3 },
  'worker.stopped': { name: 'worker.stopped', at: AT, worker: 'w-7f', released: 1 },
  'store.pruned': { name: 'store.pruned', at: AT, worker: 'w-7f', runs: 1_200, keys: 40, ms: 35 },
  'store.trouble': {
    name: 'store.trouble',
    at: AT,
    worker: 'w-7f',
    verb: 'claim',
    code: 'store.unavailable',
    message: 'database is locked',
    retryInMs: 50,
  },
  'store.recovered': { name: 'store.recovered', at: AT, worker: 'w-7f', downMs: 3_200 },
}
