/**
 * People at a desk: they take what waits for them, and answer it, send it back, reject it, give it back, or go away with it in hand.
 * They go through the person's own door, as the command line does. Each decision is logged as a client's is.
 */
import { isRepriseError } from '../../failure/reprise-error.ts'
import { createReviews, type Hand, type ReviewAct, type Reviews } from '../../review/index.ts'
import type { Dice } from '../../time/dice.ts'
import type { OperatorsOptions } from './operators.ts'
import { between, pick } from './script.ts'

const PEOPLE = ['ann', 'bob'] as const

/** In so many seeds there is anybody at the desk. */
const CHANCE = 0.5

export class Reviewers {
  readonly #options: OperatorsOptions
  readonly #dice: Dice
  readonly #reviews: Reviews

  constructor(options: OperatorsOptions) {
    this.#options = options
    this.#dice = options.stage.dice('reviewers')
    const leaseMs = between(this.#dice, 1_000, 8_000)
    this.#reviews = createReviews({ store: options.store, judge: () => [], leaseMs })
  }

  plan(withinMs: number): void {
    const dice = this.#dice
    if (dice() >= CHANCE) return
    for (let looks = between(dice, 4, 16); looks > 0; looks -= 1)
      this.#options.later(withinMs * (0.1 + 0.9 * dice()), () => this.#look(pick(dice, PEOPLE)))
  }

  async #look(by: string): Promise<void> {
    const { store } = this.#options
    const taken = await heard(async () => {
      const { runs } = await store.find({ states: ['review'], limit: 20 })
      return runs.length === 0 ? undefined : this.#reviews.take(pick(this.#dice, runs).id, { by })
    })
    if (taken?.answer !== 'ok') return
    const draw = this.#dice()
    const pauseMs = between(this.#dice, 0, 3_000)
    // One in eight goes away, and their lease ends by itself.
    if (draw < 0.125) return
    if (draw < 0.25) this.#options.later(pauseMs, () => heard(() => this.#reviews.giveBack(taken.hand)))
    else this.#options.later(pauseMs, () => this.#decide(taken.hand))
  }

  async #decide(hand: Hand): Promise<void> {
    const { tell, nextOp } = this.#options
    const { run, by, token } = hand
    const value = { answered: run, by }
    const act = pick<ReviewAct>(this.#dice, [
      { act: 'correct', value },
      { act: 'back', hint: 'look again' },
      { act: 'reject', reason: 'no such thing' },
    ])
    const given = act.act === 'correct' ? { value: JSON.stringify(value) } : {}
    const told = { op: nextOp(), does: 'review', run, by, token, ...given } as const
    tell({ ...told, phase: 'invoke' })
    const answered = await heard(() => this.#reviews.answer(hand, act))
    const phase = answered === undefined ? 'unknown' : answered.answer === 'ok' ? 'ok' : 'lost'
    tell({ ...told, phase })
  }
}

/** What came of it; `undefined` when the store did not say. */
async function heard<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isRepriseError(error) && error.code.startsWith('store.')) return undefined
    throw error
  }
}
