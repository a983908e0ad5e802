/**
 * Submitting: checks what the user gave, in words that name the field and what is allowed, and makes it a new run.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { NewRun } from '../ports/store.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { concurrencyOf } from './concurrency.ts'
import { hashOf, toJson } from './json.ts'
import { strangeField } from './strange-field.ts'
import { type Checked, checkName, type Task, validate, validateAtOnce } from './task.ts'

export interface SubmitOptions {
  /** Submitting twice with one key and the same input gives the same run. */
  readonly key?: string
  /**
   * What to do when the key's run has failed or was cancelled: give it back as it is, or start it again at once as the next generation, with
   * the deadline of this submit and all else as it was.
   */
  readonly onExisting?: 'return' | 'retry'
  /** Smaller goes first; 0 by default. */
  readonly priority?: number
  /** Not before then: epoch milliseconds, a Date, or a duration from now. */
  readonly at?: number | Date | string
  /** A label that workers may choose by. */
  readonly category?: string
  /** It must be over by then; later it ends as failed. */
  readonly deadline?: number | Date | string
  /** Its takes may cost this much in all, US dollars. */
  readonly maxCost?: number
  /** Of the runs of its task with this key no more are out at a time than the task's `concurrency.perKey` says, 1 by default. */
  readonly concurrencyKey?: string
}

/** A transaction of the application's on the store's own database: the run is there exactly if it commits. */
export interface InTransaction {
  /** For SQLite: a better-sqlite3 `Database`, or a `DatabaseSync` of node:sqlite, with a transaction open. */
  readonly tx: object
}

/** All that a submit may say. */
const FIELDS: readonly string[] = Object.keys({
  key: true,
  onExisting: true,
  priority: true,
  at: true,
  category: true,
  deadline: true,
  maxCost: true,
  concurrencyKey: true,
} satisfies Record<keyof SubmitOptions, true>)

const PRIORITY_MAX = 1_000
const KEY_MAX = 255
/** One transaction's worth; a larger import is several. */
const SUBMIT_MANY_MAX = 10_000

export async function newRun(task: Task, input: unknown, options: SubmitOptions, now: number): Promise<NewRun> {
  return checkedRun(task, input, await validate(task.input, input), options, now)
}

/** The same before it returns: inside a transaction there is no waiting. */
export function newRunAtOnce(task: Task, input: unknown, options: SubmitOptions, now: number): NewRun {
  const checked = validateAtOnce(task.input, input)
  if (checked !== 'later') return checkedRun(task, input, checked, options, now)
  throw new RepriseError(
    'submit.tx_schema',
    `The input of ${task.name} has a schema that answers later, and a transaction cannot wait for it. Check the input before, and give the task a schema that answers at once. Nothing was submitted.`,
  )
}

function checkedRun(task: Task, input: unknown, checked: Checked, options: SubmitOptions, now: number): NewRun {
  const { key, priority = 0, category, maxCost, onExisting } = options
  if ('issues' in checked) refuse('input', `${task.name} input`, checked.issues, 'what its schema says')
  const strange = strangeField(options, FIELDS)
  if (strange !== undefined) refuse('option', `${strange} of ${task.name}`, 'no option of a run', FIELDS.join(', '))
  const text = toJson(input, `input of ${task.name}`) ?? 'null'
  checkKey(key, onExisting)
  if (!Number.isInteger(priority) || Math.abs(priority) > PRIORITY_MAX) {
    refuse('priority', 'priority', priority, `a whole number from -${PRIORITY_MAX} to ${PRIORITY_MAX}, smaller first`)
  }
  if (category !== undefined) checkName('category', category)
  if (maxCost !== undefined && !(typeof maxCost === 'number' && maxCost >= 0 && Number.isFinite(maxCost))) {
    refuse('maxCost', 'maxCost', maxCost, 'US dollars, 0 or more')
  }
  const concurrency = concurrencyOf(task.name, task.concurrency, checked.value, options.concurrencyKey)
  const dueAt = instant('at', options.at, now)
  const deadlineAt = instant('deadline', options.deadline, now)
  return {
    task: task.name,
    input: text,
    priority,
    ...(task.resource === undefined ? {} : { resource: task.resource }),
    ...(category === undefined ? {} : { category }),
    // Of the text as stored, so that what JSON cannot tell apart does not count as different.
    ...(key === undefined ? {} : { key, fingerprint: hashOf(JSON.parse(text)) }),
    ...(onExisting === undefined ? {} : { onExisting }),
    ...(dueAt === undefined || dueAt <= now ? {} : { dueAt }),
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(concurrency === undefined ? {} : { concurrency }),
  }
}

export function checkKey(key: unknown, onExisting: unknown): void {
  if (key !== undefined && (typeof key !== 'string' || key.length === 0 || key.length > KEY_MAX)) {
    refuse('key', 'key', key, `text of 1 to ${KEY_MAX} characters`)
  }
  if (onExisting !== undefined && onExisting !== 'return' && onExisting !== 'retry') {
    refuse('onExisting', 'onExisting', onExisting, '"return", "retry"')
  }
}

export function checkBatch(items: readonly unknown[]): void {
  if (items.length > SUBMIT_MANY_MAX)
    refuse('items', 'submitMany', `${items.length} items`, `${SUBMIT_MANY_MAX} at most`)
}

function instant(field: string, value: number | Date | Duration | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return now + parseDuration(value, field)
  const at = value instanceof Date ? value.getTime() : value
  if (!Number.isSafeInteger(at) || at < 0)
    refuse('instant', field, at, 'epoch milliseconds, a Date, or a duration such as "10m"')
  return at
}

function refuse(code: string, field: string, value: unknown, allowed: string): never {
  const shown = typeof value === 'string' ? value.slice(0, 200) : JSON.stringify(value)
  throw new RepriseError(`submit.${code}`, `${field} is ${shown}. Allowed: ${allowed}. Nothing was submitted.`)
}
