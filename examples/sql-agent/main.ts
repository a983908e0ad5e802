/**
 * The agent in a terminal: `node examples/sql-agent/main.ts ["question"] [--bigquery] [--faults] [--verbose]`.
 * Without a key it talks to a scripted model on this machine; with GOOGLE_GENERATIVE_AI_API_KEY it asks Gemini.
 */
import { parseArgs } from 'node:util'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createEmitter, sentenceOf } from 'reprise'
import { withReprise as modelWithReprise } from 'reprise/ai'
import { withReprise as bigqueryWithReprise } from 'reprise/bigquery'
import type { NodeFailure } from 'reprise/langgraph'
import { sqlAgent } from './agent.ts'
import { bigqueryWarehouse, localBigQuery, localClient } from './bigquery.ts'
import { geminiServer } from './gemini-server.ts'
import { embeddedWarehouse } from './sales.ts'
import { QUESTIONS, scriptedAnswer } from './scripted-model.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { bigquery: { type: 'boolean' }, faults: { type: 'boolean' }, verbose: { type: 'boolean' } },
})

const emitter = createEmitter()
if (values.verbose) emitter.on('*', (event) => console.log(`  · ${sentenceOf(event)}`))
const { emit } = emitter

const key = process.env['GOOGLE_GENERATIVE_AI_API_KEY']
const gemini = key === undefined ? await geminiServer(scriptedAnswer) : undefined
const google = createGoogleGenerativeAI(gemini ? { baseURL: gemini.url, apiKey: 'local' } : { apiKey: key as string })
const model = modelWithReprise(google('gemini-flash-latest'), { emit })

const server = values.bigquery ? await localBigQuery() : undefined
const warehouse = server ? bigqueryWarehouse(bigqueryWithReprise(localClient(server), { emit })) : embeddedWarehouse()

if (values.faults) {
  gemini?.fault({ status: 503 })
  server?.fault({ on: 'POST /queries', status: 503, reason: 'backendError' })
}

const agent = sqlAgent({
  model,
  warehouse,
  onStep: (node) => console.log(`  ${WORDS[node] ?? node}`),
  onFailure: show,
  deliver: (report) => console.log(`\n${report}\n`),
})

const WORDS: Readonly<Record<string, string>> = {
  generate: 'Writing the query',
  validate: 'Checking it with a dry run',
  execute: 'Running it',
  publish: 'Writing the report',
}

let failed = 0
for (const question of positionals.length > 0 ? positionals : QUESTIONS) {
  console.log(`? ${question}`)
  // In mode observe a node throws as it did before; else what went wrong is in the state.
  const end = await agent.invoke({ question }).catch((error: Error) => error)
  if (!(end instanceof Error) && end.report !== undefined) continue
  failed += 1
  const advice = end instanceof Error ? end.message : end.reprise.last?.failure.advice
  console.log(`\n✗ No report. ${advice ?? ''}\n`)
}
await Promise.all([gemini?.close(), server?.close()])
// The example's own third question has no answer on purpose; a question of yours that has none is a failure.
process.exitCode = positionals.length > 0 && failed > 0 ? 1 : 0

/** Only what the workflow has to know is shown; what was repeated in silence is in the events. */
function show({ node, attempt, of, next, failure }: NodeFailure): void {
  const then = next === 'repair' ? ' Asking again with the error.' : next === 'retry' ? ' Trying again.' : ''
  console.log(`  ! ${node}: attempt ${attempt} of ${of} failed: ${failure.message.replace(/\.$/, '')}.${then}`)
}
