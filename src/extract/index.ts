/**
 * Extraction's own face: what the command line and the public face take from it.
 */
export {
  type Account,
  type AlwaysStrongest,
  accountOf,
  alwaysStrongest,
  RECOURSES,
  type Recourse,
  type SendAccount,
  strongestOf,
} from './account.ts'
export { ENDINGS, type FindOptions, findDocuments, type SourceDocument, type SourceFile } from './documents.ts'
export {
  createExtraction,
  EXTRACT_ASK,
  EXTRACT_PROMPT,
  EXTRACT_TASK,
  type ExtractedRun,
  type Extraction,
  type ExtractionInput,
  type ExtractionOptions,
} from './extraction.ts'
