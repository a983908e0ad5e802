/**
 * A handler that plays a script, and keeps its own log of when it began and how it ended.
 * What it does depends on the script and the number of the attempt, never on the process it runs in.
 */
import type { Context } from '../../engine/context.ts'
import { later, leaveOf, never, toPerson } from '../../engine/throwables.ts'
import { failure } from '../../failure/own.ts'
import type { ChildrenLine } from './history.ts'
import { callInput, httpError, send } from './provider.ts'
import type { Recorder } from './recorder.ts'
import type { Outcome, Script, Step } from './script.ts'
import { spendOf } from './sim-budgets.ts'
import type { SimProcess } from './sim-process.ts'
import { SIM_TASKS, type SimInput } from './sim-tasks.ts'

/** One execution of a script, as the harness knows it. */
export interface Execution {
  readonly process: SimProcess
  readonly script: Script
  readonly run: string
  readonly generation: number
  readonly attempt: number
  readonly token: number
  /** Whether what it needs fails for everybody at present. */
  readonly isDown: () => boolean
}

/** Shaped as a key, so that it must be masked wherever it turns up. */
export const CANARY = 'sk-canary0a1b2c3d4e5f60718293'

export async function play(recorder: Recorder, execution: Execution, ctx: Context<SimInput>): Promise<unknown> {
  const { process, script, attempt } = execution
  // A neighbour killed the process in this very instant: what is left of its turn was never executed.
  if (!process.alive) return new Promise(() => {})
  const told = { log: 'handler', process: process.name, ...placeOf(execution) } as const
  let suspended = false
  const given = Object.keys(ctx.needs).length === 0 ? {} : { needs: JSON.stringify(ctx.needs) }
  recorder.note({ ...told, does: 'begin', ...given })
  const over = (does: 'return' | 'throw', value?: unknown) => {
    const text = JSON.stringify(value)
    const extra = { ...(suspended ? { suspended } : {}), ...(text === undefined ? {} : { value: text }) }
    if (process.alive) recorder.note({ ...told, does, ...extra })
  }
  try {
    if (execution.isDown()) throw httpError(503, 'Service Unavailable')
    for (const step of script.steps) await playStep(recorder, execution, step, ctx)
    const outcome = script.outcomes[Math.min(attempt, script.outcomes.length) - 1] as Outcome
    const value = await come(execution, outcome, ctx, recorder)
    over('return', value)
    return value
  } catch (thrown) {
    const leave = leaveOf(thrown)
    const byContext = leave?.type === 'person' || leave?.type === 'later'
    suspended = leave?.type === 'sleep' || leave?.type === 'join' || (byContext && !ownWord.has(thrown as Error))
    if (script.swallows && suspended) {
      const value = { swallowed: attempt }
      over('return', value)
      return value
    }
    over('throw')
    throw thrown
  }
}

const placeOf = ({ run, generation, attempt, token }: Execution) => ({ run, generation, attempt, token })

/** What the script itself threw: not a suspension by the context. */
const ownWord = new WeakSet<Error>()

function said(error: Error): Error {
  ownWord.add(error)
  return error
}

async function playStep(recorder: Recorder, execution: Execution, step: Step, ctx: Context<SimInput>): Promise<void> {
  const { process } = execution
  switch (step.does) {
    case 'call':
      await ctx.call(step.name, (scope) => send(recorder, execution, step, scope), {
        input: callInput(execution, step),
        ...(step.timeoutMs === undefined ? {} : { timeout: step.timeoutMs }),
        ...(step.ambiguous ? { ambiguous: step.ambiguous } : {}),
        ...spendOf(execution.script.item),
      })
      return
    case 'sleep':
      return ctx.sleep(step.name, step.ms)
    case 'busy':
      return process.clock.sleep(step.ms, ...(step.listens ? [ctx.signal] : []))
    case 'artifact':
      await ctx.artifact(step.name, `made by attempt ${execution.attempt}`, {
        input: step.clashes ? execution.attempt : 'same',
      })
      return
    case 'progress':
      return ctx.progress(1, 2, 'half')
    case 'join':
      return playJoin(recorder, execution, step, ctx)
    case 'submit':
      await ctx.submit(SIM_TASKS.part, { item: execution.script.item, child: 'told' })
      return noteChildren(recorder, execution)
  }
}

async function playJoin(
  recorder: Recorder,
  execution: Execution,
  { name, onFailure, children }: Extract<Step, { does: 'join' }>,
  ctx: Context<SimInput>,
): Promise<void> {
  const { item } = execution.script
  const begun = children.map((_, child) => [SIM_TASKS.part, { item, child }] as const)
  const joined = onFailure === 'fail' ? ctx.join(name, begun) : ctx.join(name, begun, { onFailure: 'collect' })
  noteChildren(recorder, execution, { name, onFailure, results: JSON.stringify(await joined) })
}

function noteChildren(recorder: Recorder, execution: Execution, joined?: ChildrenLine['joined']): void {
  const { process, run, generation, token } = execution
  if (!process.alive) return
  recorder.note({ log: 'children', process: process.name, run, generation, token, ...(joined ? { joined } : {}) })
}

async function come(
  execution: Execution,
  outcome: Outcome,
  ctx: Context<SimInput>,
  recorder: Recorder,
): Promise<unknown> {
  const { process, attempt, token, script } = execution
  switch (outcome) {
    case 'value':
      return { item: script.item, attempt, token }
    case 'nothing':
      return undefined
    case 'unavailable':
      throw httpError(503, 'Service Unavailable')
    case 'limited':
      throw httpError(429, 'Too Many Requests')
    case 'limitedTold':
      throw httpError(429, 'Too Many Requests', { 'retry-after': '3' })
    case 'unknown':
      throw new Error('something odd')
    case 'wrong':
      throw failure({ kind: 'semantic', code: 'gate.total', message: `wrong at attempt ${Math.ceil(attempt / 2)}` })
    case 'final':
      throw never('cannot be done')
    case 'refused':
      throw failure({ kind: 'refused', code: 'filter.safety' })
    case 'conflict':
      throw failure({ kind: 'conflict', code: 'step.taken' })
    case 'later':
      throw said(later('4s', 'not ready'))
    case 'person':
      throw said(toPerson('a person must look'))
    case 'personWithin':
      throw said(toPerson('a person must look soon', { within: '15s' }))
    case 'crash':
      recorder.note({ log: 'fault', process: process.name, fault: 'poison' })
      process.crash()
      return new Promise(() => {})
    case 'hang':
      return new Promise(() => {})
    case 'secret':
      ctx.log.warn(`refused with Authorization: Bearer ${CANARY}`, { apiKey: CANARY })
      throw httpError(503, `Authorization: Bearer ${CANARY} was not taken`)
  }
}
