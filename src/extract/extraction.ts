/**
 * Durable extraction: a task that reads a document and asks a ladder about it until the answer passes the gate.
 * A document is known by its bytes, the schema, the prompt and the ladder, so the same question is never bought twice, whatever the file
 * is called and however often the command is repeated.
 */
import { hashOf } from '../engine/json.ts'
import type { Reprise } from '../engine/reprise.ts'
import { defineTask, type Task } from '../engine/task.ts'
import { isRepriseError, RepriseError } from '../failure/reprise-error.ts'
import { type Gate, gate as gateOf, isGate } from '../gate/gate.ts'
import type { Rule } from '../gate/rule.ts'
import type { Schema } from '../gate/schema.ts'
import type { Asked } from '../ladder/ask.ts'
import type { Asks } from '../ladder/asking-context.ts'
import { defaultLadder, type Ladder } from '../ladder/ladder.ts'
import { idOf } from '../ladder/model-id.ts'
import type { Rung } from '../ladder/rung.ts'
import type { RunView, Store } from '../ports/store.ts'
import type { SourceDocument } from './documents.ts'
import { readDocument } from './read-document.ts'

export const EXTRACT_TASK = 'extract'
/** Name of the ask: journal entries are `document/<rung>.<take>`. */
export const EXTRACT_ASK = 'document'

export const EXTRACT_PROMPT =
  'Extract the data of the document as JSON by the schema. Take every value from the document itself; where it names none and the schema allows it, answer null.'

export interface ExtractionOptions {
  /** The shape of an answer. */
  readonly schema: Schema
  /** What must hold beyond the shape: rules, or a whole gate. */
  readonly gate?: Gate | readonly Rule[]
  /** @default a cheap model with two corrections, a strong one once within a budget, a person */
  readonly ladder?: Ladder
  /** @default {@link EXTRACT_PROMPT} */
  readonly prompt?: string
  /** What else answers depend on, such as who answers: another word never shares answers with this one. */
  readonly variant?: string
}

export interface ExtractionInput extends SourceDocument {}

export interface ExtractedRun {
  readonly document: SourceDocument
  readonly run: string
  /** False when its run was there already: nothing is begun anew. */
  readonly created: boolean
}

export interface Extraction {
  readonly task: Task<ExtractionInput, Asked>
  /** Of the question: a worker with `categories: [category]` serves this one only. */
  readonly category: string
  readonly ladder: Ladder
  /**
   * Begins a run for each document that has none; documents of the same bytes share one. A run that failed stays as it is unless
   * `retryFailed` gives it another generation.
   */
  submit(
    documents: readonly SourceDocument[],
    options?: { readonly retryFailed?: boolean },
  ): Promise<readonly ExtractedRun[]>
}

/**
 * Gives `reprise` the task `extract` for one question: schema, gate, prompt and ladder.
 * @example
 * const extraction = createExtraction(reprise, { schema, gate: rules })
 * await extraction.submit(await findDocuments(['invoices']))
 * const worker = reprise.work({ categories: [extraction.category] })
 */
