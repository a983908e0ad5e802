/**
 * Executes a run's handler once and tells what it came to: a value, a failure, a suspension, a person.
 * It decides nothing about what follows and writes nothing.
 */
import { type ClassifyOptions, classify } from '../failure/classify.ts'
import type { Failure } from '../failure/failure.ts'
import { failure } from '../failure/own.ts'
import { inAttempt } from '../observe/ambient.ts'
import { LAPSED_CODE } from '../policy/situation.ts'
import type { NewRun } from '../ports/store.ts'
import type { Ending } from '../run/apply.ts'
import { AmbientExecution } from './ambient-execution.ts'
import { type Context, HandlerContext } from './context.ts'
import { deadlineOf } from './deadline.ts'
import type { Execution } from './execution.ts'
import { JOIN_HASH } from './join.ts'
import { fromJson, toJson } from './json.ts'
import { SLEEP_HASH } from './sleep.ts'
import { validate } from './task.ts'
import { type Leave, leaveOf } from './throwables.ts'

/** `Verbs`: what is added to the context by whoever made it. */
export type Handler<Input = unknown, Output = unknown, Verbs = unknown> = (
  input: Input,
  ctx: Context<Input> & Verbs,
) => Output | Promise<Output>

/** `undefined` when the lease is lost: there is nothing to write, because somebody else owns the run. */
export type Performed = Ending | undefined

/** What an attempt came to. A handler that answers at once costs no promise. */
export function perform(
  execution: Execution,
  handler: Handler,
  rules: ClassifyOptions['rules'],
): Performed | Promise<Performed> {
  const { task, run } = execution
  try {
    const ending = beforeStart(execution)
    if (ending) return ending
    if (task.input || task.output || run.needs)
      return attemptedWithChecks(execution, handler).catch((thrown) => thrownBy(execution, thrown, rules))
    const value = call(execution, handler, fromJson(run.input), NO_NEEDS)
    if (!isThenable(value)) return concluded(execution, value, rules)
    return Promise.resolve(value).then(
      (told) => concluded(execution, told, rules),
      (thrown) => thrownBy(execution, thrown, rules),
    )
  } catch (thrown) {
    return thrownBy(execution, thrown, rules)
  }
}

/** What it came to by the value that its handler gave. */
function concluded(
  execution: Execution,
  value: unknown,
  rules: ClassifyOptions['rules'],
): Performed | Promise<Performed> {
  try {
    const ending = ended(execution, value)
    return ending instanceof Promise ? ending.catch((thrown) => thrownBy(execution, thrown, rules)) : ending
  } catch (thrown) {
    return thrownBy(execution, thrown, rules)
  }
}

async function attemptedWithChecks(execution: Execution, handler: Handler): Promise<Performed> {
  const { task, run } = execution
  const input = await validate(task.input, fromJson(run.input))
  if ('issues' in input)
    return failed(
      execution,
      ours('final', 'input.invalid', `input of ${task.name} is not as declared: ${input.issues}`),
    )
  const needs = run.needs ? await needsOf(execution) : NO_NEEDS
  const value = await call(execution, handler, input.value, needs)
  if (isUnfinished(execution)) return swallowed(execution)
  const output = await validate(task.output, value)
  if ('issues' in output)
    return failed(
      execution,
      ours('semantic', 'output.invalid', `output of ${task.name} is not as declared: ${output.issues}`),
    )
  return ended(execution, output.value)
}

function call(
  execution: Execution,
  handler: Handler,
  input: unknown,
  needs: Readonly<Record<string, unknown>>,
): unknown {
  const { contextOf, tracing } = execution.parts
  const ctx = contextOf ? contextOf(execution, input, needs) : new HandlerContext(execution, input, needs)
  // Spans that the handler makes become children of its attempt's.
  const body = tracing
    ? () => tracing.withAttemptSpan(execution.ref, () => handler(input, ctx))
    : () => handler(input, ctx)
  return inAttempt(() => new AmbientExecution(execution), body)
}

function ended(execution: Execution, value: unknown): Performed | Promise<Performed> {
  if (isUnfinished(execution)) return swallowed(execution)
  const output = toJson(value, `output of ${execution.task.name}`)
  if (execution.submitted) return withChildren(output, execution.submitted)
  return output === undefined ? DONE : { type: 'value', output }
}

const DONE: Ending = { type: 'value' }

async function withChildren(output: string | undefined, submitted: readonly Promise<NewRun>[]): Promise<Ending> {
  const children = await Promise.all(submitted)
  return { type: 'value', ...(output === undefined ? {} : { output }), children }
}

const isThenable = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'

const NO_NEEDS: Readonly<Record<string, unknown>> = Object.freeze({})

/** The outputs of the steps that this one needs, by their names. */
async function needsOf({ run, parts }: Execution): Promise<Readonly<Record<string, unknown>>> {
  const { needs } = await parts.door.links(run.id)
  const outputs = needs.flatMap(({ step, output }) =>
    step === undefined ? [] : [[step, output === undefined ? undefined : fromJson(output)]],
  )
  return Object.freeze(Object.fromEntries(outputs))
}

