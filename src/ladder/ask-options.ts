/**
 * What `ctx.ask` is given, checked before anything is sent, and turned into what the climb works with.
 * It asks nobody.
 */
import { hashOf } from '../engine/json.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { type Gate, isGate, gate as makeGate } from '../gate/gate.ts'
import type { Rule } from '../gate/rule.ts'
import { type JsonSchema, jsonSchemaOf, type Schema } from '../gate/schema.ts'
import { defaultLadder, type Ladder } from './ladder.ts'
import type { Question } from './prompt.ts'

export interface AskDocument {
  /** Put into the prompt as data, and shown to a reviewer. */
  readonly text?: string
  /** Where a reviewer finds it. */
  readonly uri?: string
  readonly mediaType?: string
  /** Told with every event, so that a document can be followed. @default of the text, else of `input` */
  readonly sha256?: string
}

export interface AskImage {
  /** Bytes, or base64. */
  readonly data: Uint8Array | string
  readonly mediaType: string
  /** Sent from the first ask on, for documents that are nothing but an image. @default from the first correction on */
  readonly always?: boolean
}

export interface AskOptions<Value = unknown, Input = unknown> {
  /** @default a cheap model with two corrections, a strong one once within a budget, a person */
  readonly ladder?: Ladder
  /** The instructions. A document belongs into `document`: there it is data. */
  readonly prompt: string
  readonly system?: string
  readonly document?: string | AskDocument
  readonly image?: AskImage
  /** The shape of the answer: JSON Schema or a Standard Schema. Not needed with a gate that has one. */
  readonly schema?: Schema<Value>
  /** A gate, or rules that are asked after `schema`. */
  readonly gate?: Gate<Value, Input> | readonly Rule<Value, Input>[]
  /** What rules are shown besides the answer, and what a stored answer belongs to. @default the run's input */
  readonly input?: Input
  /** What a reviewer sees as its name. @default the name of the ask */
  readonly title?: string
}

/** An ask that can be climbed. */
export interface AskPlan {
  readonly ladder: Ladder
  readonly question: Question
  readonly gate: Gate
  readonly schema?: JsonSchema
  readonly image?: AskImage
  readonly document?: AskDocument
  readonly input: unknown
  readonly title: string
  /** Of what was asked: prompt, schema, input, image. */
  readonly hashes: {
    readonly prompt: string
    readonly schema?: string
    readonly input: string
    readonly image?: string
  }
  /** Names the document in events. */
  readonly sha256: string
}

export function planOf(name: string, options: AskOptions, runInput: unknown): AskPlan {
  const { prompt, system, image, schema, title = name } = options
  if (typeof prompt !== 'string' || prompt.trim() === '') refuse(name, 'prompt', prompt, 'text that says what is asked')
  if (image !== undefined && typeof image.mediaType !== 'string')
    refuse(name, 'image.mediaType', image.mediaType, 'a media type, such as "image/png"')
  const ladder = options.ladder ?? defaultLadder()
  if (!Array.isArray(ladder?.rungs)) refuse(name, 'ladder', options.ladder, 'ladder([rung(…), …, person(…)])')
  const gate = gateOf(name, options)
  const document = typeof options.document === 'string' ? { text: options.document } : options.document
  const input = 'input' in options ? options.input : runInput
  const told = schema === undefined ? gate.jsonSchema : (jsonSchemaOf(schema) ?? gate.jsonSchema)
  const inputHash = hashOf([document?.text ?? null, document?.sha256 ?? null, input ?? null])
  return {
    ladder,
    gate,
    question: {
      prompt,
      ...(system === undefined ? {} : { system }),
      ...(document?.text === undefined ? {} : { document: document.text }),
    },
    ...(told ? { schema: told } : {}),
    ...(image ? { image } : {}),
    ...(document ? { document } : {}),
    input,
    title,
    hashes: {
      prompt: hashOf([system ?? null, prompt]),
      ...(told ? { schema: hashOf(told) } : {}),
      input: inputHash,
      ...(image ? { image: hashOf(Buffer.from(image.data).toString('base64')) } : {}),
    },
    sha256: document?.sha256 ?? inputHash,
  }
}

function gateOf(name: string, { gate, schema }: AskOptions): Gate {
  if (isGate(gate)) return gate
  if (schema === undefined)
    refuse(name, 'schema', schema, 'a JSON Schema or a Standard Schema, unless gate is a gate(…)')
  if (gate !== undefined && !Array.isArray(gate)) refuse(name, 'gate', typeof gate, 'a gate(…), or a list of rules')
  return makeGate(schema, gate)
}

function refuse(name: string, field: string, value: unknown, allowed: string): never {
  throw new RepriseError(
    'ask.invalid',
    `${field} of ask "${name}" is ${JSON.stringify(value) ?? 'not given'}. Allowed: ${allowed}.`,
  )
}
