/**
 * Flows: steps with needs between them, checked as a whole before anything is submitted.
 * It makes the store's flow from the user's; what ends and unblocks steps is the store's affair.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { NewFlow, NewStep } from '../ports/store.ts'
import { NEED_POLICIES, type NeedPolicy, STEPS_MAX } from '../run/need.ts'
import { hashOf } from './json.ts'
import { isObject, strangeField } from './strange-field.ts'
import { checkKey, newRun, type SubmitOptions } from './submit.ts'
import { checkName, type Task } from './task.ts'

export interface StepOptions
  extends Pick<SubmitOptions, 'priority' | 'category' | 'deadline' | 'maxCost' | 'concurrencyKey'> {
  /** Names of the steps that must have succeeded before this one begins; their outputs are in `ctx.needs`. */
  readonly needs?: readonly string[]
  /** When one of them fails or is cancelled: `fail` with it (default), `skip` this step, or `wait` until an operator retries it. */
  readonly onNeedFailed?: NeedPolicy
}

export type FlowStep<Output = unknown> = readonly [task: Task<unknown, Output>, input: unknown, options?: StepOptions]

export type FlowSteps = Readonly<Record<string, FlowStep>>

export interface Flow<Steps extends FlowSteps = FlowSteps> {
  readonly name: string
  readonly steps: Steps
}

/** Of the whole flow; priority, category, deadline and cost hold for each step that does not say otherwise. */
export type FlowOptions = SubmitOptions

/** Names of steps are fields of documents and parts of paths in some stores. */
const STEP_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

const STEP_FIELDS: readonly string[] = Object.keys({
  needs: true,
  onNeedFailed: true,
  priority: true,
  category: true,
  deadline: true,
  maxCost: true,
  concurrencyKey: true,
} satisfies Record<keyof StepOptions, true>)

/**
 * A set of runs with needs between them. Nothing is stored before it is submitted.
 * @example flow('report', { fetch: [fetchTask, { url }], chart: [chartTask, { kind: 'bar' }, { needs: ['fetch'] }] })
 */
export function flow<const Steps extends FlowSteps>(name: string, steps: Steps): Flow<Steps> {
  check(name, steps)
  return Object.freeze({ name, steps })
}

/** Also at submit: a flow is plain data, and need not have been made above. */
function check(name: string, steps: FlowSteps): void {
  checkName('flow name', name)
  if (!isObject(steps)) refuse('steps', name, `has ${typeof steps} for steps`, 'steps by their names')
  const names = Object.keys(steps)
  if (names.length < 1 || names.length > STEPS_MAX) {
    refuse('steps', name, `has ${names.length} steps`, `1 to ${STEPS_MAX.toLocaleString('en')}`)
  }
  for (const [step, definition] of Object.entries(steps)) checkStep(name, steps, step, definition)
  inOrder(name, steps)
}

function checkStep(flow: string, steps: FlowSteps, step: string, definition: FlowStep): void {
  if (!STEP_NAME.test(step)) {
    const allowed = '1 to 128 letters, digits, "_" or "-", beginning with a letter or digit'
    refuse('step_name', flow, `has a step ${JSON.stringify(step)}`, allowed)
  }
  const [task, , options = {}] = Array.isArray(definition) ? (definition as unknown as FlowStep) : []
  if (typeof task?.name !== 'string' || !isObject(options)) {
    const what = typeof task?.name === 'string' ? 'no options' : 'no task'
    refuse('step', flow, `has ${what} in its step ${step}`, '[task, input] or [task, input, { needs }]')
  }
  const strange = strangeField(options, STEP_FIELDS)
  if (strange !== undefined) refuse('step', flow, `has a step ${step} with ${strange}`, STEP_FIELDS.join(', '))
  const { needs = [], onNeedFailed = 'fail' } = options
  if (!Array.isArray(needs)) {
    refuse('needs', flow, `has a step ${step} whose needs are ${JSON.stringify(needs)}`, 'a list of names')
  }
  const unknown = needs.find((need) => !Object.hasOwn(steps, need))
  if (unknown !== undefined) {
    const allowed = Object.keys(steps).filter((other) => other !== step)
    refuse('needs', flow, `has a step ${step} that needs ${JSON.stringify(unknown)}`, allowed.join(', ') || 'none')
  }
  if (new Set(needs).size !== needs.length) {
    refuse('needs', flow, `has a step ${step} that names a need twice`, 'each need once')
  }
  if (!NEED_POLICIES.includes(onNeedFailed)) {
    const allowed = NEED_POLICIES.map((policy) => `"${policy}"`).join(', ')
    refuse('on_need_failed', flow, `has a step ${step} with onNeedFailed ${JSON.stringify(onNeedFailed)}`, allowed)
  }
}

/** Each step after those that it needs, otherwise as declared. */
function inOrder(flow: string, steps: FlowSteps): readonly string[] {
  const ordered = new Set<string>()
  const visit = (step: string, path: readonly string[]): void => {
    if (ordered.has(step)) return
    const way = [...path, step]
    if (path.includes(step)) {
      const circle = way.slice(way.indexOf(step)).join(' needs ')
      refuse('cycle', flow, `goes in a circle: ${circle}`, 'needs without circles')
    }
    for (const need of steps[step]?.[2]?.needs ?? []) visit(need, way)
    ordered.add(step)
  }
  for (const step of Object.keys(steps)) visit(step, [])
  return [...ordered]
}

/** The flow as a store keeps it. */
export async function newFlow({ name, steps }: Flow, options: FlowOptions, now: number): Promise<NewFlow> {
  const { key, onExisting, ...ofSteps } = options
  check(name, steps)
  checkKey(key, onExisting)
  const made = await Promise.all(
    inOrder(name, steps).map(async (step): Promise<NewStep> => {
      const [task, input, { needs = [], onNeedFailed = 'fail', ...own } = {}] = steps[step] as FlowStep
      return { ...(await newRun(task, input, { ...ofSteps, ...own }, now)), step, needs, onNeedFailed }
    }),
  )
  if (key === undefined) return { name, steps: made }
  const content = made.map(({ step, task, needs, onNeedFailed, input: text }) => [
    ...[step, task, needs, onNeedFailed],
    JSON.parse(text) as unknown,
  ])
  return { name, key, fingerprint: hashOf(content), ...(onExisting === undefined ? {} : { onExisting }), steps: made }
}

function refuse(code: string, flow: string, found: string, allowed: string): never {
  throw new RepriseError(`flow.${code}`, `Flow ${flow} ${found}. Allowed: ${allowed}.`)
}
