/**
 * The ladder in its real surroundings: the public engine on a SQLite file, the provider's own SDK, and a simulated provider over HTTP.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import invoiceRules from '../../samples/invoice.gate.ts'
import { createReprise, type Reprise } from '../../src/create-reprise.ts'
import { type Gate, gate } from '../../src/gate/gate.ts'
import type { Rule } from '../../src/gate/rule.ts'
import type { RepriseEvent } from '../../src/run/event.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '../../src/sim/simulator.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'

const samples = new URL('../../samples/', import.meta.url)

export const schema = JSON.parse(readFileSync(new URL('invoice.schema.json', samples), 'utf8')) as Record<
  string,
  unknown
>
export const invoiceGate = gate(schema, invoiceRules as unknown as readonly Rule[]) as Gate
const body = readFileSync(new URL('invoices/INV-001.md', samples), 'utf8')

/** A document that can be read, under a name of its own. */
export const documentNamed = (name: string): string => body.replace('INV-001', name)

export const prompt = 'Read the invoice in the document. Amounts are numbers, dates are ISO 8601.'

export const FLASH = 'google/gemini-flash-latest'
export const PRO = 'google/gemini-pro-latest'

export interface LadderWorld extends AsyncDisposable {
  readonly simulator: Simulator
  readonly reprise: Reprise
  readonly events: readonly RepriseEvent[]
  /** Models that were asked about a document, with what was wrong with their answers, in order. */
  calls(document: string): readonly string[]
  /** Works until nothing is left to claim and nothing waits. */
  work(): Promise<void>
}

export async function ladderWorld(options: SimulatorOptions): Promise<LadderWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-ladder-'))
  const simulator = await startSimulator(options)
  const store = sqlite({ file: join(folder, 'reprise.db') })
  const baseURLs = { google: `${simulator.url}/v1beta`, openai: `${simulator.url}/v1` }
  const reprise = createReprise({ store, models: { baseURLs } })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  return {
    simulator,
    reprise,
    events,
    calls: (document) =>
      simulator
        .requests()
        .filter((request) => request.document === document)
        .map(({ model, fault }) => `${model.includes('pro') ? 'pro' : 'flash'} ${fault}`),
    async work() {
      const worker = reprise.work({ concurrency: 8, pollMs: 50 })
      await worker.idle({ until: 'settled' })
      await worker.stop()
    },
    async [Symbol.asyncDispose]() {
      await reprise.close()
      await simulator.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
