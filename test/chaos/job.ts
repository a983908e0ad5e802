/**
 * The work of the chaos suite: one task whose handler does everything that must survive, as its input says.
 * Shared by whoever submits it and by the processes that execute it; the seed alone decides what a job is like.
 */
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../../src/engine/context.ts'
import { defineTask, type Task } from '../../src/engine/task.ts'
import { failure } from '../../src/failure/own.ts'
import { definePolicy } from '../../src/policy/define-policy.ts'
import type { Dice } from '../../src/time/dice.ts'
import type { SyncedLog } from './line-log.ts'

export interface Job {
  readonly n: number
  /** How long the provider takes from the arrival of a send to its answer. */
  readonly answerMs: number
  /** What the handler does after it has its answer. */
  readonly workMs: number
  /** Works for a minute, the first time it comes there. */
  readonly slowOnce?: boolean
  /** Goes wrong once, the first time it comes there: the handler throws, or the provider answers 503. */
  readonly fails?: 'handler' | 'provider'
  readonly artifact?: boolean
  /** Takes its process along, or blocks it for ever. */
  readonly poison?: Poison
}

/** How a handler takes its process along: as kill -9, by an exit, by an error that nobody hears, by a loop that never ends. */
export const POISONS = ['kill', 'exit', 'reject', 'loop'] as const

export type Poison = (typeof POISONS)[number]

/** How a process ends that a poison took along by itself. */
export const POISON_EXIT = 70
export const POISON_WORDS = 'poison that nobody hears'

export interface Done {
  readonly n: number
  /** Names the send whose answer was used. */
  readonly send: string
  readonly artifact?: { readonly uri: string; readonly sha256: string }
}

/** One physical send, as the provider saw it. */
export interface Send {
  readonly at: number
  readonly pid: number
  readonly worker: string
  readonly run: string
  readonly generation: number
  readonly attempt: number
  readonly take: number
  readonly idempotencyKey: string
  /** Unique to this send. */
  readonly send: string
  readonly body: string
  /** The provider answered 503. */
  readonly failed: boolean
}

export const CHAOS_TASK: Task<Job, Done> = defineTask<Job, Done>({
  name: 'chaos',
  policy: { name: 'chaos', kinds: { transient: { backoff: { baseMs: 20, capMs: 100 } } } },
})

const QUICK_CALL = definePolicy({
  name: 'chaos-call',
  scale: 'call',
  kinds: { transient: { backoff: { baseMs: 20 } } },
})

const SLOW_MS = 60_000

/** A quarter fails once, a quarter keeps an artifact, most are quick. */
export function jobOf(n: number, dice: Dice): Job {
  const kind = dice()
  return {
    n,
    answerMs: Math.floor(dice() * 30),
    workMs: Math.floor(dice() * 20),
    ...(kind < 0.125 ? { fails: 'handler' } : kind < 0.25 ? { fails: 'provider' } : {}),
    ...(dice() < 0.25 ? { artifact: true } : {}),
  }
}

export interface Surroundings {
  readonly worker: () => string
  readonly provider: SyncedLog<Send>
  /** Where it is remembered what has gone wrong already. */
  readonly marks: string
  readonly sent: (send: Send) => void
}

export const handlerOf =
  ({ worker, provider, marks, sent }: Surroundings) =>
  async (job: Job, ctx: Context<Job>): Promise<Done> => {
    const { n } = job
    if (job.poison) await poisoned(job.poison)
    const { send } = await ctx.call(
      'provider',
      async ({ take, idempotencyKey }) => {
        const failed = job.fails === 'provider' && firstTime(marks, `provider-${n}`)
        const { run, generation, attempt } = ctx
        const name = `${process.pid}.${run}.${take}`
        const known = { at: Date.now(), pid: process.pid, worker: worker(), run, generation, attempt, take }
        const line = { ...known, idempotencyKey, send: name, body: `document ${n}`, failed }
        await provider.write(line)
        sent(line)
        await sleep(job.answerMs)
        if (failed) throw Object.assign(new Error('Service Unavailable'), { status: 503 })
        return { send: name }
      },
      { input: { n }, policy: QUICK_CALL },
    )
    const workMs = job.slowOnce && firstTime(marks, `slow-${n}`) ? SLOW_MS : job.workMs
    if (workMs > 0) await sleep(workMs, undefined, { signal: ctx.signal })
    if (job.fails === 'handler' && firstTime(marks, `handler-${n}`)) {
      throw failure({ kind: 'transient', code: 'chaos.once', message: 'goes wrong once' })
    }
    if (!job.artifact) return { n, send }
    // Not the same bytes in every attempt: only what was stored first may ever be seen.
    const body = JSON.stringify({ n, attempt: ctx.attempt, pid: process.pid })
    const { uri, sha256 } = await ctx.artifact('report.json', body)
    return { n, send, artifact: { uri, sha256 } }
  }

/** Nothing of the process goes on after this. */
function poisoned(poison: Poison): Promise<never> {
  if (poison === 'kill') process.kill(process.pid, 'SIGKILL')
  if (poison === 'exit') process.exit(POISON_EXIT)
  while (poison === 'loop');
  void Promise.reject(new Error(POISON_WORDS))
  return new Promise(() => {})
}

/** True once for each name, whatever process asks. */
function firstTime(folder: string, name: string): boolean {
  try {
    closeSync(openSync(join(folder, name), 'wx'))
    return true
  } catch {
    return false
  }
}