/** What ends a run before its handler is called: crashes spent, or no time left. */
function beforeStart(execution: Execution): Performed {
  const { run, task, parts } = execution
  execution.startedAt = parts.time.now()
  if (run.lapsed) {
    const { worker, counted } = run.lapsed
    const { lapses } = run.ledgers
    const { lapsesMax } = task.policy
    execution.emit('run.lapsed', {
      attempt: run.attempt - 1,
      worker,
      claimedBy: parts.worker,
      counted,
      lapses,
      lapsesMax,
    })
    // Also when the worker that should have decided vanished with others: the count was full before.
    const asked = run.failure?.code === LAPSED_CODE
    if ((counted || !asked) && lapsesMax > 0 && lapses >= lapsesMax) {
      return failed(execution, ours('interrupted', LAPSED_CODE, `its worker vanished ${lapses} times while it ran`))
    }
  }
  if (run.deadlineAt !== undefined && run.deadlineAt <= execution.startedAt) {
    return failed(execution, ours('exhausted', 'deadline.passed', 'the deadline passed before it could start'))
  }
  for (const what of run.probes ?? []) {
    parts.emitter.emit({ name: 'hold.probe', at: execution.startedAt, what, first: run.id, worker: parts.worker })
  }
  const { errors } = run.ledgers
  execution.emit('attempt.started', { token: execution.token, retry: errors, retriesMax: task.policy.maxAttempts - 1 })
  return undefined
}

function thrownBy(execution: Execution, thrown: unknown, rules: ClassifyOptions['rules']): Performed {
  if (execution.left) return leaving(execution, execution.left)
  const reason = leaveOf(thrown) ?? execution.suspendedOn
  if (reason) return leaving(execution, reason)
  const options = rules === undefined ? {} : { rules }
  const { failedOn, overBudget } = execution
  if (overBudget?.leave && (thrown === overBudget.thrown || causeOf(thrown) === overBudget.thrown))
    return leaving(execution, overBudget.leave)
  const isOfCall = failedOn !== undefined && (thrown === failedOn.thrown || causeOf(thrown) === failedOn.thrown)
  const ending = failed(execution, classify(thrown, { now: execution.parts.time.now(), ...options }))
  return isOfCall ? { ...ending, resource: failedOn.resource } : ending
}

const causeOf = (thrown: unknown): unknown => (thrown instanceof Error ? thrown.cause : undefined)

/** Told to leave or to suspend, and it answered all the same. */
const isUnfinished = ({ left, suspendedOn }: Execution): boolean => left !== undefined || suspendedOn !== undefined

/** A handler that catches what `ctx` throws to suspend, and returns a value, is still not done. */
function swallowed(execution: Execution): Performed {
  if (execution.left) return leaving(execution, execution.left)
  const reason = execution.suspendedOn as Leave
  execution.emit('suspension.swallowed', { on: 'name' in reason ? reason.name : reason.type })
  return leaving(execution, reason)
}

export function leaving(execution: Execution, reason: Leave): Performed {
  const now = execution.parts.time.now()
  switch (reason.type) {
    case 'lost':
      return undefined
    case 'stopped':
      return failed(execution, reason.failure)
    case 'later': {
      const until = Math.max(now, reason.at ?? now + (reason.delayMs ?? 0))
      const told = reason.reason === undefined ? {} : { reason: reason.reason }
      return { type: 'suspend', dueAt: until, why: { code: 'run.later', params: { until, ...told } } }
    }
    case 'person': {
      const { queue, withinMs, asked } = reason
      const until = withinMs === undefined ? undefined : now + withinMs
      const params = { queue, reason: reason.reason, ...(until === undefined ? {} : { until }) }
      return {
        type: 'person',
        why: { code: 'run.handed_over', params },
        ...(until === undefined ? {} : { dueAt: until }),
        ...(asked ? { journal: { ...asked, token: execution.token, takes: 1, intentAt: now } } : {}),
      }
    }
    case 'budget': {
      const { at, why } = reason
      return why.params.next === 'wait' ? { type: 'suspend', dueAt: at, why } : { type: 'person', why }
    }
    case 'join': {
      const { name, children } = reason
      const entry = { name, inputHash: JOIN_HASH, token: execution.token, takes: 1, intentAt: now }
      return { type: 'join', join: { name, children }, journal: entry }
    }
    case 'sleep': {
      const { name, until } = reason
      const entry = {
        name,
        inputHash: SLEEP_HASH,
        token: execution.token,
        takes: 1,
        intentAt: now,
        answer: String(until),
        answeredAt: now,
      }
      return { type: 'suspend', dueAt: until, why: { code: 'run.sleeping', params: { name, until } }, journal: entry }
    }
  }
}

function failed(execution: Execution, cause: Failure): Extract<Ending, { type: 'failure' }> {
  const { task, parts } = execution
  return { type: 'failure', failure: cause, dice: parts.dice(), policy: task.policy, policyHash: task.policyHash }
}

const ours = (kind: Failure['kind'], code: string, message: string): Failure => failure({ kind, code, message }).failure

/** Why an attempt's time is up: the run's own deadline, the attempt's limit, or the end of the process. */
export function timeUp(execution: Execution): Failure {
  const { run, parts } = execution
  const deadline = deadlineOf(execution)
  if (deadline === run.deadlineAt) return ours('exhausted', 'deadline.passed', 'the deadline passed while it ran')
  if (deadline === parts.endsAt) return ours('interrupted', 'worker.ends', 'the process ends')
  return ours('transient', 'attempt.timeout', `no end within ${(deadline ?? 0) - execution.startedAt} ms`)
}

/** A worker that stops gives its runs back. */
export const workerStops = (): Failure => ours('interrupted', 'worker.stop', 'the worker was told to stop')
