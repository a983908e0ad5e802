import { afterEach, describe, expect, test } from 'vitest'
import { failureOf } from '../../failure/own.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import { type Bench, openBench } from './real-client.fixtures.ts'
import { withReprise } from './with-reprise.ts'

let bench: Bench
const open = async (...given: Parameters<typeof openBench>) => {
  bench = await openBench(...given)
  return bench
}
afterEach(() => bench.server.close())

const failed = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('it failed'),
    (error: unknown) => error as Error & { code: unknown },
  )

describe('in mode own', () => {
  test('a query that works is one request, stamped, and the rows are the client’s', async () => {
    const { bigquery, options, sent, server } = await open()
    const [rows] = await withReprise(bigquery, options).query('SELECT 1')
    expect(rows).toEqual([
      { region: 'north', total: 40 },
      { region: 'south', total: 2 },
    ])
    expect(sent()).toEqual(['POST /queries 200'])
    expect(server.log.at(-1)?.stamp).toMatch(/^[0-9a-f]{16}\.1$/)
  })

  const infrastructure: Array<[what: string, fault: Parameters<Bench['server']['fault']>[0]]> = [
    ['503 backendError', { status: 503, reason: 'backendError' }],
    ['500 internalError', { status: 500, reason: 'internalError' }],
    ['429', { status: 429, reason: 'rateLimitExceeded', headers: { 'retry-after': '2' } }],
    ['403 rateLimitExceeded', { status: 403, reason: 'rateLimitExceeded', message: 'Exceeded rate limits' }],
    ['403 quotaExceeded of a short window', { status: 403, reason: 'quotaExceeded', message: 'Exceeded quota' }],
    ['a cut connection', { cut: 'before' }],
    ['an answer that got lost', { cut: 'after' }],
  ]
  test.each(infrastructure)('%s is repeated in silence: two requests, one answer, no error', async (_what, fault) => {
    const { bigquery, options, sent, server, events, clock } = await open()
    server.fault({ on: 'POST /queries', ...fault })
    const [rows] = await withReprise(bigquery, options).query('SELECT 1')
    expect(rows).toHaveLength(2)
    expect(sent()).toHaveLength(2)
    expect(sent().at(-1)).toBe('POST /queries 200')
    expect(events.map(({ name }) => name)).toEqual(['client.repeated'])
    expect(clock.waits.length).toBeLessThanOrEqual(1)
    const stamps = server.log.flatMap(({ stamp }) => (stamp === undefined ? [] : [stamp]))
    expect(stamps.map((stamp) => stamp.split('.')[1])).toEqual(['1', '2'])
  })

  test('the client’s own retries are off: an outage costs exactly the policy’s takes', async () => {
    const { bigquery, options, sent, server, events } = await open()
    server.fault({ on: 'POST /queries', times: 99, status: 503 })
    const error = await failed(withReprise(bigquery, options).query('SELECT 1'))
    expect(sent()).toEqual(Array(3).fill('POST /queries 503'))
    expect(failureOf(error)).toMatchObject({
      kind: 'transient',
      code: 'bigquery.backendError',
      layer: 'infrastructure',
      facts: { sdk: 'bigquery', takes: 3, operation: 'POST /queries' },
    })
    expect((error.cause as { code: number }).code).toBe(503)
    expect(events.map(({ name }) => name)).toEqual(['client.repeated', 'client.repeated', 'client.failed'])
  })

  test('the same holds for a connection that is cut each time', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({ on: 'POST /queries', times: 99, cut: 'before' })
    const error = await failed(withReprise(bigquery, options).query('SELECT 1'))
    expect(sent()).toHaveLength(3)
    expect(failureOf(error)).toMatchObject({ kind: 'transient', layer: 'infrastructure' })
  })

  test('a refused token is renewed once, silently', async () => {
    const { bigquery, options, sent, server } = await open()
    const client = withReprise(bigquery, options)
    await client.query('SELECT 1')
    server.revokeTokens()
    const [rows] = await client.query('SELECT 1')
    expect(rows).toHaveLength(2)
    expect(sent()).toEqual(['POST /queries 200', 'POST /queries 401', 'POST /queries 200'])
    expect(server.log.filter(({ operation }) => operation === 'POST /token')).toHaveLength(2)
  })

  test('a token that is refused again is final: no third request', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({ on: 'POST /queries', times: 9, status: 401, reason: 'authError', message: 'Invalid Credentials' })
    const error = await failed(withReprise(bigquery, options).query('SELECT 1'))
    expect(sent()).toHaveLength(2)
    expect(failureOf(error)).toMatchObject({ kind: 'final', layer: 'workflow' })
  })

  const workflow: Array<[reason: string, status: number, message: string, kind: string, advice: RegExp]> = [
    [
      'accessDenied',
      403,
      'Access Denied: Table sales-prod:finance.orders: User does not have permission to query table',
      'final',
      /^Check permissions on dataset sales-prod:finance: the role BigQuery Data Viewer/,
    ],
    ['billingNotEnabled', 403, 'Billing has not been enabled for this project.', 'final', /billing/],
    ['invalidQuery', 400, 'Unrecognized name: totl at [1:8]', 'final', /SQL/],
    ['resourcesExceeded', 400, 'Resources exceeded during query execution', 'final', /smaller/],
  ]
  test.each(workflow)('%s is not repeated and says what to do', async (reason, status, message, kind, advice) => {
    const { bigquery, options, sent, server, events } = await open()
    server.fault({ on: 'POST /queries', times: 9, status, reason, message })
    const error = await failed(withReprise(bigquery, options).query('SELECT 1'))
    expect(sent()).toEqual([`POST /queries ${status}`])
    expect(failureOf(error)).toMatchObject({ kind, code: `bigquery.${reason}`, layer: 'workflow' })
    expect(failureOf(error)?.advice).toMatch(advice)
    expect(events.map(({ name }) => name)).toEqual(['client.failed'])
  })

  /** The documented table: status, reason, kind, and the requests that a query costs when it stays that way. */
  const DOCUMENTED =
    `403 accessDenied final 1, 400 attributeError final 1, 503 backendError transient 3, 403 billingNotEnabled final 1,
    400 billingTierLimitExceeded final 1, 403 blocked final 1, 409 duplicate conflict 1, 500 internalError transient 3, 400 invalid final 1,
    400 invalidQuery final 1, 400 invalidUser final 1, 400 jobBackendError transient 3, 400 jobInternalError transient 3,
    400 jobRateLimitExceeded rate_limited 5, 404 notFound final 1, 501 notImplemented final 1, 407 proxyAuthenticationRequired final 1,
    403 quotaExceeded rate_limited 5, 403 rateLimitExceeded rate_limited 5, 400 resourceInUse transient 3, 400 resourcesExceeded final 1,
    403 responseTooLarge final 1, 400 tableUnavailable transient 3, 400 timeout final 1`
      .split(',')
      .map((row) => row.trim().split(' '))
  test.each(DOCUMENTED)('%s %s is %s and costs %s, with advice', async (status, reason = '', kind, requests) => {
    const { bigquery, options, sent, server } = await open()
    server.fault({ on: 'POST /queries', times: 99, status: Number(status), reason, message: 'BigQuery says no' })
    const error = await failed(withReprise(bigquery, options).query('SELECT 1'))
    const found = failureOf(error)
    expect(found).toMatchObject({ kind, code: `bigquery.${reason}` })
    expect(found?.advice).toMatch(/[.]$/)
    expect(sent()).toHaveLength(Number(requests))
    expect(error.cause).toMatchObject({ errors: [{ reason }] })
  })

  test('a quota of the day is told apart from one of the minute: one request, and when to come back', async () => {
    const { bigquery, options, sent, server } = await open()
    const message = 'Custom quota exceeded: Your usage exceeded the custom quota for QueryUsagePerDay'
    server.fault({ on: 'POST /queries', times: 9, status: 403, reason: 'quotaExceeded', message })
    const error = await failed(withReprise(bigquery, options).query('SELECT 1'))
    expect(sent()).toEqual(['POST /queries 403'])
    expect(failureOf(error)).toMatchObject({ kind: 'rate_limited', code: 'bigquery.quota.day' })
    expect(failureOf(error)?.advice).toMatch(/wait for its window/)
  })

  test('a job that failed on the server inside an answer of 200 is begun again as a new job', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({
      on: 'POST /queries',
      job: {
        reason: 'jobBackendError',
        message: 'Error encountered during execution. Retrying may solve the problem.',
      },
    })
    const [rows] = await withReprise(bigquery, options).query('SELECT 1')
    expect(rows).toHaveLength(2)
    expect(sent()).toEqual(['POST /queries 200', 'GET /queries/* 400', 'POST /queries 200'])
  })

  test('a job that was inserted and whose answer says that the query is wrong leaves as a classified failure', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({
      on: 'POST /jobs',
      job: { reason: 'invalidQuery', message: 'Syntax error: Unexpected end of script' },
    })
    const error = await failed(withReprise(bigquery, options).createQueryJob({ query: 'SELECT' }))
    expect(sent()).toEqual(['POST /jobs 200'])
    expect(failureOf(error)).toMatchObject({ kind: 'final', code: 'bigquery.invalidQuery' })
    expect(error.cause).toMatchObject({ errors: [{ reason: 'invalidQuery' }] })
  })

  test('an insert whose answer got lost finds its own job instead of making a second one', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({ on: 'POST /jobs', cut: 'after' })
    const [job] = await withReprise(bigquery, options).createQueryJob({ query: 'SELECT 1', jobId: 'mine' })
    expect(job.id).toBe('mine')
    expect(sent()).toEqual(['POST /jobs 0', 'POST /jobs 409', 'GET /jobs/* 200'])
  })

  test('a dry run is one request and no job', async () => {
    const { bigquery, options, sent, server } = await open()
    const [job] = await withReprise(bigquery, options).createQueryJob({ query: 'SELECT 1', dryRun: true })
    expect(job.metadata.statistics.totalBytesProcessed).toBe('1024')
    expect(sent()).toEqual(['POST /jobs 200'])
    expect(server.log.at(-1)?.dryRun).toBe(true)
  })

  test('the client still finds out by itself that something is not there', async () => {
    const { bigquery, options } = await open()
    expect(await withReprise(bigquery, options).job('nobody').exists()).toEqual([false])
  })

  test('rows without ids are not sent again when nobody knows whether they arrived', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({ times: 9, cut: 'after' })
    const table = withReprise(bigquery, options).dataset('finance').table('orders')
    const error = await failed(table.insert([{ json: { total: 1 } }], { raw: true }))
    expect(sent()).toHaveLength(1)
    expect(failureOf(error)).toMatchObject({ code: 'bigquery.ambiguous', layer: 'workflow' })
  })

  test('a deadline ends a server that never answers, and names it', async () => {
    const { bigquery, options, sent, server } = await open()
    server.fault({ on: 'POST /queries', times: 9, hang: true })
    const error = await failed(withReprise(bigquery, { ...options, timeoutMs: 100 }).query('SELECT 1'))
    expect(sent()).toEqual(['POST /queries 0'])
    expect(failureOf(error)).toMatchObject({ kind: 'exhausted', code: 'deadline.passed' })
    expect(isRepriseError(error.cause)).toBe(true)
  })

  test('callbacks are served like promises', async () => {
    const { bigquery, options } = await open()
    const rows = await new Promise((resolve, reject) => {
      withReprise(bigquery, options).query('SELECT 1', (error: unknown, found: unknown) =>
        error ? reject(error) : resolve(found),
      )
    })
    expect(rows).toHaveLength(2)
  })

  test('the client that was handed in stays as it was', async () => {
    const { bigquery, options } = await open()
    const before = Object.keys(bigquery)
    const request = bigquery.makeAuthenticatedRequest
    withReprise(bigquery, options)
    expect(bigquery.makeAuthenticatedRequest).toBe(request)
    expect(Object.keys(bigquery)).toEqual(before)
  })
})

