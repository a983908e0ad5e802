import { describe, expect, test } from 'vitest'
import { memoryArtifacts } from '../../artifacts/memory/index.ts'
import { createReprise } from '../../create-reprise.ts'
import { flow } from '../../engine/flow.ts'
import { failure } from '../../failure/own.ts'
import type { Store } from '../../ports/store.ts'
import { memory } from '../../stores/memory/index.ts'
import { type FakeAnswer, fakeModel } from '../../testing/fake-model.ts'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { llmReport, llmReportTask } from './llm-report.ts'
import { checkProfile, checkSchema } from './profile.ts'
import { askedFailure } from './report-failure.ts'
import { documents, type ReportSources } from './sources.ts'

const SCHEMA = {
  type: 'object',
  required: ['summary', 'details'],
  properties: {
    summary: { type: 'object', required: ['markdown'], properties: { markdown: { type: 'string' } } },
    details: { type: 'object' },
  },
}
const RIGHT = { summary: { markdown: '# Calm' }, details: {} }

interface Given {
  /** Of the process, from its start. */
  readonly endsInMs?: number
  /** How far the clock of this machine is behind the store's. */
  readonly behindMs?: number
  /** What the store needs to keep an answer. */
  readonly writeMs?: number
  readonly sources?: Partial<ReportSources>
}

/** A flow whose report is asked of this model; each answer takes so long. */
async function reported(answers: readonly FakeAnswer[], eachMs = 0, readMs = 0, given: Given = {}) {
  const clock = virtualClock()
  const kept = memory({ clock })
  const commit: Store['commit'] = async (change) => {
    if (change.type === 'answer') await clock.sleep(given.writeMs ?? 0)
    return kept.commit(change)
  }
  const store: Store = { ...kept, commit }
  const artifacts = memoryArtifacts()
  const model = fakeModel(answers, { id: 'google/gemini-2.5-flash' })
  const slow = {
    ...model,
    doGenerate: async (options: Parameters<typeof model.doGenerate>[0]) => {
      await clock.sleep(eachMs)
      return model.doGenerate(options)
    },
  }
  const reprise = createReprise({ store, clock, artifacts, models: { models: { 'google/gemini-2.5-flash': slow } } })
  const exporting = reprise.task('EXPORT', {}, async (_input, ctx) => {
    const { uri } = await ctx.artifact('data.json', '{"close":[1]}')
    return { gcs_uri: uri }
  })
  const known = documents({
    prompts: { daily: { text: 'Write the report.' } },
    schemas: { llm_report_output_v1: { jsonSchema: SCHEMA } },
  })
  const sources = {
    ...known,
    prompt: async (id: string) => {
      await clock.sleep(readMs)
      return known.prompt(id)
    },
    ...given.sources,
  }
  const host = { ...clock, now: () => clock.now() - (given.behindMs ?? 0) }
  reprise.handle(llmReportTask, llmReport({ store, artifacts, sources, clock: host }))
  const profile = {
    modelName: 'gemini-2.5-flash',
    responseMimeType: 'application/json',
    structuredOutput: { schemaId: 'llm_report_output_v1' },
  }
  const inputs = {
    promptId: 'daily',
    llm: { llmProfile: profile },
    ohlcvStepId: 'prices',
    chartsManifestStepId: 'prices',
  }
  await reprise.submitFlow(
    flow('daily', { prices: [exporting, {}], report: [llmReportTask, inputs, { needs: ['prices'] }] }),
  )
  const worker = reprise.work(given.endsInMs === undefined ? {} : { endsAt: clock.now() + given.endsInMs })
  await clock.runUntilSettled(worker.idle())
  const [view] = (await store.find({ tasks: ['LLM_REPORT'], limit: 1 })).runs
  await clock.runUntilSettled(reprise.close())
  return { view, model }
}

test('a right answer is kept as an artifact, on any store', async () => {
  const { view, model } = await reported([{ json: RIGHT }])
  expect(view?.state).toBe('succeeded')
  expect(JSON.parse(view?.output ?? '')).toMatchObject({ schemaId: 'llm_report_output_v1', schemaVersion: 1, takes: 1 })
  expect(model.asked[0]?.text).toContain('{"close":[1]}')
})

test('a repair is asked for while there is time for it and for the end', async () => {
  const { view, model } = await reported([{ json: { summary: {} } }, { json: RIGHT }], 200_000)
  expect([view?.state, model.asked.length]).toEqual(['succeeded', 2])
})

