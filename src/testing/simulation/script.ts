/**
 * What a simulated run will do, thrown before it is submitted: its steps in order, and how each execution ends.
 * Data only, so that a run does the same in whichever process it is executed.
 */
import type { Dice } from '../../time/dice.ts'
import type { SimInput } from './sim-tasks.ts'

/** How a send turns out, by the number of its take; the last one stands for all later ones. */
export interface Send {
  readonly turns: 'ok' | 'unavailable' | 'limited' | 'limitedLong' | 'wrong' | 'refused' | 'hang'
  readonly ms: number
  /** How many more it would take before then; said with the answer. */
  readonly left?: { readonly requests: number; readonly resetMs: number }
}

export type Step =
  | {
      readonly does: 'call'
      readonly name: string
      readonly sends: readonly Send[]
      readonly timeoutMs?: number
      readonly ambiguous?: 'person'
      /** Whether the provider's client heeds the signal. */
      readonly listens: boolean
      readonly costUsd?: number
    }
  | { readonly does: 'sleep'; readonly name: string; readonly ms: number }
  | { readonly does: 'busy'; readonly ms: number; readonly listens: boolean }
  | { readonly does: 'artifact'; readonly name: string; readonly clashes: boolean }
  | { readonly does: 'progress' }
  | {
      readonly does: 'join'
      readonly name: string
      readonly onFailure: 'fail' | 'collect'
      readonly children: readonly Script[]
    }
  /** Begins a run with the success of this one. */
  | { readonly does: 'submit' }

/** How an execution ends. `crash` takes the process along, `hang` never ends by itself. */
export const OUTCOMES = [
  'value',
  'nothing',
  'unavailable',
  'limited',
  'limitedTold',
  'unknown',
  'wrong',
  'final',
  'refused',
  'conflict',
  'later',
  'person',
  'personWithin',
  'crash',
  'hang',
  'secret',
] as const

export type Outcome = (typeof OUTCOMES)[number]

export interface Script {
  readonly item: number
  readonly task: TaskName | 'part'
  readonly steps: readonly Step[]
  /** By the number of the attempt; the last one stands for all later ones, and ends the run. */
  readonly outcomes: readonly Outcome[]
  /** Catches what the context throws to suspend it, and returns as if nothing were. */
  readonly swallows: boolean
}

export const TASK_NAMES = ['plain', 'limited', 'climb', 'metered'] as const

export type TaskName = (typeof TASK_NAMES)[number]

export const pick = <T>(dice: Dice, among: readonly T[]): T => among[Math.floor(dice() * among.length)] as T

export const between = (dice: Dice, low: number, high: number): number => low + Math.floor(dice() * (high - low + 1))

const PASSING: readonly Outcome[] = OUTCOMES.filter(
  (outcome) => !['value', 'nothing', 'final', 'hang'].includes(outcome),
)

const LAST: readonly Outcome[] = [
  ...Array<Outcome>(12).fill('value'),
  'nothing',
  'nothing',
  'final',
  'person',
  'conflict',
]

export function throwScript(dice: Dice, item: number, leaseMs: number): Script {
  const task = pick(dice, TASK_NAMES)
  const steps = Array.from({ length: between(dice, 0, 3) }, (_, index) => throwStep(dice, index, leaseMs))
  if (dice() < 0.1) steps.splice(between(dice, 0, steps.length), 0, throwJoin(dice, item, leaseMs))
  if (dice() < 0.1) steps.push({ does: 'submit' })
  const poison = dice() < 0.06
  return { item, task, steps, outcomes: poison ? ['crash'] : throwOutcomes(dice, task), swallows: dice() < 0.15 }
}

/** Children are small: at most one step, and mostly they succeed. */
function throwJoin(dice: Dice, item: number, leaseMs: number): Step {
  const children = Array.from({ length: between(dice, 1, 4) }, (): Script => {
    const steps = dice() < 0.3 ? [throwStep(dice, 0, leaseMs)] : []
    const passing = dice() < 0.25 ? [pick(dice, PASSING)] : []
    const last = dice() < 0.8 ? 'value' : pick(dice, ['final', 'nothing', 'person'] as const)
    return { item, task: 'part', steps, outcomes: [...passing, last], swallows: false }
  })
  return { does: 'join', name: 'parts', onFailure: dice() < 0.5 ? 'fail' : 'collect', children }
}

/** One that does nothing but succeed, unless what it needs is down. */
export const simpleScript = (item: number, task: TaskName): Script => ({
  ...{ item, task, steps: [], outcomes: ['value'], swallows: false },
})

/** What the run with this input does. */
export function scriptOf(scripts: ReadonlyMap<number, Script>, input: SimInput): Script {
  const own = scripts.get(input.item) as Script
  if (input.child === undefined) return own
  const join = own.steps.find((step) => step.does === 'join')
  const child = input.child === 'told' ? undefined : join?.children[input.child]
  return child ?? { ...own, task: 'part', steps: [], outcomes: ['value'], swallows: false }
}

function throwOutcomes(dice: Dice, task: TaskName): Outcome[] {
  const passing = Array.from({ length: Math.floor(dice() * dice() * 5) }, () => pick(dice, PASSING))
  if (task === 'climb' && dice() < 0.3) passing.push('wrong', 'wrong', 'wrong')
  // Without a limit on its time, an execution that never ends would never end.
  if (task === 'limited' && dice() < 0.15) passing.push('hang')
  return [...passing, pick(dice, LAST)]
}

function throwStep(dice: Dice, index: number, leaseMs: number): Step {
  const draw = dice()
  const name = `s${index}`
  if (draw < 0.5) return throwCall(dice, name)
  if (draw < 0.6) return { does: 'sleep', name, ms: between(dice, 1, 3_000) }
  if (draw < 0.66) return { does: 'sleep', name, ms: between(dice, 60_001, 75_000) }
  if (draw < 0.86) return { does: 'busy', ms: between(dice, 1, Math.floor(leaseMs * 1.5)), listens: dice() < 0.5 }
  if (draw < 0.94) return { does: 'artifact', name, clashes: dice() < 0.3 }
  return { does: 'progress' }
}

function throwCall(dice: Dice, name: string): Step {
  const failing = ['unavailable', 'unavailable', 'limited', 'limitedLong', 'wrong', 'refused'] as const
  const count = dice() < 0.6 ? 0 : between(dice, 1, 4)
  const sends: Send[] = Array.from({ length: count }, () => ({ turns: pick(dice, failing), ms: between(dice, 0, 400) }))
  const timeout = dice() < 0.3 ? { timeoutMs: between(dice, 500, 2_500) } : {}
  if ('timeoutMs' in timeout && dice() < 0.4) sends.push({ turns: 'hang', ms: 0 })
  const left = { left: { requests: between(dice, 0, 6), resetMs: between(dice, 500, 6_000) } }
  const ms = dice() < 0.8 ? between(dice, 0, 300) : between(dice, 300, 6_000)
  sends.push({ turns: 'ok', ms, ...(dice() < 0.25 ? left : {}) })
  return {
    does: 'call',
    name,
    sends,
    listens: dice() < 0.5,
    ...timeout,
    ...(dice() < 0.15 ? { ambiguous: 'person' } : {}),
    ...(dice() < 0.3 ? { costUsd: between(dice, 1, 9) / 1_000 } : {}),
  }
}
