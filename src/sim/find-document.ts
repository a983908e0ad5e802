/**
 * Which part of a prompt is the document, and by what name it is known: instructions, earlier answers and complaints are around it.
 * Any prompt will do; blocks between fences, tags or boundary lines are looked at first.
 */
import { createHash } from 'node:crypto'
import { patternOf } from './check-plan.ts'
import type { Script } from './fault-plan.ts'
import type { Invoice } from './invoice.ts'
import type { Question } from './question.ts'
import { factsFound, readInvoice } from './read-invoice.ts'

/** A block with fewer facts than this is not the document. */
const FACTS_MIN = 3
/** Prompts are long, but their blocks are few. */
const BLOCKS_MAX = 64

/** A stamp such as `INV-031`: how a document is named when no script does. */
const MARK = /\b[A-Z]{2,6}-\d{2,}\b/

export interface FoundDocument {
  /** Its mark, else the start of its hash. Stays the same from take to take. */
  readonly name: string
  readonly scriptKey: string | undefined
  readonly text: string
  readonly invoice: Invoice
}

export interface Sight {
  readonly script: Script
  /** SHA-256 of an image → its text. */
  readonly images: Readonly<Record<string, string>>
}

export function findDocument(question: Question, { script, images }: Sight): FoundDocument {
  const seen = question.pictures.map(({ sha256 }) => images[sha256]).filter((text) => text !== undefined)
  const prompt = question.texts.join('\n')
  const text = seen.length > 0 ? seen.join('\n') : bestBlock(question.texts)
  const hashes = [sha256Of(text.trim()), ...question.pictures.map((picture) => picture.sha256)]
  const scriptKey = keyOf(script, [text, prompt], hashes)
  const mark = MARK.exec(text)?.[0] ?? MARK.exec(prompt)?.[0]
  const isText = scriptKey !== undefined && !/^\/|^sha256:/.test(scriptKey)
  const name = (isText ? scriptKey : mark) ?? `sha256:${hashes[0]?.slice(0, 12)}`
  return { name, scriptKey, text, invoice: readInvoice(text, mark) }
}

function keyOf(script: Script, texts: readonly string[], hashes: readonly string[]): string | undefined {
  const keys = Object.keys(script)
  for (const text of texts) {
    const found = keys.find((key) => {
      if (key.startsWith('/')) return patternOf(key).test(text)
      return !key.startsWith('sha256:') && standsIn(key, text)
    })
    if (found !== undefined) return found
  }
  return keys.find((key) => key.startsWith('sha256:') && hashes.some((hash) => hash.startsWith(key.slice(7))))
}

/** As a word of its own: `INV-3` does not stand in `INV-31`. */
function standsIn(key: string, text: string): boolean {
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + 1)) {
    const [before, after] = [text[at - 1] ?? ' ', text[at + key.length] ?? ' ']
    if (!/[\p{L}\d-]/u.test(before) && !/[\p{L}\d]/u.test(after)) return true
  }
  return false
}

/** Blocks go before the text they stand in, which may hold earlier answers too and so know more than the document does. */
function bestBlock(texts: readonly string[]): string {
  const framed = texts.map((text) => ({ text, blocks: blocksOf(text) }))
  const parts = framed.flatMap(({ text, blocks }) => (blocks.length > 0 ? blocks : [text]))
  // Of what is no invoice the first block is taken, so that its hash does not depend on what is written around it later.
  const first = framed.flatMap(({ blocks }) => blocks).find((block) => /^\s*[^\s[{]/.test(block))
  return mostFacts(parts) ?? mostFacts(texts) ?? first ?? texts.join('\n')
}

function mostFacts(texts: readonly string[]): string | undefined {
  let best: { facts: number; text: string } | undefined
  for (const text of texts) {
    const facts = factsFound(readInvoice(text))
    if (facts >= FACTS_MIN && facts > (best?.facts ?? 0)) best = { facts, text }
  }
  return best?.text
}

/**
 * Between two neighbouring lines with one sign: a fence, a tag and its end, or a long token. One token may frame several blocks, and be
 * told of before them, so a line that closes one block may open the next.
 */
function blocksOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  const seen = new Map<string, number>()
  const blocks: string[] = []
  for (const [index, line] of lines.entries()) {
    for (const sign of signsOf(line)) {
      const start = seen.get(sign)
      if (start !== undefined && blocks.length < BLOCKS_MAX) blocks.push(lines.slice(start + 1, index).join('\n'))
      seen.set(sign, index)
    }
  }
  return blocks
}

function signsOf(line: string): string[] {
  const trimmed = line.trim()
  if (/^(```|~~~)/.test(trimmed)) return [trimmed.slice(0, 3)]
  const tag = /^<\/?([A-Za-z][\w-]*)[^<]*>$/.exec(trimmed)?.[1]
  const tokens = trimmed.length <= 120 ? (trimmed.match(/[0-9A-Za-z_]{10,}/g) ?? []) : []
  return [...(tag === undefined ? [] : [`<${tag}>`]), ...tokens.filter((token) => /\d/.test(token))]
}

export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
