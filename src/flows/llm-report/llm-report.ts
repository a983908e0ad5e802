/**
 * The LLM_REPORT step: checks its inputs, reads what they lead to, asks a model once and repairs once, keeps the report as an artifact.
 * A recipe on public parts: the journal makes every send and every answer once, the store and the artifacts do the rest.
 */
import { createHash } from 'node:crypto'
import type { Context } from '../../engine/context.ts'
import { hashOf } from '../../engine/json.ts'
import { defineTask, type Task } from '../../engine/task.ts'
import { classify } from '../../failure/classify.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import type { Asks } from '../../ladder/asking-context.ts'
import { ladder } from '../../ladder/ladder.ts'
import { rung } from '../../ladder/rung.ts'
import { definePolicy } from '../../policy/define-policy.ts'
import type { Policy } from '../../policy/policy.ts'
import { flowReport, flowStorage, presets } from '../../policy/presets.ts'
import type { Artifacts } from '../../ports/artifacts.ts'
import type { Store } from '../../ports/store.ts'
import { retry } from '../../retry/retry.ts'
import type { JournalEntry } from '../../run/journal.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { checkInputs } from './inputs.ts'
import { checkProfile, checkSchema, type ReportProfile, type ReportSchema, versionOf } from './profile.ts'
import { askedFailure, isOutOfTime, type ReportCode, reportFailure } from './report-failure.ts'
import { partsOf, type ReadObject, requestOf } from './request.ts'
import { type ReportSources, siblingsOf } from './sources.ts'

export interface LlmReportOptions {
  readonly store: Store
  readonly artifacts: Artifacts
  readonly sources: ReportSources
  /** Reads what other steps wrote: `gcsObjects({ buckets })` where other workers did. @default only what lies under `artifacts` and has its marks */
  readonly objects?: ReadObject
  /** Where the model is, when it is not at its provider's own address. */
  readonly baseURL?: string
  /** Whether a model writes JSON to a schema. @default by a list of those that do not */
  readonly isStructured?: (model: string) => boolean
  /** Of reading documents and objects. @default five tries, 1 s, 2 s, … up to 32 s, with jitter */
  readonly storage?: Policy
  readonly clock?: Clock
}

export interface ReportOutput {
  /** Where the report is; the name that other workers of such flows look for. */
  readonly gcs_uri: string
  readonly sha256: string
  readonly schemaId: string
  readonly schemaVersion: number
  readonly model: string
  /** Sends in all: 1, or 2 after a repair. */
  readonly takes: number
  readonly costUsd: number
  /** Optional inputs that were not there. */
  readonly missing: readonly string[]
}

/**
 * Inside an invocation one call and one repair, as the preset `flowReport` says; what the world did to it is tried again later.
 * A wrong answer is the end of an automatic run: a retry by hand is a new generation.
 */
export const reportPolicy: Policy = definePolicy(
  {
    name: 'llmReport',
    kinds: {
      syntax: { recourse: 'fail' },
      semantic: { recourse: 'fail' },
      refused: { recourse: 'fail' },
    },
    limits: flowReport.limits ?? {},
  },
  presets.daemon,
)

export const llmReportTask: Task<unknown, ReportOutput> = defineTask<unknown, ReportOutput>({
  name: 'LLM_REPORT',
  policy: reportPolicy,
})

/** One send; another one in the same breath would need as long again. */
const oneSend: Policy = definePolicy(
  { name: 'oneSend', kinds: { transient: { maxAttempts: 1 }, rate_limited: { maxAttempts: 1 } } },
  flowReport,
)

const CALL_MS = flowReport.limits?.callMs ?? 600_000

type ReportContext = Context<unknown> & Asks