test('a repair that has too little time left is not lost: the step waits, with the first answer stored', async () => {
  const { view } = await reported([{ json: { summary: {} } }, { json: RIGHT }], 590_000, 60_000)
  expect([view?.state, view?.failure?.code]).toEqual(['waiting', 'GEMINI_REQUEST_FAILED'])
  expect(view?.failure?.message).toMatch(/flash\.2 did not answer within/)
})

test('a repair that was not begun for want of time is the end', async () => {
  const answers = [{ json: { summary: {} } }, { json: RIGHT }]
  const { view, model } = await reported(answers, 590_000, 0, { writeMs: 80_000 })
  expect([view?.state, view?.failure?.code]).toEqual(['failed', 'INVALID_STRUCTURED_OUTPUT'])
  expect(model.asked).toHaveLength(1)
})

test('a question for which there is no time is given back, whatever the clock of this machine says', async () => {
  const { view, model } = await reported([{ json: RIGHT }], 0, 0, { endsInMs: 100_000, behindMs: 3_600_000 })
  expect([view?.state, view?.ledgers.interruptions, model.asked.length]).toEqual(['ready', 1, 0])
})

test.for([
  ['prompt', 'PROMPT_NOT_FOUND'],
  ['schema', 'LLM_PROFILE_INVALID'],
] as const)('a %s that this account may not read is the end, not a wait', async ([what, code]) => {
  const denied = async () => {
    throw Object.assign(new Error('7 PERMISSION_DENIED: Missing or insufficient permissions.'), { code: 7 })
  }
  const { view } = await reported([{ json: RIGHT }], 0, 0, { sources: { [what]: denied } })
  expect([view?.state, view?.failure?.code]).toEqual(['failed', code])
  expect(view?.failure?.message).toMatch(new RegExp(`^${what} .* cannot be read: 7 PERMISSION_DENIED`))
})

test.for([
  ['refused', 'answer.refused', 'LLM_SAFETY_BLOCK'],
  ['rate_limited', 'http.429', 'RATE_LIMITED'],
  ['transient', 'http.503', 'GEMINI_REQUEST_FAILED'],
  ['semantic', 'gate.x', 'INVALID_STRUCTURED_OUTPUT'],
  ['final', 'http.404', 'MODEL_NOT_FOUND'],
  ['final', 'gemini.model', 'MODEL_NOT_FOUND'],
  ['final', 'http.400', 'LLM_PROFILE_INVALID'],
] as const)('%s %s is told as %s', ([kind, code, told]) => {
  expect(askedFailure(failure({ kind, code }), 0, false)).toMatchObject({ failure: { code: told } })
})

test('what is ours to end or to wait for passes as it is', () => {
  for (const [kind, code] of [
    ['interrupted', 'worker.stopped'],
    ['exhausted', 'budget.day'],
  ] as const) {
    const thrown = failure({ kind, code })
    expect(askedFailure(thrown, 0, true)).toBe(thrown)
  }
})

const PROFILE = {
  modelName: 'gemini-2.5-flash',
  responseMimeType: 'application/json',
  structuredOutput: { schemaId: 'llm_report_output_v1' },
}

test('what a profile leaves open may be null', () => {
  const open = { candidateCount: null, temperature: null, maxOutputTokens: null }
  expect(checkProfile({ ...PROFILE, ...open })).toEqual(checkProfile(PROFILE))
})

describe('a schema as generators write it, with parts under other names', () => {
  const summary = { type: 'object', required: ['markdown'], properties: { markdown: { type: 'string' } } }
  const report = (part: object) => ({
    type: 'object',
    required: ['summary', 'details'],
    properties: { summary: part, details: { type: 'object' } },
  })
  const check = (jsonSchema: object) => checkSchema('llm_report_output_v1', { jsonSchema })

  test.for([
    ['a part by its name', { ...report({ $ref: '#/$defs/Summary' }), $defs: { Summary: summary } }],
    ['a part among others', { ...report({ allOf: [{ $ref: '#/$defs/a~1b' }] }), $defs: { 'a/b': summary } }],
    ['the whole by its name', { $ref: '#/$defs/Report', $defs: { Report: report(summary) } }],
  ] as const)('%s is found', ([, schema]) => {
    expect(check(schema)).toMatchObject({ version: 1 })
  })

  test('a name that leads to less is refused', () => {
    const schema = { ...report({ $ref: '#/$defs/Summary' }), $defs: { Summary: { type: 'object' } } }
    expect(() => check(schema)).toThrow(/does not require summary\.markdown$/)
  })

  test('a name that leads to itself is refused', () => {
    const schema = { ...report({ $ref: '#/$defs/Summary' }), $defs: { Summary: { $ref: '#/$defs/Summary' } } }
    expect(() => check(schema)).toThrow(/summary\.markdown|is invalid/)
  })
})
