/**
 * The profile of a report's model and the schema of its answer: every rule has its own message, all of them one code.
 * There is one judge of an answer, the stored JSON Schema; here it is only checked that it asks for what a report is.
 */
import { judgeOf } from '../../gate/schema.ts'
import { recordOf, shown } from './inputs.ts'
import { reportFailure } from './report-failure.ts'

export interface ReportProfile {
  /** As rungs name it: `google/gemini-flash-latest`. */
  readonly model: string
  readonly temperature?: number
  readonly maxOutputTokens?: number
  readonly schemaId: string
  /** Told in the log, never enforced. */
  readonly schemaSha256?: string
}

export interface ReportSchema {
  readonly id: string
  readonly version: number
  readonly jsonSchema: Readonly<Record<string, unknown>>
}

/** Models that do not write JSON to a schema. */
const UNSTRUCTURED = /(^|\/)(gemini-1\.0|gemma|.*(embedding|imagen|veo|-tts|-image|-audio))/i
const SCHEMA_ID = /^llm_report_output_v(\d{1,4})$/

const wrong = (message: string) => reportFailure('LLM_PROFILE_INVALID', message)

export function checkProfile(
  value: unknown,
  isStructured = (model: string): boolean => !UNSTRUCTURED.test(model),
): ReportProfile {
  const profile = recordOf(value)
  if (!profile) throw wrong(`llmProfile is ${shown(value)}; allowed is a map`)
  const named = profile['modelName'] ?? profile['model']
  if (typeof named !== 'string' || !/^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$/.test(named))
    throw wrong(`llmProfile.modelName is ${shown(named)}; allowed is the name of a model`)
  const { responseMimeType } = profile
  // Firestore has null where others have nothing.
  const candidateCount = profile['candidateCount'] ?? undefined
  const temperature = profile['temperature'] ?? undefined
  const maxOutputTokens = profile['maxOutputTokens'] ?? undefined
  if (responseMimeType !== 'application/json')
    throw wrong(`llmProfile.responseMimeType is ${shown(responseMimeType)}; allowed is "application/json"`)
  if (candidateCount !== undefined && candidateCount !== 1)
    throw wrong(`llmProfile.candidateCount is ${shown(candidateCount)}; allowed is 1`)
  if (temperature !== undefined && !(typeof temperature === 'number' && temperature >= 0 && temperature <= 2))
    throw wrong(`llmProfile.temperature is ${shown(temperature)}; allowed is 0 to 2`)
  if (maxOutputTokens !== undefined && !(Number.isInteger(maxOutputTokens) && Number(maxOutputTokens) > 0))
    throw wrong(`llmProfile.maxOutputTokens is ${shown(maxOutputTokens)}; allowed are whole numbers from 1`)
  const model = named.includes('/') ? named : `google/${named}`
  if (!isStructured(model)) throw wrong(`llmProfile.modelName is "${named}", which has no structured output`)
  const { schemaId, schemaSha256 } = recordOf(profile['structuredOutput']) ?? {}
  if (typeof schemaId !== 'string' || schemaId === '')
    throw wrong(`llmProfile.structuredOutput.schemaId is ${shown(schemaId)}; it is required`)
  return {
    model,
    schemaId,
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(typeof maxOutputTokens === 'number' ? { maxOutputTokens } : {}),
    ...(typeof schemaSha256 === 'string' ? { schemaSha256 } : {}),
  }
}

export function versionOf(schemaId: string): number {
  const [, version] = SCHEMA_ID.exec(schemaId) ?? []
  if (version === undefined)
    throw wrong(`llmProfile.structuredOutput.schemaId is "${schemaId}"; allowed is llm_report_output_v{N}`)
  return Number(version)
}

export function checkSchema(id: string, document: unknown): ReportSchema {
  const version = versionOf(id)
  if (document === undefined) throw wrong(`schema ${id} is not there`)
  const jsonSchema = schemaIn(document)
  if (!jsonSchema) throw wrong(`jsonSchema of schema ${id} is not a JSON Schema: allowed is an object or its text`)
  try {
    judgeOf(jsonSchema)
  } catch (cause) {
    throw reportFailure(
      'LLM_PROFILE_INVALID',
      `jsonSchema of schema ${id} is invalid: ${(cause as Error).message}`,
      cause,
    )
  }
  const parts = partsOf(jsonSchema, jsonSchema)
  for (const field of ['summary', 'details'])
    if (!requires(parts, field)) throw wrong(`jsonSchema of schema ${id} does not require ${field}`)
  const summary = parts.flatMap(({ properties }) => partsOf(jsonSchema, recordOf(properties)?.['summary']))
  if (!requires(summary, 'markdown')) throw wrong(`jsonSchema of schema ${id} does not require summary.markdown`)
  return { id, version, jsonSchema }
}

/** Firestore holds no arrays in arrays, so that a schema may also stand there as text. */
function schemaIn(document: unknown): Readonly<Record<string, unknown>> | undefined {
  const { jsonSchema } = recordOf(document) ?? {}
  if (typeof jsonSchema !== 'string') return recordOf(jsonSchema)
  try {
    return recordOf(JSON.parse(jsonSchema))
  } catch {
    return undefined
  }
}

type Schema = Readonly<Record<string, unknown>>

/** All that a schema says of one value: itself, what it refers to by name, and what it joins with `allOf`; each part once. */
function partsOf(root: Schema, schema: unknown, seen = new Set<Schema>()): Schema[] {
  const known = recordOf(schema)
  if (!known || seen.has(known)) return []
  seen.add(known)
  const { $ref, allOf } = known
  const named = typeof $ref === 'string' && $ref.startsWith('#') ? partsOf(root, lookUp(root, $ref), seen) : []
  const joined = Array.isArray(allOf) ? allOf.flatMap((each) => partsOf(root, each, seen)) : []
  return [known, ...named, ...joined]
}

const lookUp = (root: Schema, pointer: string): unknown =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => decodeURIComponent(name).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (at, name) => (recordOf(at) && Object.hasOwn(at as object, name) ? (at as Schema)[name] : undefined),
      root,
    )

function requires(parts: readonly Schema[], field: string): boolean {
  const isRequired = parts.some(({ required }) => Array.isArray(required) && required.includes(field))
  return isRequired && parts.some(({ properties }) => recordOf(properties)?.[field] !== undefined)
}
