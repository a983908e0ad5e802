/**
 * What a document says: the text of its files, and the picture or pages that a model may be shown.
 * It asks no model; what cannot be read at all is a failure that no retry can help.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { failure } from '../failure/own.ts'
import type { AskImage } from '../ladder/ask-options.ts'
import type { SourceDocument, SourceFile } from './documents.ts'

export interface ReadDocument {
  readonly text?: string
  readonly image?: AskImage
}

/** What providers take inline. */
const FILE_BYTES_MAX = 20_000_000
/** About 300,000 tokens: more is a book, and no single question. */
const TEXT_CHARS_MAX = 1_000_000

export type ReadBytes = (file: SourceFile) => Promise<Uint8Array>

/** Reads it as it was when it was submitted: bytes that changed since are another document. */
export async function readDocument(
  { name, files }: Pick<SourceDocument, 'name' | 'files'>,
  read: ReadBytes = bytesOf,
): Promise<ReadDocument> {
  let text: string | undefined
  let image: AskImage | undefined
  for (const file of files) {
    const bytes = await read(file)
    if (bytes.length > FILE_BYTES_MAX)
      throw bad('document.too_large', `${name} is ${bytes.length} bytes; allowed: ${FILE_BYTES_MAX}`)
    if (bytes.length === 0) continue
    if (file.mediaType.startsWith('text/')) text = decoded(bytes)
    else if (file.mediaType === 'application/pdf') text = await textOfPdf(bytes, name)
    // Pages are shown like a picture of the same document: from the first correction on, or at once if there is no text.
    if (!file.mediaType.startsWith('text/')) image = { data: bytes, mediaType: file.mediaType }
  }
  const said = text?.trim() === '' ? undefined : text
  if (said === undefined && image === undefined) throw bad('document.empty', `${name} is empty`)
  if (said !== undefined && said.length > TEXT_CHARS_MAX)
    throw bad('document.too_large', `${name} is ${said.length} characters; allowed: ${TEXT_CHARS_MAX}`)
  return {
    ...(said === undefined ? {} : { text: said }),
    ...(image === undefined ? {} : { image: said === undefined ? { ...image, always: true } : image }),
  }
}

async function bytesOf({ path, sha256 }: SourceFile): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw bad('document.gone', `${path} cannot be read any more (${cause.code ?? cause.message})`)
  })
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw bad('document.gone', `${path} has changed since it was submitted`)
  return bytes
}

/** UTF-8, or UTF-16 if its mark says so. What is not text shows as the sign for it, and the gate judges. */
function decoded(bytes: Uint8Array): string {
  const [first, second] = bytes
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

async function textOfPdf(bytes: Uint8Array, name: string): Promise<string> {
  const { extractText, getDocumentProxy } = await import('unpdf')
  try {
    // The reader takes its bytes away, and they are still to be shown.
    const pdf = await getDocumentProxy(new Uint8Array(bytes))
    return (await extractText(pdf, { mergePages: true })).text
  } catch (cause) {
    throw bad('document.unreadable', `${name} is not a PDF that can be read: ${(cause as Error).message}`)
  }
}

const bad = (code: string, message: string) => failure({ kind: 'final', code, message })