export function createExtraction(reprise: Reprise<Asks>, options: ExtractionOptions): Extraction {
  const { schema, ladder = defaultLadder(), prompt = EXTRACT_PROMPT, variant } = options
  if (typeof prompt !== 'string' || prompt.trim() === '')
    throw new RepriseError('extract.prompt', 'prompt is empty. Allowed: text that says what is asked.')
  const gate = isGate(options.gate) ? options.gate : gateOf(schema, options.gate)
  const category = hashOf([
    gate.jsonSchema ?? null,
    prompt,
    ladder.rungs.map(identityOf),
    ...(variant === undefined ? [] : [variant]),
  ]).slice(0, 16)
  const first = ladder.rungs.find(({ type }) => type === 'model')
  const task = defineTask<ExtractionInput, Asked>({
    name: EXTRACT_TASK,
    ...(first?.type === 'model' ? { resources: [first.resource] } : {}),
  })
  /** Where bytes lie now: a file that was moved since its run began is read at its new place. */
  const places = new Map<string, string>()

  reprise.handle(task, async (input, ctx) => {
    const files = input.files.map((file) => ({ ...file, path: places.get(file.sha256) ?? file.path }))
    const { text, image } = await readDocument({ name: input.name, files })
    const [{ path, mediaType } = { path: '', mediaType: '' }] = files
    return ctx.ask(EXTRACT_ASK, {
      ladder,
      prompt,
      schema,
      gate: gate as Gate,
      document: { ...(text === undefined ? {} : { text }), sha256: input.sha256, uri: path, mediaType },
      ...(image === undefined ? {} : { image }),
      // Of the bytes alone: what a file is called changes nothing about its answer.
      input: { document: input.sha256 },
      title: input.name,
    })
  })

  async function begin(document: SourceDocument, key: string, onExisting: 'return' | 'retry'): Promise<ExtractedRun> {
    const { name, files, sha256 } = document
    try {
      const { id, created } = await reprise.submit(task, { name, files, sha256 }, { key, category, onExisting })
      return { document, run: id, created }
    } catch (error) {
      // Somebody else has begun the same bytes from another folder at the same time: the key is theirs, and so is the run.
      const isTaken = isRepriseError(error) && error.code === 'submit.key_conflict'
      const run = isTaken ? await reprise.get({ task: task.name, key }) : undefined
      if (run) return { document, run: run.id, created: false }
      throw error
    }
  }

  return {
    task,
    category,
    ladder,
    async submit(documents, { retryFailed = false } = {}) {
      for (const { files } of documents) for (const { sha256, path } of files) places.set(sha256, path)
      const known = await runsOf(reprise.store, category)
      const begun = new Map<string, ExtractedRun>()
      const distinct = [...new Map(documents.map((document) => [document.sha256, document])).values()]
      for (let start = 0; start < distinct.length; start += SUBMITTED_AT_ONCE) {
        const some = distinct.slice(start, start + SUBMITTED_AT_ONCE).map((document) => {
          const before = known.get(document.sha256)
          if (!before) return begin(document, keyOf(document, category), 'return')
          const isOver = before.state === 'failed' || before.state === 'cancelled'
          if (!isOver || !retryFailed) return { document, run: before.id, created: false }
          return begin(JSON.parse(before.input) as ExtractionInput, before.key ?? keyOf(document, category), 'retry')
        })
        for (const run of await Promise.all(some)) begun.set(run.document.sha256, run)
      }
      return documents.flatMap((document) => {
        const run = begun.get(document.sha256)
        return run ? [{ ...run, document }] : []
      })
    },
  }
}

/** One group commit's worth. */
const SUBMITTED_AT_ONCE = 500
const PAGE = 500

/** The runs of this question so far, by the bytes that they are about. */
async function runsOf(store: Store, category: string): Promise<ReadonlyMap<string, RunView>> {
  const known = new Map<string, RunView>()
  let cursor: string | undefined
  do {
    const query = { tasks: [EXTRACT_TASK], categories: [category], limit: PAGE }
    const page = await store.find({ ...query, ...(cursor === undefined ? {} : { cursor }) })
    for (const run of page.runs) known.set((JSON.parse(run.input) as ExtractionInput).sha256, run)
    cursor = page.cursor
  } while (cursor !== undefined)
  return known
}

/** Begins with the name, so that lists and stories can be read; the rest tells the bytes and the question. */
const keyOf = ({ name, sha256 }: SourceDocument, category: string): string =>
  `${name.slice(-KEY_NAME_MAX)}.${hashOf([sha256, category]).slice(0, 12)}`

const KEY_NAME_MAX = 200

/** What of a rung an answer depends on; prices, budgets and addresses change nothing about it. */
function identityOf(rung: Rung): unknown {
  if (rung.type === 'person') return { person: rung.name, queue: rung.queue }
  const { name, model, attempts, maxOutputTokens, temperature = null, providerOptions = null } = rung
  return { name, model: idOf(model), attempts, maxOutputTokens, temperature, providerOptions }
}
