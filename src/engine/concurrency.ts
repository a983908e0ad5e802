/**
 * Concurrency keys as users write them: a text or a function of the input, and how many runs of a key may be out at a time.
 * Checked when the task is defined and when a run is submitted; who waits for whom is the store's affair.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { ConcurrencyKey } from '../run/run.ts'
import { isObject, strangeField } from './strange-field.ts'

export interface TaskConcurrency<Input = unknown> {
  /** What runs have in common that must not run together: one text for all, or one from each input. `undefined`: not limited. */
  readonly key?: string | ((input: Input) => string | undefined)
  /** Runs of one key at a time, over all workers; 1 by default. Kept with each run at its submit. */
  readonly perKey?: number
}

const KEY_MAX = 255
const PER_KEY_MAX = 10_000

export function checkConcurrency(task: string, given: TaskConcurrency<never>): void {
  const strange = isObject(given) ? strangeField(given, ['key', 'perKey']) : 'concurrency'
  if (strange !== undefined) {
    const found = isObject(given)
      ? `concurrency of ${task} has ${strange}`
      : `concurrency of ${task} is ${typeof given}`
    throw new RepriseError('task.concurrency', `${found}. Allowed: { key, perKey }.`)
  }
  const { key, perKey = 1 } = given
  if (!Number.isInteger(perKey) || perKey < 1 || perKey > PER_KEY_MAX)
    throw new RepriseError(
      'task.concurrency',
      `concurrency.perKey of ${task} is ${perKey}. Allowed: a whole number from 1 to ${PER_KEY_MAX}.`,
    )
  if (key === undefined || typeof key === 'function' || isKey(key)) return
  throw new RepriseError(
    'task.concurrency',
    `concurrency.key of ${task} is ${JSON.stringify(key)}. Allowed: text of 1 to ${KEY_MAX} characters, or a function of the input.`,
  )
}

/** The key of one run: what the submit says goes before what the task says. */
export function concurrencyOf(
  task: string,
  declared: TaskConcurrency | undefined,
  input: unknown,
  given: string | undefined,
): ConcurrencyKey | undefined {
  const own = typeof declared?.key === 'function' ? declared.key(input) : declared?.key
  const key = given ?? own
  if (key === undefined) return undefined
  if (isKey(key)) return { key, max: declared?.perKey ?? 1 }
  throw new RepriseError(
    'submit.concurrency_key',
    `concurrencyKey of ${task} is ${JSON.stringify(key)?.slice(0, 300)}. Allowed: text of 1 to ${KEY_MAX} characters. Nothing was submitted.`,
  )
}

const isKey = (key: unknown): key is string => typeof key === 'string' && key.length > 0 && key.length <= KEY_MAX