export function llmReport(options: LlmReportOptions): (input: unknown, ctx: ReportContext) => Promise<ReportOutput> {
  const { store, artifacts, sources, clock = systemClock } = options
  const objects: ReadObject = options.objects ?? ((uri) => artifacts.get(uri))
  const policy = options.storage ?? flowStorage
  /** Each read is tried again by itself; what stays is the store's trouble, or of what this account will never be given. */
  const read = async <T>(what: string, never: ReportCode, ask: () => Promise<T>): Promise<T> => {
    try {
      return await retry(ask, { policy, clock })
    } catch (cause) {
      const code = classify(cause, { now: clock.now() }).kind === 'final' ? never : 'FIRESTORE_UNAVAILABLE'
      throw reportFailure(code, `${what} cannot be read: ${(cause as Error).message}`, cause)
    }
  }
  const profileOf = async (given: Readonly<Record<string, unknown>> | string): Promise<ReportProfile> => {
    if (typeof given !== 'string') return checkProfile(given, options.isStructured)
    const known = await read(`profile ${given}`, 'LLM_PROFILE_INVALID', () => sources.profile(given))
    if (known === undefined) throw reportFailure('LLM_PROFILE_INVALID', `profile ${given} is not there`)
    return checkProfile(known, options.isStructured)
  }
  const schemaOf = async ({ schemaId }: ReportProfile): Promise<ReportSchema> => {
    versionOf(schemaId)
    const document = await read(`schema ${schemaId}`, 'LLM_PROFILE_INVALID', () => sources.schema(schemaId))
    return checkSchema(schemaId, document)
  }

  return async (given, ctx) => {
    const inputs = checkInputs(given)
    const siblings = await read('the flow run', 'FIRESTORE_UNAVAILABLE', () => siblingsOf(store, ctx.run))
    if (!siblings) throw reportFailure('FLOW_RUN_INVALID', `run ${ctx.run} is no step of a flow`)
    const parts = partsOf(inputs, siblings)
    const { promptId } = inputs
    const prompt = await read(`prompt ${promptId}`, 'PROMPT_NOT_FOUND', () => sources.prompt(promptId))
    if (!prompt) throw reportFailure('PROMPT_NOT_FOUND', `prompt ${promptId} is not there`)
    const profile = await profileOf(inputs.llmProfile)
    const schema = await schemaOf(profile)
    tellHash(ctx, profile, schema)
    const request = await requestOf(promptId, prompt, parts, objects)
    if (request.missing.length > 0) ctx.log.warn('earlier reports are not there', { missing: request.missing })
    const asked = await ask(ctx, options, profile, schema, request)
    const body = JSON.stringify(asked.value)
    const stored = await keep(ctx, body, [profile, schema.id, hashOf(request)])
    return {
      gcs_uri: stored.uri,
      sha256: stored.sha256,
      schemaId: schema.id,
      schemaVersion: schema.version,
      model: profile.model,
      takes: asked.takes.length,
      costUsd: asked.cost,
      missing: request.missing,
    }
  }
}

async function ask(
  ctx: ReportContext,
  { store, baseURL, clock = systemClock }: LlmReportOptions,
  { model, temperature, maxOutputTokens }: ReportProfile,
  schema: ReportSchema,
  { prompt, system, document }: Awaited<ReturnType<typeof requestOf>>,
) {
  const only = rung(model, {
    attempts: 2,
    policy: oneSend,
    timeout: CALL_MS,
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  })
  try {
    return await ctx.ask('report', {
      ladder: ladder([only]),
      prompt,
      ...(system === undefined ? {} : { system }),
      document,
      schema: schema.jsonSchema,
    })
  } catch (thrown) {
    // There was an answer, so what had no time was the repair.
    const isRepair = isOutOfTime(thrown) && (await store.journal(ctx.run, ctx.generation)).some(isAnswered)
    throw askedFailure(thrown, clock.now(), isRepair)
  }
}

const isAnswered = ({ answer }: JournalEntry): boolean => answer !== undefined

async function keep(ctx: ReportContext, body: string, input: unknown) {
  try {
    return await ctx.artifact('report.json', body, { contentType: 'application/json', input })
  } catch (thrown) {
    if (!isRepriseError(thrown) || thrown.code !== 'artifacts.unavailable') throw thrown
    throw reportFailure('GCS_WRITE_FAILED', thrown.message, thrown)
  }
}

/** For information: which schema was meant is known by its id. */
function tellHash(ctx: ReportContext, { schemaSha256 }: ReportProfile, { id, jsonSchema }: ReportSchema): void {
  if (schemaSha256 === undefined) return
  const sha256 = createHash('sha256').update(JSON.stringify(jsonSchema)).digest('hex')
  ctx.log.info('schema', { schemaId: id, schemaSha256, sha256, same: sha256 === schemaSha256 })
}
