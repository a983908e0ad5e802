/**
 * A flow of three steps whose last one is a report by a model: prices and charts are written as artifacts, the report is made from them.
 * Runs on parts of this machine: a SQLite file, a folder, and the model simulator as Gemini, which answers wrongly once.
 * With FIRESTORE_EMULATOR_HOST set the flow is a document of Firestore's emulator instead.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReprise, flow, type Store } from 'reprise'
import { folder } from 'reprise/artifacts/folder'
import { documents, llmReport, llmReportTask } from 'reprise/flows'
import { startSimulator } from 'reprise/sim'
import { firestore } from 'reprise/stores/firestore'
import { sqlite } from 'reprise/stores/sqlite'

const schema = {
  type: 'object',
  required: ['summary', 'details'],
  properties: {
    summary: { type: 'object', required: ['markdown'], properties: { markdown: { type: 'string' } } },
    details: { type: 'object', required: ['trend'], properties: { trend: { type: 'string' } } },
  },
}
const profile = {
  modelName: 'gemini-2.5-flash',
  responseMimeType: 'application/json',
  structuredOutput: { schemaId: 'llm_report_output_v1' },
}

const place = mkdtempSync(join(tmpdir(), 'flow-report-'))
const emulated = process.env['FIRESTORE_EMULATOR_HOST'] !== undefined
const store: Store = emulated ? firestore({ projectId: 'flow-report' }) : sqlite({ file: join(place, 'reprise.db') })
const artifacts = folder({ root: join(place, 'artifacts') })
await using simulator = await startSimulator({ script: { 'ACME-1': ['missing-fields', 'ok'] } })
await using reprise = createReprise({
  store,
  artifacts,
  models: { baseURLs: { google: `${simulator.url}/v1beta` } },
})

const exporting = reprise.task('EXPORT', {}, async (input, ctx) => {
  const { of, data } = input as { readonly of: string; readonly data: unknown }
  const { uri } = await ctx.artifact(`${of}.json`, JSON.stringify(data), { contentType: 'application/json' })
  return { gcs_uri: uri }
})
const sources = documents({
  prompts: { daily: { text: 'Write the daily report.' } },
  schemas: { llm_report_output_v1: { jsonSchema: schema } },
})
reprise.handle(llmReportTask, llmReport({ store, artifacts, sources }))

const daily = flow('daily', {
  prices: [exporting, { of: 'prices', data: { symbol: 'ACME-1', close: [10, 11, 12] } }],
  charts: [exporting, { of: 'charts', data: { charts: ['close.png'] } }],
  report: [
    llmReportTask,
    { promptId: 'daily', llm: { llmProfile: profile }, ohlcvStepId: 'prices', chartsManifestStepId: 'charts' },
    { needs: ['prices', 'charts'] },
  ],
})
// The same key gives the same flow; each run of this program has a folder of its own, and so a flow of its own.
const submitted = await reprise.submitFlow(daily, { key: place })
const worker = reprise.work()
await worker.idle()
await worker.stop()

const view = await store.flow({ id: submitted.id })
for (const { step, state } of view?.steps ?? []) console.log(`${step} ${state}`)
const report = view?.steps.find(({ step }) => step === 'report')
const output = JSON.parse((report && (await store.get({ id: report.run }))?.output) ?? '{}')
console.log(`the model was asked ${simulator.requests().length} times, the second time with what was wrong`)
const body = await artifacts.get(String(output.gcs_uri))
console.log(`report: ${body instanceof Uint8Array ? new TextDecoder().decode(body) : body}`)
