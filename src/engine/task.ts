/**
 * A task: the name, shapes and policy of a kind of work, importable by submitters without its handler.
 * Checked once, when it is defined.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { RepriseError } from '../failure/reprise-error.ts'
import type { PolicyInput } from '../policy/complete-policy.ts'
import { definePolicy } from '../policy/define-policy.ts'
import type { Policy } from '../policy/policy.ts'
import { type PresetName, presets } from '../policy/presets.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { checkConcurrency, type TaskConcurrency } from './concurrency.ts'
import { hashOf } from './json.ts'

/** Names travel in urls, file paths and metric labels. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export interface TaskOptions<Input, Output> {
  readonly input?: StandardSchemaV1<unknown, Input>
  readonly output?: StandardSchemaV1<unknown, Output>
  /** A preset's name, a policy, or the fields that differ from the default. */
  readonly policy?: Policy | PolicyInput | PresetName
  /** What its calls need, first the one that its next call needs: the run's lane. */
  readonly resources?: readonly string[]
  /** One execution may last this long. */
  readonly timeout?: Duration
  /** Runs that share a key are not out together: `{ key: ({ customer }) => customer, perKey: 1 }`. */
  readonly concurrency?: TaskConcurrency<Input>
}

export interface Task<Input = unknown, Output = unknown> {
  readonly name: string
  readonly input?: StandardSchemaV1<unknown, Input>
  readonly output?: StandardSchemaV1<unknown, Output>
  readonly policy: Policy
  /** Of the policy's content: history names it, so that old decisions are computed with the policy of their day. */
  readonly policyHash: string
  readonly resource?: string
  readonly timeoutMs?: number
  readonly concurrency?: TaskConcurrency
}

export function defineTask<Input = unknown, Output = unknown>(
  options: TaskOptions<Input, Output> & { readonly name: string },
): Task<Input, Output> {
  const { name, input, output, resources, concurrency } = options
  checkName('task name', name)
  if (concurrency !== undefined) checkConcurrency(name, concurrency)
  for (const [index, resource] of (resources ?? []).entries()) checkResource(`resources[${index}]`, resource)
  const policy = policyOf(options.policy)
  const [resource] = resources ?? []
  return Object.freeze({
    name,
    policy,
    policyHash: hashOf(policy),
    ...(input ? { input } : {}),
    ...(output ? { output } : {}),
    ...(resource === undefined ? {} : { resource }),
    ...(options.timeout === undefined ? {} : { timeoutMs: parseDuration(options.timeout) }),
    // A task is handed about without the type of its input; its function is only ever called with what the input was checked to be.
    ...(concurrency ? { concurrency: concurrency as TaskConcurrency } : {}),
  })
}

/** The task with another policy, or with some of its fields changed. */
export function withPolicy(task: Task, given: PolicyInput | PresetName): Task {
  const policy = policyOf(given, task.policy)
  return Object.freeze({ ...task, policy, policyHash: hashOf(policy) })
}

function policyOf(given: TaskOptions<unknown, unknown>['policy'], base: Policy = presets.daemon): Policy {
  if (given === undefined) return base
  if (typeof given !== 'string') return definePolicy(given, base)
  if (Object.hasOwn(presets, given)) return presets[given]
  throw new RepriseError(
    'task.policy',
    `policy is "${given}". Allowed: ${Object.keys(presets).join(', ')}, or a policy.`,
  )
}

export function checkName(field: string, value: unknown): asserts value is string {
  if (typeof value === 'string' && NAME.test(value)) return
  throw new RepriseError(
    'name.invalid',
    `${field} is ${JSON.stringify(value)}. Allowed: 1 to 128 letters, digits, ".", "_" or "-", beginning with a letter or digit.`,
  )
}

export function checkResource(field: string, value: unknown): void {
  if (typeof value === 'string' && /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$/.test(value)) return
  throw new RepriseError('name.invalid', `${field} is ${JSON.stringify(value)}. Allowed: a name like "gemini:flash".`)
}

export type Checked<Value = unknown> = { readonly value: Value } | { readonly issues: string }

/** The value as its schema gives it back, or the issues as one sentence with paths and without values. */
export async function validate<Value>(
  schema: StandardSchemaV1<unknown, Value> | undefined,
  value: unknown,
): Promise<Checked<Value>> {
  if (!schema) return { value: value as Value }
  return checkedBy(await schema['~standard'].validate(value))
}

/** The same for those who cannot wait. */
export function validateAtOnce<Value>(
  schema: StandardSchemaV1<unknown, Value> | undefined,
  value: unknown,
): Checked<Value> | 'later' {
  if (!schema) return { value: value as Value }
  const result = schema['~standard'].validate(value)
  if (!(result instanceof Promise)) return checkedBy(result)
  // Nobody waits for it any more, so it must not fail unheard.
  result.catch(() => {})
  return 'later'
}

function checkedBy<Value>(result: StandardSchemaV1.Result<Value>): Checked<Value> {
  if (!result.issues) return { value: result.value }
  const told = result.issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => `${pathOf(issue.path)}: ${issue.message}`)
  const more = result.issues.length - told.length
  return { issues: told.join('; ') + (more > 0 ? `; and ${more} more` : '') }
}

/** A wrong document can break a rule per line; the first few tell the story. */
const ISSUES_SHOWN_MAX = 8

const pathOf = (path: StandardSchemaV1.Issue['path']) =>
  `/${(path ?? []).map((part) => String(typeof part === 'object' ? part.key : part)).join('/')}`
