/**
 * Flows of documents in production: the entry points of functions and daemons, and the report step as a recipe.
 * Public as `reprise/flows`.
 */
export { createFlowDaemon, type FlowDaemon, type FlowDaemonOptions } from './create-flow-daemon.ts'
export {
  createFlowHandler,
  type FlowHandler,
  type FlowHandlerOptions,
  type FlowReprise,
} from './create-flow-handler.ts'
export { type FlowEvent, flowIn } from './flow-event.ts'
export {
  type LlmReportOptions,
  llmReport,
  llmReportTask,
  type ReportOutput,
  reportPolicy,
} from './llm-report/llm-report.ts'
export type { ReadObject } from './llm-report/request.ts'
export {
  documents,
  type FirestoreDocumentsOptions,
  firestoreDocuments,
  type ReportSources,
  type SourceDocument,
} from './llm-report/sources.ts'
export type { FlowCode, FlowOutcome } from './outcome.ts'
