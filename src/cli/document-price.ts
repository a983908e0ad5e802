/**
 * What a document can cost at worst, as `reprise extract` would ask about it: the ladder's shape with the price of each take.
 * It reads the document for its length and sends nothing.
 */

import { findDocuments } from '../extract/documents.ts'
import { EXTRACT_PROMPT } from '../extract/extraction.ts'
import { readDocument } from '../extract/read-document.ts'
import { failureOf } from '../failure/own.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import type { Ladder } from '../ladder/ladder.ts'
import { shapeFor } from '../ladder/worst-case.ts'
import type { LadderShape } from '../policy/index.ts'
import { usageError } from './cli-error.ts'
import { readJson } from './read-json-file.ts'

export interface PricedDocument {
  readonly file: string
  /** The JSON Schema that it is asked by, which is sent along. */
  readonly schema?: string
}

export async function shapeForDocument(
  ladder: Ladder,
  { file, schema }: PricedDocument,
  cwd: string,
): Promise<LadderShape> {
  const asked = schema === undefined ? '' : JSON.stringify(await readJson(schema, cwd, (async function* () {})()))
  const { text = '', image } = await documentOf(file, cwd)
  const textBytes = [EXTRACT_PROMPT, asked, text].reduce((sum, each) => sum + Buffer.byteLength(each), 0)
  return shapeFor(ladder, { textBytes, images: image ? 1 : 0 })
}

async function documentOf(file: string, cwd: string) {
  try {
    const [document, ...others] = await findDocuments([file], { cwd })
    if (!document || others.length > 0) throw usageError(`--document is one document, not a folder: ${file}.`)
    return await readDocument(document)
  } catch (error) {
    // What cannot be asked about is told as one tells of a document; all else is none of ours.
    if (isRepriseError(error) || failureOf(error)) throw usageError((error as Error).message)
    throw error
  }
}