describe('in mode observe', () => {
  test('the client’s own retries stay, are counted as hidden, and the answer is the client’s', async () => {
    const { bigquery, options, sent, server, events } = await open({ retryOptions: { retryDelayMultiplier: 0 } })
    server.fault({ on: 'POST /queries', times: 2, status: 503 })
    const [rows] = await withReprise(bigquery, { ...options, mode: 'observe' }).query('SELECT 1')
    expect(rows).toHaveLength(2)
    expect(sent()).toHaveLength(3)
    expect(events).toMatchObject([
      { name: 'client.hidden_retries', sdk: 'bigquery', operation: 'POST /queries', requests: 3, shown: 1, hidden: 2 },
    ])
  })

  test('the error is the client’s own, and what Reprise would have done is told once', async () => {
    const { bigquery, options, server, events } = await open({ autoRetry: false })
    server.fault({ on: 'POST /queries', status: 503 })
    const error = await failed(withReprise(bigquery, { ...options, mode: 'observe' }).query('SELECT 1'))
    expect(error.code).toBe(503)
    expect(failureOf(error)).toBeUndefined()
    expect(events).toMatchObject([{ name: 'client.observed', requests: 1, would: 'retry' }])
  })
})

describe('bad input', () => {
  test('names the field, the value and what is allowed', async () => {
    const { bigquery } = await open()
    expect(() => withReprise(bigquery, { mode: 'watch' as never })).toThrow(/mode: "watch" .* own, observe/)
    expect(() => withReprise(bigquery, { retries: 3 } as never)).toThrow(/retries is not an option; allowed are mode/)
    expect(() => withReprise(bigquery, { timeoutMs: 'soon' })).toThrow(/timeoutMs/)
    expect(() => withReprise({} as never)).toThrow(/is no client/)
  })
})
