/**
 * The agent: a question becomes SQL, is checked by a dry run, is run, and becomes one report.
 * Retries have one owner each: infrastructure is repeated in silence below the nodes, wrong SQL is asked for again here, visibly.
 */
import { Annotation, type BaseCheckpointSaver, END, START, StateGraph } from '@langchain/langgraph'
import { generateText, type LanguageModel } from 'ai'
import { failure, presets } from 'reprise'
import { queryFailure } from 'reprise/bigquery'
import {
  complaintOf,
  type GraphJournal,
  type NodeFailure,
  type NodeOptions,
  nextStep,
  repriseState,
  withReprise,
} from 'reprise/langgraph'
import type { Row, Warehouse } from './warehouse.ts'

const State = Annotation.Root({
  question: Annotation<string>(),
  sql: Annotation<string>(),
  rows: Annotation<readonly Row[]>(),
  report: Annotation<string>(),
  reprise: Annotation(repriseState),
})

type AgentState = typeof State.State
type Update = Partial<Pick<AgentState, 'sql' | 'rows' | 'report'>>

export interface AgentOptions {
  /** One of `withReprise` of `reprise/ai`: its infrastructure is handled there. */
  readonly model: LanguageModel
  readonly warehouse: Warehouse
  /** Gets the report: once for each question that has an answer, and never for one that has none. */
  readonly deliver: (report: string) => void
  /** Shows what the user should see. */
  readonly onStep?: (node: string) => void
  readonly onFailure?: (failed: NodeFailure) => void
  /** Together with a checkpointer: a resumed question buys nothing twice. */
  readonly journal?: GraphJournal
  readonly checkpointer?: BaseCheckpointSaver
}

export function sqlAgent({ model, warehouse, deliver, onStep, onFailure, journal, checkpointer }: AgentOptions) {
  // One count for the whole loop: writing, checking and running are three looks at one query.
  const options = (name: string): NodeOptions<AgentState> => ({
    name,
    ledger: 'query',
    policy: presets.sqlAgent,
    classify: queryFailure,
    answer: ({ sql }) => sql,
    ...(onFailure ? { onFailure } : {}),
    ...(journal ? { journal } : {}),
  })
  const node = (name: string, work: Parameters<typeof withReprise<AgentState, Update>>[0]) =>
    withReprise<AgentState, Update>((state, scope) => {
      onStep?.(name)
      return work(state, scope)
    }, options(name))

  return new StateGraph(State)
    .addNode(
      'generate',
      node('generate', async (state, { call, signal }) => {
        const prompt = promptFor(state, warehouse)
        const text = await call(
          'sql',
          async () => (await generateText({ model, prompt, abortSignal: signal, maxRetries: 0 })).text,
          { input: prompt },
        )
        return { sql: sqlIn(text) }
      }),
    )
    .addNode(
      'validate',
      node('validate', async ({ sql }) => {
        await warehouse.check(sql)
        return {}
      }),
    )
    .addNode(
      'execute',
      node('execute', async ({ sql }, { call }) => ({
        rows: await call('rows', () => warehouse.run(sql), { input: sql }),
      })),
    )
    .addNode(
      'publish',
      node('publish', async ({ question, rows, sql }, { call }) => {
        const report = reportOf(question, rows, sql)
        await call('deliver', async () => deliver(report), { input: report })
        return { report }
      }),
    )
    .addEdge(START, 'generate')
    .addConditionalEdges('generate', nextStep({ ok: 'validate', repair: 'generate', fail: END }))
    .addConditionalEdges('validate', nextStep({ ok: 'execute', retry: 'validate', repair: 'generate', fail: END }))
    .addConditionalEdges('execute', nextStep({ ok: 'publish', retry: 'execute', repair: 'generate', fail: END }))
    .addEdge('publish', END)
    .compile(checkpointer ? { checkpointer } : {})
}

/** What a database said about a query is data: it is cut and quoted, and can give no orders. */
const COMPLAINT_MAX = 400

function promptFor(state: AgentState, { name, schema }: Warehouse): string {
  const complaint = complaintOf(state)
  const task = `Write one ${name} SELECT that answers the question. Answer with the SQL alone.\nTables: ${schema}\nQuestion: ${state.question}`
  if (!complaint) return task
  const said = JSON.stringify(complaint.message.slice(0, COMPLAINT_MAX))
  return `${task}\nYour last answer was: ${JSON.stringify(state.sql)}\nThe database refused it and said: ${said}`
}

function sqlIn(text: string): string {
  const sql = (/```(?:sql)?\s*([\s\S]*?)```/.exec(text)?.[1] ?? text).trim().replace(/;$/, '')
  if (/^(?:select|with)\b/i.test(sql)) return sql
  throw failure({ kind: 'syntax', code: 'sql.missing', message: 'The answer holds no SELECT' })
}

function reportOf(question: string, rows: readonly Row[], sql: string): string {
  const names = Object.keys(rows[0] ?? {})
  const lines = rows.map((row) => names.map((name) => String(row[name] ?? '–')).join(' | '))
  const table = rows.length === 0 ? ['No rows match.'] : [names.join(' | '), ...lines]
  return [`# ${question}`, '', ...table, '', `Query: ${sql}`].join('\n')
}
