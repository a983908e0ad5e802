/**
 * What a report step is given, checked before anything is read or asked: the first field that is wrong is named.
 * It knows the shape of the inputs and nothing of what they lead to.
 */
import { reportFailure } from './report-failure.ts'

export interface ReportInputs {
  readonly promptId: string
  /** The profile itself, or the id of its document. */
  readonly llmProfile: Readonly<Record<string, unknown>> | string
  readonly ohlcvStepId: string
  readonly chartsManifestStepId: string
  readonly previousReportStepIds: readonly string[]
}

/** More reports than this do not fit into a prompt. */
const PREVIOUS_MAX = 20

export function checkInputs(value: unknown): ReportInputs {
  const inputs = recordOf(value)
  if (!inputs) throw wrong('inputs', value, 'a map')
  const llm = recordOf(inputs['llm'])
  const profile = llm?.['llmProfile']
  if (!recordOf(profile) && !isId(profile)) {
    throw reportFailure(
      'LLM_PROFILE_INVALID',
      `inputs.llm.llmProfile is ${shown(profile)}; allowed is a profile or the id of one`,
    )
  }
  const previous = inputs['previousReportStepIds'] ?? []
  if (!Array.isArray(previous) || previous.length > PREVIOUS_MAX || !previous.every(isId))
    throw wrong('previousReportStepIds', previous, `a list of at most ${PREVIOUS_MAX} steps`)
  return {
    promptId: idOf(inputs, 'promptId'),
    llmProfile: profile as ReportInputs['llmProfile'],
    ohlcvStepId: idOf(inputs, 'ohlcvStepId'),
    chartsManifestStepId: idOf(inputs, 'chartsManifestStepId'),
    previousReportStepIds: previous,
  }
}

function idOf(inputs: Readonly<Record<string, unknown>>, field: string): string {
  const value = inputs[field]
  if (!isId(value)) throw wrong(field, value, 'an id of letters, digits, _ and -')
  return value
}

const isId = (value: unknown): value is string =>
  typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/.test(value)

const wrong = (field: string, value: unknown, allowed: string) =>
  reportFailure('INVALID_STEP_INPUTS', `${field} is ${shown(value)}; allowed is ${allowed}`)

export const shown = (value: unknown): string =>
  value === undefined ? 'not given' : (JSON.stringify(value)?.slice(0, 80) ?? typeof value)

export function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}
