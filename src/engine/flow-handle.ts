/**
 * What the submitter of a flow holds: its id, its steps, and a way to wait for the end of all of them.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { CreatedFlow, Store } from '../ports/store.ts'
import type { Clock } from '../time/clock.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import type { FlowStep, FlowSteps } from './flow.ts'
import { type RunHandle, type RunResult, runHandle } from './run-handle.ts'

type OutputOf<Step> = Step extends FlowStep<infer Output> ? Output : unknown

export interface FlowResult<Steps extends FlowSteps = FlowSteps> {
  /** Every step succeeded. */
  readonly ok: boolean
  readonly steps: { readonly [Name in keyof Steps]: RunResult<OutputOf<Steps[Name]>> }
  /** Of all steps, US dollars. */
  readonly cost: number
}

export interface FlowHandle<Steps extends FlowSteps = FlowSteps> {
  /** That of its first step's run. */
  readonly id: string
  /** False when the key's flow existed already. */
  readonly created: boolean
  readonly steps: { readonly [Name in keyof Steps]: RunHandle<OutputOf<Steps[Name]>> }
  /** Waits for the end of every step. A step that waits for an operator is waited for too: give it a time limit. */
  result(options?: { readonly timeoutMs?: Duration }): Promise<FlowResult<Steps>>
}

export function flowHandle<Steps extends FlowSteps>(
  store: Store,
  clock: Clock,
  made: Exclude<CreatedFlow['flow'], 'conflict'>,
): FlowHandle<Steps> {
  const handles = made.steps.map(({ step, run }) => [step, runHandle(store, clock, run, made.created)] as const)
  return {
    id: made.id,
    created: made.created,
    steps: Object.fromEntries(handles) as unknown as FlowHandle<Steps>['steps'],
    async result({ timeoutMs } = {}) {
      const limitMs = timeoutMs === undefined ? undefined : parseDuration(timeoutMs, 'timeoutMs')
      const endsAt = clock.monotonic() + (limitMs ?? 0)
      const results: [string, RunResult<unknown>][] = []
      for (const [step, handle] of handles) {
        const left = limitMs === undefined ? {} : { timeoutMs: Math.max(0, endsAt - clock.monotonic()) }
        results.push([step, await inTime(step, handle.result(left))])
      }
      return {
        ok: results.every(([, { ok }]) => ok),
        steps: Object.fromEntries(results) as unknown as FlowResult<Steps>['steps'],
        cost: results.reduce((sum, [, { cost }]) => sum + cost, 0),
      }
    },
  }
}

/** The step is named, because a flow has many. */
async function inTime<Result>(step: string, result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== 'result.timeout') throw error
    throw new RepriseError(error.code, `Step ${step}: ${error.message}`, { cause: error })
  }
}
