/**
 * The agent as a durable task: `reprise work --app ./app.ts`, then `reprise submit ask '"Which region sold most in 2026?"'`.
 * The run's journal keeps what the model and the warehouse answered, so a later attempt, on another worker too, buys nothing twice.
 */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import type { LanguageModel } from 'ai'
import { failure, type Policy, type Reprise, type Task } from 'reprise'
import { withReprise } from 'reprise/ai'
import { runJournal } from 'reprise/langgraph'
import { sqlAgent } from './agent.ts'
import { geminiServer } from './gemini-server.ts'
import { embeddedWarehouse } from './sales.ts'
import { scriptedAnswer } from './scripted-model.ts'
import type { Warehouse } from './warehouse.ts'

export interface AskParts {
  readonly model: LanguageModel
  readonly warehouse: Warehouse
  readonly deliver: (report: string) => void
  /** When the silent layer gives up, the run is tried again by this; minutes apart unless given. */
  readonly policy?: Policy
}

export function askTask(reprise: Reprise, { model, warehouse, deliver, policy }: AskParts): Task<string> {
  return reprise.task<string>('ask', policy ? { policy } : {}, async (question, ctx) => {
    const agent = sqlAgent({ model, warehouse, deliver, journal: runJournal(ctx) })
    const { report, reprise: state } = await agent.invoke({ question }, { signal: ctx.signal })
    if (report !== undefined) return { report }
    const { kind, code, layer, message, advice } = state.last?.failure ?? { kind: 'final', code: 'agent.silent' }
    // The third layer decides: an outage is waited for, a missing permission is not.
    throw failure({ kind, code, ...(layer && { layer }), ...(message && { message }), ...(advice && { advice }) })
  })
}

export default async function app(reprise: Reprise): Promise<void> {
  const key = process.env['GOOGLE_GENERATIVE_AI_API_KEY']
  const gemini = key === undefined ? await geminiServer(scriptedAnswer) : undefined
  const google = createGoogleGenerativeAI(gemini ? { baseURL: gemini.url, apiKey: 'local' } : { apiKey: key as string })
  askTask(reprise, {
    model: withReprise(google('gemini-flash-latest')),
    warehouse: embeddedWarehouse(),
    deliver: (report) => console.log(report),
  })
}
