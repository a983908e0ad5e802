/**
 * A ladder: rungs in order, model tiers and desks. Data only; how it is climbed is `climb.ts`.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { LadderShape } from '../policy/ladder.ts'
import { person, type Rung, rung } from './rung.ts'

export interface Ladder {
  readonly rungs: readonly Rung[]
  /** As a policy and `plan` see it. */
  readonly shape: LadderShape
}

const RUNGS_MAX = 10

/**
 * @example ladder([rung('google/gemini-flash-latest', { attempts: 3 }), person({ queue: 'accounts', within: '4h' })])
 */
export function ladder(rungs: readonly Rung[]): Ladder {
  if (!Array.isArray(rungs) || rungs.length === 0 || rungs.length > RUNGS_MAX)
    throw new RepriseError(
      'ladder.invalid',
      `rungs is ${Array.isArray(rungs) ? `a list of ${rungs.length}` : typeof rungs}. Allowed: a list of 1 to ${RUNGS_MAX} rungs.`,
    )
  const names = new Set<string>()
  for (const [index, each] of rungs.entries()) {
    if (each?.type !== 'model' && each?.type !== 'person')
      throw new RepriseError(
        'ladder.invalid',
        `rungs[${index}] is ${JSON.stringify(each)}. Allowed: rung(…) or person(…).`,
      )
    if (names.has(each.name))
      throw new RepriseError(
        'ladder.invalid',
        `rungs[${index}].name is "${each.name}". Allowed: each name once in a ladder; give one of them a name of its own.`,
      )
    names.add(each.name)
  }
  return Object.freeze({ rungs: Object.freeze([...rungs]), shape: Object.freeze(rungs.map(shapeOf)) })
}

function shapeOf(each: Rung): LadderShape[number] {
  if (each.type === 'person') return each
  const { name, attempts, budget } = each
  return { type: 'model', name, attempts, ...(budget ? { budget: budget.name } : {}) }
}

/** The models of the default ladder, cheap and strong. */
export const CHEAP = 'google/gemini-flash-latest'
export const STRONG = 'google/gemini-pro-latest'

/** The budget of the strong rung where nobody gave another: calls per day and month. */
export const STRONG_BUDGET = { name: 'pro', day: 50, month: 1_000 } as const

/**
 * The ladder that holds where nobody chose one: a cheap model with two corrections, a strong one once within a budget, a person.
 * @example defaultLadder({ cheap: 'openai/gpt-5-mini', strong: 'openai/gpt-5', queue: 'accounts' })
 */
export function defaultLadder(
  options: { readonly cheap?: string; readonly strong?: string; readonly queue?: string } = {},
): Ladder {
  const { cheap = CHEAP, strong = STRONG, queue = 'review' } = options
  return ladder([rung(cheap, { attempts: 3 }), rung(strong, { attempts: 1, budget: STRONG_BUDGET }), person({ queue })])
}
