import { describe, expect, test } from 'vitest'
import { firestoreDocuments } from '../../src/flows/index.ts'
import { faultyFirestore } from '../services/faulty-firestore.ts'
import { onEmulator } from '../services/on-emulator.fixtures.ts'
import { type FlowChange, PROFILE, type ReportWorld, reportWorld, SCHEMA } from './report-world.fixtures.ts'

let world: ReportWorld
onEmulator(async () => {
  world = await reportWorld()
  await keepSchema('llm_report_output_v2', { jsonSchema: 'not JSON' })
  await keepSchema('llm_report_output_v3', { jsonSchema: { ...SCHEMA, type: 'nonsense' } })
  await keepSchema('llm_report_output_v4', { jsonSchema: without('summary') })
  await keepSchema('llm_report_output_v5', { jsonSchema: without('details') })
  const summary = { type: 'object', properties: { markdown: { type: 'string' } } }
  const schema = { ...SCHEMA, properties: { ...SCHEMA.properties, summary } }
  await keepSchema('llm_report_output_v6', { jsonSchema: schema })
  return world
})

const profile = (change: object): FlowChange => ({ inputs: { llm: { llmProfile: { ...PROFILE, ...change } } } })
const schemaId = (id: string): FlowChange => profile({ structuredOutput: { schemaId: id } })
const keepSchema = (id: string, document: object) => world.client.collection('llm_schemas').doc(id).set(document)
const without = (field: string, schema: { required: string[] } = SCHEMA) => ({
  ...schema,
  required: schema.required.filter((name) => name !== field),
})

/** Each case: what is wrong, the code and the message that the stored step then has. */
const FINAL: readonly (readonly [name: string, change: FlowChange, code: string, message: RegExp])[] = [
  ['no prompt document', { inputs: { promptId: 'nobody' } }, 'PROMPT_NOT_FOUND', /prompt nobody/],
  ['no promptId', { inputs: { promptId: null } }, 'INVALID_STEP_INPUTS', /^promptId is null/],
  ['no ohlcvStepId', { inputs: { ohlcvStepId: null } }, 'INVALID_STEP_INPUTS', /^ohlcvStepId is null/],
  [
    'no chartsManifestStepId',
    { inputs: { chartsManifestStepId: 7 } },
    'INVALID_STEP_INPUTS',
    /^chartsManifestStepId is 7/,
  ],
  [
    'an unknown step',
    { inputs: { ohlcvStepId: 'nobody' } },
    'INVALID_STEP_INPUTS',
    /ohlcvStepId is "nobody", which is no step/,
  ],
  [
    'a referenced step without an object',
    { steps: { charts: { stepType: 'EXPORT', status: 'SUCCEEDED', outputs: {} } } },
    'INVALID_STEP_INPUTS',
    /steps\.charts\.outputs\.gcs_uri is not given/,
  ],
  [
    'an object that is gone',
    { steps: { ohlcv: { stepType: 'EXPORT', status: 'SUCCEEDED', outputs: { gcs_uri: 'gs://bucket/inputs/gone' } } } },
    'INVALID_STEP_INPUTS',
    /ohlcvStepId .* is unusable: it is not there/,
  ],
  [
    'previous reports that are no list',
    { inputs: { previousReportStepIds: 'x' } },
    'INVALID_STEP_INPUTS',
    /^previousReportStepIds is "x"/,
  ],
  [
    'an unknown previous report',
    { inputs: { previousReportStepIds: ['nobody'] } },
    'INVALID_STEP_INPUTS',
    /previousReportStepIds\[0\]/,
  ],
  ['no profile', { inputs: { llm: {} } }, 'LLM_PROFILE_INVALID', /inputs\.llm\.llmProfile is not given/],
  [
    'an unknown profile',
    { inputs: { llm: { llmProfile: 'nobody' } } },
    'LLM_PROFILE_INVALID',
    /profile nobody is not there/,
  ],
  ['no model', profile({ modelName: '' }), 'LLM_PROFILE_INVALID', /llmProfile\.modelName/],
  [
    'a model without structured output',
    profile({ modelName: 'gemma-3-27b' }),
    'LLM_PROFILE_INVALID',
    /no structured output/,
  ],
  [
    'text where JSON is due',
    profile({ responseMimeType: 'text/markdown' }),
    'LLM_PROFILE_INVALID',
    /responseMimeType is "text\/markdown"/,
  ],
  ['two candidates', profile({ candidateCount: 2 }), 'LLM_PROFILE_INVALID', /candidateCount is 2; allowed is 1/],
  ['no schemaId', profile({ structuredOutput: {} }), 'LLM_PROFILE_INVALID', /schemaId is not given/],
  ['a schemaId without a version', schemaId('report_schema'), 'LLM_PROFILE_INVALID', /llm_report_output_v\{N\}/],
  [
    'a schema that is not there',
    schemaId('llm_report_output_v99'),
    'LLM_PROFILE_INVALID',
    /llm_report_output_v99 is not there/,
  ],
  ['a schema that is none', schemaId('llm_report_output_v2'), 'LLM_PROFILE_INVALID', /v2 is not a JSON Schema/],
  ['an invalid schema', schemaId('llm_report_output_v3'), 'LLM_PROFILE_INVALID', /v3 is invalid/],
  ['a schema without summary', schemaId('llm_report_output_v4'), 'LLM_PROFILE_INVALID', /does not require summary$/],
  ['a schema without details', schemaId('llm_report_output_v5'), 'LLM_PROFILE_INVALID', /does not require details$/],
  [
    'a schema without summary.markdown',
    schemaId('llm_report_output_v6'),
    'LLM_PROFILE_INVALID',
    /does not require summary\.markdown$/,
  ],
]

