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
  strongestOf,
} from './account.ts'
export { ENDINGS, findDocuments, type SourceDocument, type SourceFile } from './documents.ts'
export {
  createExtraction,
  EXTRACT_PROMPT,
  type ExtractedRun,
  type Extraction,
  type ExtractionInput,
  type ExtractionOptions,
} from './extraction.ts'
