/**
 * The request of a report: what its inputs lead to, read and put into one document for the model.
 * What is missing and may be missing is said in it; what may not be missing ends the step before anything is asked.
 */
import { classify } from '../../failure/classify.ts'
import { failure } from '../../failure/own.ts'
import { type ReportInputs, shown } from './inputs.ts'
import { reportFailure } from './report-failure.ts'
import { type SiblingStep, type SourceDocument, uriOf } from './sources.ts'

export interface ReportRequest {
  readonly prompt: string
  readonly system?: string
  readonly document: string
  /** Optional parts that were not there. */
  readonly missing: readonly string[]
}

/** The bytes of an object by its uri; `undefined` when it is not there, `"broken"` when its hash does not match. */
export type ReadObject = (uri: string) => Promise<Uint8Array | 'broken' | undefined>

/** Longer inputs are cut, and the model is told so. */
const PART_MAX = 200_000

interface Part {
  readonly field: string
  readonly step: string
  readonly uri: string
  readonly isRequired: boolean
}

/** The objects that the inputs name; a reference that leads nowhere is told by its field. */
export function partsOf(inputs: ReportInputs, siblings: readonly SiblingStep[]): Part[] {
  const part = (field: string, step: string, isRequired: boolean): Part => {
    const sibling = siblings.find((each) => each.step === step)
    if (!sibling)
      throw reportFailure('INVALID_STEP_INPUTS', `${field} is ${shown(step)}, which is no step of this flow run`)
    const uri = uriOf(sibling)
    if (uri === undefined)
      throw reportFailure(
        'INVALID_STEP_INPUTS',
        `${field} is ${shown(step)}, and steps.${step}.outputs.gcs_uri is not given (the step is ${sibling.state})`,
      )
    return { field, step, uri, isRequired }
  }
  return [
    part('ohlcvStepId', inputs.ohlcvStepId, true),
    part('chartsManifestStepId', inputs.chartsManifestStepId, true),
    ...inputs.previousReportStepIds.map((step, index) => part(`previousReportStepIds[${index}]`, step, false)),
  ]
}

export async function requestOf(
  promptId: string,
  prompt: SourceDocument,
  parts: readonly Part[],
  read: ReadObject,
): Promise<ReportRequest> {
  const text = prompt['userPrompt'] ?? prompt['text']
  if (typeof text !== 'string' || text.trim() === '')
    throw reportFailure('PROMPT_NOT_FOUND', `prompt ${promptId} has neither userPrompt nor text`)
  const missing: string[] = []
  const sections: string[] = []
  for (const part of parts) {
    const { field, step, uri, isRequired } = part
    const body = await bodyOf(part, read)
    if (body !== undefined && body !== 'broken') {
      sections.push(`## ${field} (${step})\n${cut(new TextDecoder().decode(body))}`)
      continue
    }
    const how = body === 'broken' ? 'its hash does not match' : 'it is not there'
    if (isRequired)
      throw reportFailure(
        'INVALID_STEP_INPUTS',
        `${field} is ${shown(step)}, and its object ${uri} is unusable: ${how}`,
      )
    missing.push(step)
    sections.push(`## ${field} (${step})\nThis earlier report is not available: write without it and do not invent it.`)
  }
  const system = prompt['systemPrompt'] ?? prompt['system']
  return {
    prompt: text,
    ...(typeof system === 'string' ? { system } : {}),
    document: sections.join('\n\n'),
    missing,
  }
}

/** The reader has tried again by itself: what stays is waited for, unless this account will never be given it. */
async function bodyOf({ field, step, uri }: Part, read: ReadObject): ReturnType<ReadObject> {
  try {
    return await read(uri)
  } catch (cause) {
    const { message } = cause as Error
    if (classify(cause, { now: 0 }).kind === 'final')
      throw reportFailure(
        'INVALID_STEP_INPUTS',
        `${field} is ${shown(step)}, and its object is unusable: ${message}`,
        cause,
      )
    throw failure({ kind: 'transient', code: 'artifacts.unavailable', message: `${field}: ${message}`, cause })
  }
}

const cut = (text: string): string =>
  text.length <= PART_MAX ? text : `${text.slice(0, PART_MAX)}\n[cut: ${text.length - PART_MAX} characters more]`
