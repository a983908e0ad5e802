/**
 * Flows for the chaos suite: steps that need others, one of which fans out, on a resource that tells its callers to wait.
 * Whoever executes a step writes down what it was given, so that it can be judged from outside.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Flow, flow } from '../../src/engine/flow.ts'
import type { Reprise } from '../../src/engine/reprise.ts'
import { defineTask } from '../../src/engine/task.ts'
import { LineLog } from './line-log.ts'

/** How long the resource tells its callers to wait, and how often it does, one call in so many. */
export const HELD_MS = 1_000
const LIMITED_EVERY = 25

export const HELD_RESOURCE = 'chaos:api'

interface StepInput {
  readonly flow: number
  readonly step: string
}

/** A step that was begun: what it was given. */
export interface StepLine {
  readonly at: number
  readonly pid: number
  readonly run: string
  readonly flow: number
  readonly step: string
  readonly needs: Readonly<Record<string, unknown>>
  /** The resource told it to wait. */
  readonly limited?: true
}

const policy = { name: 'chaos-flow', kinds: { transient: { backoff: { baseMs: 20, capMs: 100 } } } } as const

const STEP = defineTask<StepInput, string>({ name: 'chaos-step', policy, resources: [HELD_RESOURCE] })
const FAN = defineTask<StepInput, number>({ name: 'chaos-fan', policy })
const PART = defineTask<number, number>({ name: 'chaos-part', policy })
const TOLD = defineTask<StepInput, null>({ name: 'chaos-told', policy })

export const PARTS = 4

/** Two that begin at once, one that fans out after the first, one that needs both branches. */
export const chaosFlow = (number: number): Flow =>
  flow('chaos-flow', {
    left: [STEP, { flow: number, step: 'left' }],
    right: [STEP, { flow: number, step: 'right' }],
    fan: [FAN, { flow: number, step: 'fan' }, { needs: ['left'] }],
    end: [STEP, { flow: number, step: 'end' }, { needs: ['fan', 'right'] }],
  })

export function handleFlows(reprise: Reprise, folder: string): void {
  const log = new LineLog<StepLine>(join(folder, 'flows', `${process.pid}.ndjson`))
  let calls = 0
  reprise.handle(STEP, async ({ flow: number, step }, ctx) => {
    calls += 1
    // A file says that it told them: each step is told once, or the flow would never end.
    const mark = join(folder, 'marks', `limited-${number}-${step}`)
    const isLimited = calls % LIMITED_EVERY === 0 && !existsSync(mark)
    const line = { at: Date.now(), pid: process.pid, run: ctx.run, flow: number, step, needs: ctx.needs }
    log.write({ ...line, ...(isLimited ? { limited: true } : {}) })
    if (isLimited) {
      writeFileSync(mark, '')
      throw Object.assign(new Error('Too Many Requests'), {
        status: 429,
        headers: { 'retry-after': String(HELD_MS / 1_000) },
      })
    }
    await sleep(5)
    await ctx.submit(TOLD, { flow: number, step })
    return `${step} of ${number}`
  })
  reprise.handle(FAN, async ({ flow: number, step }, ctx) => {
    log.write({ at: Date.now(), pid: process.pid, run: ctx.run, flow: number, step, needs: ctx.needs })
    const parts = await ctx.join(
      'parts',
      Array.from({ length: PARTS }, (_, index) => [PART, index] as const),
    )
    return parts.reduce((sum, part) => sum + part, 0)
  })
  reprise.handle(PART, async (index) => {
    await sleep(5)
    return index * 10
  })
  reprise.handle(TOLD, () => null)
}
