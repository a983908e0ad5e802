/**
 * The model simulator for tests and chaos: a provider on 127.0.0.1 that speaks Gemini's and OpenAI's formats and fails on purpose.
 */
export { FAULT_NAMES, FAULTS, type FaultName } from './fault.ts'
export type { DocumentScript, FaultPlan, ModelPlan, Range, Rates, Script, Step, Steps } from './fault-plan.ts'
export type { Invoice, InvoiceLine } from './invoice.ts'
export { PRESET_NAMES, PRESETS, type PresetName } from './presets.ts'
export type { Tokens } from './question.ts'
export { readInvoice } from './read-invoice.ts'
export { type LoggedRequest, readRequestLog } from './request-log.ts'
export { type Simulator, type SimulatorOptions, startSimulator } from './simulator.ts'