describe('every code is read back from where it belongs', () => {
  test.for(FINAL)('step error, at once and for good: %s', async ([, change, code, message]) => {
    const before = world.asked()
    const flow = await world.flow(change)
    expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
    const { status, error, outputs } = await world.step(flow)
    expect([status, error.code, outputs]).toEqual(['FAILED', code, undefined])
    expect(error.message).toMatch(message)
    expect(world.asked()).toBe(before)
    expect(await world.read(flow)).not.toHaveProperty('error')
  })

  test.for([
    ['LLM_SAFETY_BLOCK', 'CASE-blocked', 'FAILED', 1],
    ['INVALID_STRUCTURED_OUTPUT', 'CASE-prose', 'FAILED', 2],
    ['INVALID_STRUCTURED_OUTPUT', 'CASE-incomplete', 'FAILED', 2],
    ['INVALID_STRUCTURED_OUTPUT', 'CASE-cut', 'FAILED', 2],
    ['MODEL_NOT_FOUND', 'CASE-key', 'FAILED', 1],
    ['MODEL_NOT_FOUND', 'CASE-no-model', 'FAILED', 1],
    ['GEMINI_REQUEST_FAILED', 'CASE-down', 'WAITING', 1],
    ['RATE_LIMITED', 'CASE-limited', 'WAITING', 1],
  ] as const)('step error of the model: %s (%s)', async ([code, prices, word, sends]) => {
    const before = world.asked()
    const flow = await world.flow({ prices })
    await world.handler()(world.event(flow))
    const { status, error, dueAt } = await world.step(flow)
    expect([status, error.code, world.asked() - before]).toEqual([word, code, sends])
    expect(typeof dueAt).toBe(word === 'WAITING' ? 'number' : 'undefined')
    expect(world.objects(flow)).toEqual([])
  })

  test('a model that its server does not know is said with its name, and is not asked for again', async () => {
    const flow = await world.flow({ prices: 'CASE-no-model' })
    const before = world.asked()
    await world.handler()(world.event(flow))
    expect(world.simulator.requests().at(-1)).toMatchObject({ status: 404, model: PROFILE.modelName })
    const { status, error } = await world.step(flow)
    expect([status, error.code]).toEqual(['FAILED', 'MODEL_NOT_FOUND'])
    expect(error.message).toMatch(/models\/gemini-2\.5-flash is not found/)
    expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0, code: 'NO_READY_STEP' })
    expect(world.asked() - before).toBe(1)
  })

  test('one repair inside the same invocation is enough', async () => {
    const before = world.asked()
    const flow = await world.flow({ prices: 'CASE-repaired' })
    await world.handler()(world.event(flow))
    const { status, outputs } = await world.step(flow)
    expect([status, outputs.takes, world.asked() - before]).toEqual(['SUCCEEDED', 2, 2])
  })

  test('an earlier report that is gone is noted, and the report is written', async () => {
    const outputs = { gcs_uri: 'gs://bucket/inputs/gone' }
    const flow = await world.flow({ steps: { yesterday: { stepType: 'EXPORT', status: 'SUCCEEDED', outputs } } })
    await world.handler()(world.event(flow))
    expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', outputs: { missing: ['yesterday'] } })
  })

  test('FIRESTORE_UNAVAILABLE: a document that cannot be read', async () => {
    const down = async () => {
      throw Object.assign(new Error('14 UNAVAILABLE: no connection'), { code: 14 })
    }
    const open = world.openWith({ prompt: down, profile: down, schema: down })
    const flow = await world.flow()
    await world.handler({ open })(world.event(flow))
    const { status, error } = await world.step(flow)
    expect([status, error.code]).toEqual(['WAITING', 'FIRESTORE_UNAVAILABLE'])
  })

  test('inputs that cannot be read now are waited for, before anybody is asked', async () => {
    const flow = await world.flow()
    const before = world.asked()
    world.server.fail({ verb: 'media', how: 'error-before', times: 5 })
    await world.handler()(world.event(flow))
    const { status, error } = await world.step(flow)
    expect([status, error.code, world.asked() - before]).toEqual(['WAITING', 'artifacts.unavailable', 0])
    expect(error.message).toMatch(/^ohlcvStepId: /)
  })

  test('INVALID_STEP_INPUTS: inputs that this account may never read', async () => {
    const flow = await world.flow()
    world.server.fail({ verb: 'get', how: 'error-before', status: 403 })
    await world.handler()(world.event(flow))
    const { status, error } = await world.step(flow)
    expect([status, error.code]).toEqual(['FAILED', 'INVALID_STEP_INPUTS'])
    expect(error.message).toMatch(/^ohlcvStepId is "ohlcv", and its object is unusable: .*gs:\/\/bucket/)
  })

  test('GCS_WRITE_FAILED: the answer is kept, and only the write is tried again', async () => {
    const flow = await world.flow()
    const before = world.asked()
    world.server.fail({ verb: 'insert', how: 'error-before', times: 5 })
    await world.handler()(world.event(flow))
    const { status, error } = await world.step(flow)
    expect([status, error.code, world.asked() - before]).toEqual(['WAITING', 'GCS_WRITE_FAILED', 1])
    world.later(3_600_000)
    await world.handler()(world.event(flow))
    const after = await world.step(flow)
    expect([after['status'], after['error'], world.asked() - before]).toEqual(['SUCCEEDED', undefined, 1])
    expect(world.objects(flow)).toEqual([`${flow}.report/report.json`])
  })

  test('ARTIFACT_CONFLICT: another object under the name is left untouched, and a person gets the step', async () => {
    const flow = await world.flow()
    const name = `${flow}.report/report.json`
    const object = { body: Buffer.from('other'), contentType: 'text/plain', metadata: {}, generation: 1 }
    world.server.objects.set(name, object)
    await world.handler()(world.event(flow))
    expect((await world.step(flow))['status']).toBe('REVIEW')
    expect(world.server.objects.get(name)?.body.toString()).toBe('other')
  })

  test('FLOW_RUN_NOT_FOUND: nothing is there, and nothing is written', async () => {
    expect(await world.handler()(world.event('gone'))).toEqual({ flow: 'gone', done: 0, code: 'FLOW_RUN_NOT_FOUND' })
    expect(await world.read('gone')).toEqual({})
  })

  test.for([
    ['steps is undefined', { steps: undefined }],
    ['steps.a.status is "DONE"', { steps: { a: { stepType: 'X', status: 'DONE' } } }],
    ['steps.a.stepType is not given', { steps: { a: { status: 'READY' } } }],
    ['steps.a.dependsOn names "b"', { steps: { a: { stepType: 'X', status: 'READY', dependsOn: ['b'] } } }],
    ['steps.a.rest is "mine"', { steps: { a: { stepType: 'X', status: 'READY', rest: 'mine' } } }],
    ['steps.a.input is "mine"', { steps: { a: { stepType: 'X', status: 'READY', input: 'mine' } } }],
    [
      'steps.a.dependsOn leads back',
      {
        steps: {
          a: { stepType: 'X', status: 'BLOCKED', dependsOn: ['b'] },
          b: { stepType: 'X', status: 'BLOCKED', dependsOn: ['a'] },
        },
      },
    ],
    ['steps: "a b" is no name', { steps: { 'a b': { stepType: 'X', status: 'READY' } } }],
  ] as const)('FLOW_RUN_INVALID, in the error of the run: %s', async ([message, { steps }]) => {
    const flow = await world.flow()
    await world.client
      .collection(world.collection)
      .doc(flow)
      .set(steps ? { steps } : { other: 1 })
    const outcome = await world.handler()(world.event(flow))
    expect(outcome).toMatchObject({ done: 0, code: 'FLOW_RUN_INVALID' })
    const stored = await world.read(flow)
    expect(stored['error'].code).toBe('FLOW_RUN_INVALID')
    expect(stored['error'].message).toContain(message)
    expect(stored['steps']).toEqual(steps)
  })

  test('NO_READY_STEP and DEPENDENCY_NOT_SUCCEEDED are no errors', async () => {
    const done = await world.flow({ report: { status: 'SUCCEEDED' } })
    const waits = await world.flow({ steps: { charts: { stepType: 'EXPORT', status: 'RUNNING' } } })
    for (const [flow, code] of [
      [done, 'NO_READY_STEP'],
      [waits, 'DEPENDENCY_NOT_SUCCEEDED'],
    ] as const) {
      const before = (await world.read(flow))['steps']
      expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 0, code })
      const after = await world.read(flow)
      expect(after['steps']).toEqual(before)
      expect(after).not.toHaveProperty('error')
    }
  })

  test('STEP_CLAIM_CONFLICT: of invocations that race one works, the others leave no error', async () => {
    const flow = await world.flow()
    const before = world.asked()
    const handlers = Array.from({ length: 6 }, () => world.handler())
    const outcomes = await Promise.all(handlers.map((handle) => handle(world.event(flow))))
    expect(outcomes.filter(({ done }) => done === 1)).toHaveLength(1)
    for (const { code, done } of outcomes)
      if (done === 0) expect(['STEP_CLAIM_CONFLICT', 'NO_READY_STEP']).toContain(code)
    expect(await world.step(flow)).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
    expect(await world.step(flow)).not.toHaveProperty('error')
    expect(world.asked() - before).toBe(1)
  })

  test('STEP_FINALIZE_CONFLICT: a step that was ended meanwhile stays as it is', async () => {
    const flow = await world.flow()
    const store = world.store()
    const sources = firestoreDocuments({ client: world.client })
    const open = world.openWith({
      ...sources,
      schema: async (id) => {
        const expected = { generation: 1, states: ['ready'] } as const
        const why = { code: 'run.cancelled', params: { by: 'ann' } } as const
        await store.steer({ run: `${flow}.report`, type: 'cancel', by: 'ann', why, expect: expected })
        return sources.schema(id)
      },
    })
    const before = world.asked()
    const outcome = await world.handler({ open })(world.event(flow))
    expect(world.asked()).toBe(before)
    expect(outcome.code).toBe('STEP_FINALIZE_CONFLICT')
    const step = await world.step(flow)
    expect(step['status']).toBe('CANCELLED')
    expect(step).not.toHaveProperty('error')
  })

  test('FIRESTORE_CLAIM_FAILED: told on the step, which stays ready; the next event takes it away again', async () => {
    const theirs = { stepType: 'CHARTS', status: 'READY' }
    const flow = await world.flow({ steps: { theirs } })
    const client = faultyFirestore(world.client, () => 'before', 13)
    const outcome = await world.handler({ client })(world.event(flow))
    expect(outcome).toMatchObject({ done: 0, code: 'FIRESTORE_CLAIM_FAILED' })
    const { status, error } = await world.step(flow)
    expect([status, error.code]).toEqual(['READY', 'FIRESTORE_CLAIM_FAILED'])
    expect(await world.step(flow, 'theirs')).toEqual(theirs)
    expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
    expect(await world.step(flow)).not.toHaveProperty('error')
  })

  test('FIRESTORE_FINALIZE_FAILED: told on the running step; the next owner ends it without asking again', async () => {
    const flow = await world.flow()
    const before = world.asked()
    const isWritten = () => world.objects(flow).length > 0
    const client = faultyFirestore(world.client, () => (isWritten() ? 'before' : undefined), 14)
    const outcome = await world.handler({ client })(world.event(flow))
    expect(outcome).toMatchObject({ done: 0, code: 'FIRESTORE_FINALIZE_FAILED' })
    const { status, error } = await world.step(flow)
    expect([status, error.code]).toEqual(['RUNNING', 'FIRESTORE_FINALIZE_FAILED'])
    // While its lease lives nobody touches it.
    expect(await world.handler()(world.event(flow))).toMatchObject({ done: 0, code: 'NO_READY_STEP' })
    world.later(15 * 60_000)
    expect(await world.handler()(world.event(flow))).toEqual({ flow, done: 1 })
    const after = await world.step(flow)
    expect([after['status'], after['error'], world.asked() - before]).toEqual(['SUCCEEDED', undefined, 1])
    expect(world.objects(flow)).toHaveLength(1)
  })
})
