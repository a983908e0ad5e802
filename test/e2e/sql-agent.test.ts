import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { type BaseCheckpointSaver, MemorySaver } from '@langchain/langgraph'
import fc from 'fast-check'
import { createReprise, definePolicy, immediate, type RepriseEvent, sentenceOf } from 'reprise'
import { withReprise as modelWithReprise } from 'reprise/ai'
import { withReprise as bigqueryWithReprise } from 'reprise/bigquery'
import { type NodeFailure, type SqliteJournal, sqliteJournal } from 'reprise/langgraph'
import { memory } from 'reprise/stores/memory'
import { type BigQueryFault, type BigQueryServer, systemClock } from 'reprise/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { sqlAgent } from '../../examples/sql-agent/agent.ts'
import { askTask } from '../../examples/sql-agent/app.ts'
import { bigqueryWarehouse, localBigQuery, localClient } from '../../examples/sql-agent/bigquery.ts'
import { type GeminiFault, type GeminiServer, geminiServer } from '../../examples/sql-agent/gemini-server.ts'
import { scriptedAnswer } from '../../examples/sql-agent/scripted-model.ts'

const PLAIN = 'How much did each product bring?'
const SLIPS = 'Which region sold most in 2026?'
const FORBIDDEN = 'What does the finance table say?'

/** Words that would tell a model of the weather in a data centre. */
const INFRASTRUCTURE = /503|429|401|overloaded|unavailable|backend|rate limit|quota|socket|ECONN|token|Retrying/i

interface World {
  readonly gemini: GeminiServer
  readonly warehouse: BigQueryServer
  readonly reports: string[]
  readonly shown: NodeFailure[]
  readonly events: RepriseEvent[]
  ask(question: string, thread?: string): Promise<{ report?: string | undefined }>
  resume(thread: string): Promise<{ report?: string | undefined }>
  /** Requests to BigQuery by operation: `dry run`, `query`, `results`. */
  sent(): string[]
  prompts(): string[]
}

const worlds: World[] = []
afterEach(async () => {
  for (const { gemini, warehouse } of worlds.splice(0)) await Promise.all([gemini.close(), warehouse.close()])
})

async function openWorld(
  given: { checkpointer?: BaseCheckpointSaver; journal?: SqliteJournal; mode?: 'own' | 'observe' } = {},
): Promise<World> {
  const { mode = 'own', ...kept } = given
  const gemini = await geminiServer(scriptedAnswer)
  const warehouse = await localBigQuery()
  const reports: string[] = []
  const shown: NodeFailure[] = []
  const events: RepriseEvent[] = []
  // Waits are decided and not waited for.
  const clock = { ...systemClock, sleep: async () => {} }
  const options = { mode, clock, emit: (event: RepriseEvent) => events.push(event) }
  const google = createGoogleGenerativeAI({ baseURL: gemini.url, apiKey: 'local' })
  const agent = sqlAgent({
    model: modelWithReprise(google('gemini-flash-latest'), options),
    warehouse: bigqueryWarehouse(bigqueryWithReprise(localClient(warehouse), options)),
    deliver: (report) => reports.push(report),
    onFailure: (failed) => shown.push(failed),
    ...kept,
  })
  const configOf = (thread: string) => ({ configurable: { thread_id: thread }, durability: 'sync' as const })
  const world: World = {
    gemini,
    warehouse,
    reports,
    shown,
    events,
    ask: (question, thread = 'one') => agent.invoke({ question }, configOf(thread)),
    resume: (thread) => agent.invoke(null, configOf(thread)),
    sent: () =>
      warehouse.log.map(({ operation, dryRun }) =>
        dryRun
          ? 'dry run'
          : operation === 'POST /queries'
            ? 'query'
            : operation === 'POST /jobs'
              ? 'insert'
              : 'results',
      ),
    prompts: () => gemini.log.map(({ prompt }) => prompt),
  }
  worlds.push(world)
  return world
}

