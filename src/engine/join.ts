/**
 * Dynamic fan-out: children that begin with the parent's suspension and whose results it gets, in order, when it runs again.
 * What came of them is journalled, so that a later attempt sees the same, whatever operators do to the children meanwhile.
 */
import type { Failure } from '../failure/failure.ts'
import { failure } from '../failure/own.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { NeedLink } from '../ports/store.ts'
import { CHILDREN_MAX } from '../run/need.ts'
import { isTerminal } from '../run/run.ts'
import { type Execution, journalKey } from './execution.ts'
import { fromJson } from './json.ts'
import { endedWithout } from './run-handle.ts'
import { newRun, type SubmitOptions } from './submit.ts'
import type { Task } from './task.ts'

/** A child is known by its place in the join, so it has no key. */
export type ChildOptions = Omit<SubmitOptions, 'key' | 'onExisting'>

export type JoinChild<Output = unknown> = readonly [task: Task<unknown, Output>, input: unknown, options?: ChildOptions]

export interface JoinOptions {
  /** When a child fails or is cancelled: the join throws (default), or `collect`s what came of each. */
  readonly onFailure?: 'fail' | 'collect'
}

export type ChildResult<Output> =
  | { readonly ok: true; readonly value: Output }
  | { readonly ok: false; readonly failure: Failure }

/** Joins share the journal with calls; no call's input hashes to this. */
export const JOIN_HASH = 'join'

/** A child that an operator has begun again just as its parent woke up is looked for again after this long. */
const LOOK_AGAIN_MS = 1_000

export async function journalledJoin<Output>(
  execution: Execution,
  name: string,
  children: readonly JoinChild<Output>[],
  options: JoinOptions,
): Promise<readonly Output[] | readonly ChildResult<Output>[]> {
  execution.check()
  execution.takeName(name)
  const { onFailure = 'fail' } = options
  check(name, children, onFailure)
  if (children.length === 0) return []
  const stored = (await execution.journal()).get(journalKey(name, JOIN_HASH))
  if (!stored) throw await begin(execution, name, children)
  const results = (
    stored.answer === undefined ? await collect(execution, name) : fromJson(stored.answer)
  ) as readonly ChildResult<Output>[]
  return onFailure === 'collect' ? results : results.map((result, index) => valueIn(name, result, index))
}

function check(name: string, children: readonly JoinChild[], onFailure: unknown): void {
  if (!Array.isArray(children) || children.length > CHILDREN_MAX) {
    const found = Array.isArray(children) ? `${children.length} children` : typeof children
    throw new RepriseError(
      'join.children',
      `join "${name}" has ${found}. Allowed: up to ${CHILDREN_MAX} [task, input]; more are several joins.`,
    )
  }
  if (onFailure !== 'fail' && onFailure !== 'collect') {
    throw new RepriseError(
      'join.on_failure',
      `onFailure of join "${name}" is ${JSON.stringify(onFailure)}. Allowed: "fail", "collect".`,
    )
  }
}

/** An idempotency key that nobody looks at would be worse than none. */
function checkChild(name: string, index: number, { key, onExisting }: SubmitOptions): void {
  if (key === undefined && onExisting === undefined) return
  throw new RepriseError(
    'join.child_key',
    `child ${index + 1} of join "${name}" has ${key === undefined ? 'onExisting' : 'a key'}. Allowed: none, because a child is known by its place in the join.`,
  )
}

/** Suspends the attempt; the children begin in the commit that ends it. */
async function begin(execution: Execution, name: string, children: readonly JoinChild[]): Promise<Error> {
  const now = execution.parts.time.now()
  const runs = await Promise.all(
    children.map(([task, input, options = {}], index) => {
      checkChild(name, index, options)
      return newRun(task, input, options, now)
    }),
  )
  return execution.suspend({ type: 'join', name, children: runs }, `waits for ${runs.length} children`)
}

/** What came of the children, kept so that it stays the same for every later attempt. */
async function collect(execution: Execution, name: string): Promise<readonly ChildResult<unknown>[]> {
  const { run, parts } = execution
  const { needs } = await parts.door.links(run.id)
  const children = needs
    .filter(({ join }) => join?.name === name && join.generation === run.generation)
    .sort((a, b) => (a.join?.index ?? 0) - (b.join?.index ?? 0))
  const open = children.find(({ state }) => !isTerminal(state))
  if (open) {
    const reason = `child ${open.run} of ${name} was begun again`
    throw execution.suspend({ type: 'later', delayMs: LOOK_AGAIN_MS, reason }, reason)
  }
  const results = children.map(resultOf)
  await execution.write({ type: 'answer', name, inputHash: JOIN_HASH, answer: JSON.stringify(results) })
  return results
}

function resultOf(child: NeedLink): ChildResult<unknown> {
  if (child.state !== 'succeeded') return { ok: false, failure: child.failure ?? endedWithout(child) }
  return { ok: true, value: child.output === undefined ? undefined : fromJson(child.output) }
}

function valueIn<Output>(name: string, result: ChildResult<Output>, index: number): Output {
  if (result.ok) return result.value
  const { code, message } = result.failure
  // The children are not begun again within a generation, so neither is an attempt that would meet the same result.
  throw failure({
    kind: 'final',
    code: 'join.child_failed',
    message: `child ${index + 1} of ${name} failed (${code}): ${message}`,
  })
}
