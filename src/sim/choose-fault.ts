/**
 * Which fault a request gets: the script's, else one by the dice of the plan's rates.
 * The dice depend on seed, document, model and take alone, so the order in which requests arrive changes nothing.
 */

import { type Dice, seededDice } from '../time/dice.ts'
import { parseDuration } from '../time/duration.ts'
import type { Fault, FaultName } from './fault.ts'
import type { FaultPlan, ModelPlan, Range, Rates, Step, Steps } from './fault-plan.ts'

/** What a `rate-limit` tells to wait if nobody says otherwise. */
export const RETRY_AFTER_MS = 2_000

export interface Take {
  readonly seed: number
  readonly document: string
  readonly model: string
  /** The script's key that names this document, if one does. */
  readonly scriptKey: string | undefined
  /** How many requests came before: about this document, and about it to this model. */
  readonly before: { readonly document: number; readonly model: number }
}

export function chooseFault(plan: FaultPlan, take: Take): Fault {
  const retryAfterMs = plan.retryAfter === undefined ? RETRY_AFTER_MS : parseDuration(plan.retryAfter)
  const step = scriptedStep(plan, take)
  if (step !== undefined) {
    if (typeof step === 'string') return { name: step, retryAfterMs }
    const { fault, retryAfter } = step
    return { name: fault, retryAfterMs: retryAfter === undefined ? retryAfterMs : parseDuration(retryAfter) }
  }
  const { rates, always } = planOf(plan, take.model)
  const once = diceFor(take.seed, 'always', take.document, take.model)
  const anew = diceFor(take.seed, 'rates', take.document, take.model, take.before.model)
  return { name: drawn(always, once()) ?? drawn(rates, anew()) ?? 'ok', retryAfterMs }
}

/** The plan for all with the model's own laid over it. */
export function planOf(plan: FaultPlan, model: string): ModelPlan {
  const own = Object.entries(plan.models ?? {}).find(([part]) => model.includes(part))?.[1]
  return { ...plan, ...own }
}

/** Dice that give the same throws for the same names. */
export function diceFor(seed: number, ...names: ReadonlyArray<string | number>): Dice {
  return seededDice(hash32(`${seed}\n${names.join('\n')}`))
}

/** A whole number of the range, both ends possible. */
export function within([min, max]: Range, dice: Dice): number {
  return min + Math.floor(dice() * (max - min + 1))
}

function scriptedStep({ script }: FaultPlan, { scriptKey, model, before }: Take): Step | undefined {
  const own = scriptKey === undefined ? undefined : script?.[scriptKey]
  if (own === undefined) return undefined
  if (isSteps(own)) return own[Math.min(before.document, own.length - 1)]
  const steps = Object.entries(own).find(([part]) => model.includes(part))?.[1]
  return steps?.[Math.min(before.model, steps.length - 1)]
}

const isSteps = (own: Steps | Readonly<Record<string, Steps>>): own is Steps => Array.isArray(own)

function drawn(rates: Rates | undefined, thrown: number): FaultName | undefined {
  let sum = 0
  for (const [name, share] of Object.entries(rates ?? {})) {
    sum += share
    if (thrown < sum) return name as FaultName
  }
  return undefined
}

/** FNV-1a: spreads names over seeds; nothing secret depends on it. */
function hash32(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return hash >>> 0
}