test('without faults: one prompt, one dry run, one query, one report, nothing to see', async () => {
  const world = await openWorld()
  await world.ask(PLAIN)
  expect(world.prompts()).toHaveLength(1)
  expect(world.sent()).toEqual(['dry run', 'query'])
  expect(world.reports).toHaveLength(1)
  expect(world.reports[0]).toContain('desk | 930')
  expect([world.shown, world.events]).toEqual([[], []])
})

describe('infrastructure is invisible', () => {
  const ofTheModel: Array<[what: string, fault: GeminiFault]> = [
    ['the model is overloaded', { status: 503 }],
    ['the model says how long to wait', { status: 429, message: 'Resource has been exhausted', retryAfterS: 3 }],
  ]
  test.each(ofTheModel)('%s', async (_what, fault) => {
    const world = await openWorld()
    world.gemini.fault(fault)
    await world.ask(PLAIN)
    expect(world.gemini.log.map(({ status }) => status)).toEqual([fault.status, 200])
    expect(new Set(world.prompts()).size).toBe(1)
    expect(world.sent()).toEqual(['dry run', 'query'])
    expect([world.reports.length, world.shown]).toEqual([1, []])
  })

  const ofBigQuery: Array<[what: string, fault: BigQueryFault, sent: string[]]> = [
    ['503 at the dry run', { on: 'POST /jobs', status: 503 }, ['dry run', 'dry run', 'query']],
    [
      'a rate limit at the dry run',
      { on: 'POST /jobs', status: 403, reason: 'rateLimitExceeded', message: 'Exceeded rate limits' },
      ['dry run', 'dry run', 'query'],
    ],
    ['503 at the query, twice', { on: 'POST /queries', status: 503, times: 2 }, ['dry run', 'query', 'query', 'query']],
    ['a cut connection', { on: 'POST /queries', cut: 'before' }, ['dry run', 'query', 'query']],
    ['an answer that got lost', { on: 'POST /queries', cut: 'after' }, ['dry run', 'query', 'query']],
    [
      'a job that failed inside an answer of 200',
      { on: 'POST /queries', job: { reason: 'jobBackendError', message: 'Error encountered during execution.' } },
      ['dry run', 'query', 'results', 'query'],
    ],
    ['an internal error', { on: 'POST /queries', status: 500, reason: 'internalError' }, ['dry run', 'query', 'query']],
  ]
  test.each(ofBigQuery)(
    '%s: exactly one report, no word of it to the user or the model',
    async (_what, fault, sent) => {
      const world = await openWorld()
      world.warehouse.fault(fault)
      await world.ask(PLAIN)
      expect(world.sent()).toEqual(sent)
      expect(world.prompts()).toHaveLength(1)
      expect(world.reports).toHaveLength(1)
      expect(world.reports[0]).toContain('desk | 930')
      expect(world.shown).toEqual([])
      // Silent to the user, never to events.
      expect(world.events.map(({ name }) => name)).toContain('client.repeated')
      expect(world.events.map(({ name }) => name)).not.toContain('client.hidden_retries')
    },
  )
})

describe('the workflow is visible', () => {
  test('a wrong query is asked for again with its error, attempt 1 of 2', async () => {
    const world = await openWorld()
    await world.ask(SLIPS)
    expect(world.shown).toMatchObject([{ node: 'validate', attempt: 1, of: 2, next: 'repair' }])
    expect(world.prompts()[1]).toContain('Unrecognized name: totl')
    expect(world.sent()).toEqual(['dry run', 'dry run', 'query'])
    expect(world.reports).toHaveLength(1)
    expect(world.reports[0]).toContain('south | 700')
  })

  test('a repair prompt carries the query’s error and never the outage around it', async () => {
    const world = await openWorld()
    world.gemini.fault({ status: 503 })
    world.warehouse.fault({ on: 'POST /jobs', status: 503 })
    world.warehouse.fault({ on: 'POST /queries', cut: 'before' })
    await world.ask(SLIPS)
    for (const prompt of world.prompts()) expect(prompt).not.toMatch(INFRASTRUCTURE)
    expect(world.prompts().at(-1)).toContain('Unrecognized name: totl')
    expect(world.shown).toHaveLength(1)
    expect(world.reports).toHaveLength(1)
  })

  test('a query that is too heavy is repaired once, then it ends and says what to do', async () => {
    const world = await openWorld()
    const heavy = { reason: 'resourcesExceeded', message: 'Resources exceeded during query execution: too complex' }
    world.warehouse.fault({ on: 'POST /queries', status: 400, times: 9, ...heavy })
    const { report } = await world.ask(PLAIN)
    expect(report).toBeUndefined()
    expect(world.prompts()).toHaveLength(2)
    expect(world.shown.map(({ attempt, of, next }) => `${attempt} of ${of}: ${next}`)).toEqual([
      '1 of 2: repair',
      '2 of 2: fail',
    ])
    expect(world.shown.at(-1)?.failure.advice).toMatch(/smaller/)
  })

  test('what is permanent is asked once and says whose permission is missing', async () => {
    const world = await openWorld()
    await world.ask(FORBIDDEN)
    expect(world.sent()).toEqual(['dry run'])
    expect(world.prompts()).toHaveLength(1)
    expect(world.reports).toEqual([])
    expect(world.shown).toMatchObject([{ attempt: 1, of: 1, next: 'fail', failure: { kind: 'final' } }])
    expect(world.shown[0]?.failure.advice).toMatch(/^Check permissions on dataset sales-prod:finance/)
  })

  test('a cause chain leads from the failure to what Google said', async () => {
    const { warehouse } = await openWorld()
    const client = bigqueryWithReprise(localClient(warehouse))
    const error = await client.query('SELECT * FROM finance').catch((thrown: unknown) => thrown as Error)
    expect(error).toMatchObject({ name: 'FailureError', code: 'bigquery.accessDenied' })
    expect((error as Error).cause).toMatchObject({ code: 403, errors: [{ reason: 'accessDenied' }] })
  })
})

describe('as a durable task', () => {
  test('an outage that outlasts the silent layer is waited for by the run, and the model is not asked twice', async () => {
    const world = await openWorld()
    world.warehouse.fault({ on: 'POST /queries', status: 503, times: 4 })
    const store = memory()
    const reprise = createReprise({ store })
    const events: RepriseEvent[] = []
    reprise.on('*', (event) => events.push(event))
    const clock = { ...systemClock, sleep: async () => {} }
    const google = createGoogleGenerativeAI({ baseURL: world.gemini.url, apiKey: 'local' })
    const task = askTask(reprise, {
      model: modelWithReprise(google('gemini-flash-latest'), { clock }),
      warehouse: bigqueryWarehouse(bigqueryWithReprise(localClient(world.warehouse), { clock })),
      deliver: (report) => world.reports.push(report),
      policy: definePolicy({ kinds: { transient: { backoff: immediate() } } }),
    })
    const run = await reprise.submit(task, SLIPS)
    const worker = reprise.work({ concurrency: 1 })
    const result = await run.result({ timeoutMs: 20_000 })
    await worker.stop()
    expect(result).toMatchObject({ ok: true })
    expect(world.reports).toHaveLength(1)
    // 3 takes of the first attempt, 2 of the second; both prompts and the checks of the first attempt were paid for once.
    expect(world.sent()).toEqual([
      'dry run',
      'dry run',
      'query',
      'query',
      'query',
      'dry run',
      'dry run',
      'query',
      'query',
    ])
    expect(world.prompts()).toHaveLength(2)
    const names = events.map(({ name }) => name)
    expect(names.filter((name) => name === 'attempt.retried')).toHaveLength(1)
    expect(names.filter((name) => name === 'call.replayed')).toHaveLength(2)
    const journal = await store.journal(run.id, 1)
    expect(journal.map(({ takes }) => takes).reduce((sum, takes) => sum + takes, 0)).toBe(2 + 5 + 1)
  })
})

describe('one question, one report', () => {
  test('an outage to the end gives no report, rather than two empty ones', async () => {
    const world = await openWorld()
    world.warehouse.fault({ on: 'POST /queries', status: 503, times: 99 })
    const { report } = await world.ask(PLAIN)
    expect(report).toBeUndefined()
    expect(world.reports).toEqual([])
    expect(world.sent()).toEqual(['dry run', 'query', 'query', 'query'])
    expect(world.prompts()).toHaveLength(1)
    expect(world.shown).toMatchObject([{ node: 'execute', attempt: 1, of: 1, next: 'fail' }])
    expect(world.events.map((event) => sentenceOf(event)).at(-1)).toMatch(/failed after 3 requests/)
  })

  test('a crash after the report was delivered: the resumed question buys and delivers nothing twice', async () => {
    let full = false
    class FullDisk extends MemorySaver {
      override putWrites(...args: Parameters<MemorySaver['putWrites']>) {
        if (full) throw new Error('no space left on device')
        return super.putWrites(...args)
      }
    }
    const journal = sqliteJournal({ file: ':memory:' })
    const world = await openWorld({ checkpointer: new FullDisk(), journal })
    const push = world.reports.push.bind(world.reports)
    world.reports.push = (...items) => {
      full = true
      return push(...items)
    }
    await expect(world.ask(PLAIN, 'two')).rejects.toThrow(/no space left/)
    full = false
    world.reports.push = push
    const { report } = await world.resume('two')
    expect(report).toContain('desk | 930')
    expect(world.reports).toHaveLength(1)
    expect([world.prompts().length, world.sent()]).toEqual([1, ['dry run', 'query']])
    journal.close()
  })

  test('under any faults that can be cured: one report, no request that was not a fault’s due, nothing told to the model', async () => {
    const fault = fc.constantFrom<BigQueryFault>(
      { on: 'POST /jobs', status: 503 },
      { on: 'POST /jobs', status: 429, reason: 'rateLimitExceeded' },
      { on: 'POST /jobs', cut: 'before' },
      { on: 'POST /queries', status: 500, reason: 'internalError' },
      { on: 'POST /queries', status: 403, reason: 'rateLimitExceeded', message: 'Exceeded rate limits' },
      { on: 'POST /queries', cut: 'before' },
      { on: 'POST /queries', cut: 'after' },
    )
    const scenario = fc.record({
      faults: fc.array(fault, { maxLength: 2 }),
      overloaded: fc.integer({ min: 0, max: 2 }),
      question: fc.constantFrom(PLAIN, SLIPS),
    })
    await fc.assert(
      fc.asyncProperty(scenario, async ({ faults, overloaded, question }) => {
        const world = await openWorld()
        for (const each of faults) world.warehouse.fault(each)
        if (overloaded > 0) world.gemini.fault({ status: 503, times: overloaded })
        await world.ask(question)
        const repairs = question === SLIPS ? 1 : 0
        expect(world.reports).toHaveLength(1)
        expect(world.reports[0]).toMatch(/\| \d+/)
        expect(world.shown).toHaveLength(repairs)
        expect(world.sent()).toHaveLength(2 + repairs + faults.length)
        expect(world.prompts()).toHaveLength(1 + repairs + overloaded)
        for (const prompt of world.prompts()) expect(prompt).not.toMatch(INFRASTRUCTURE)
        const answered = world.warehouse.log.filter(
          ({ operation, status }) => operation === 'POST /queries' && status === 200,
        )
        expect(answered).toHaveLength(1)
      }),
      { numRuns: 25 },
    )
  })
})

test('in mode observe the clients go on as before, and every retry of theirs is counted', async () => {
  const world = await openWorld({ mode: 'observe' })
  world.warehouse.fault({ on: 'POST /queries', status: 503 })
  await world.ask(PLAIN)
  expect(world.reports).toHaveLength(1)
  expect(world.sent()).toEqual(['dry run', 'query', 'query'])
  expect(world.events).toMatchObject([{ name: 'client.hidden_retries', sdk: 'bigquery', hidden: 1 }])
})
