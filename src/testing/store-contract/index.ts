/**
 * The contract of the Store: one test per law, for any driver and any test runner.
 * The runner's functions are handed in; what a law is and how it is proved is in the files of the subjects.
 */
import assert from 'node:assert/strict'
import type { Clock } from '../../time/clock.ts'
import { virtualClock } from '../virtual-clock.ts'
import { budgetLaws } from './budget.ts'
import { claimLaws } from './claim.ts'
import { codecLaws } from './codec.ts'
import { commitLaws } from './commit.ts'
import { createLaws } from './create.ts'
import { findLaws } from './find.ts'
import { flowLaws } from './flow.ts'
import { historyLaws } from './history.ts'
import { holdLaws } from './hold.ts'
import { joinLaws } from './join.ts'
import { journalLaws } from './journal.ts'
import { keyLaws } from './key.ts'
import type { Law } from './law.ts'
import { leaseLaws } from './lease.ts'
import { limitLaws } from './limit.ts'
import { notesLaws } from './notes.ts'
import { pruneLaws } from './prune.ts'
import { pulseLaws } from './pulse.ts'
import { reviewLaws } from './review.ts'
import { steerLaws } from './steer.ts'
import { verifyLaws } from './verify.ts'
import { type OpenedStore, World } from './world.ts'

export type { Law } from './law.ts'
export type { OpenedStore, World } from './world.ts'

export interface StoreContract {
  /** The driver's name in the titles. */
  readonly name: string
  /** A fresh, empty store whose time is the clock's. Called once per law. */
  readonly open: (clock: Clock) => OpenedStore | Promise<OpenedStore>
  /** Laws that this driver cannot keep, each with its reason and the proof of what happens instead. */
  readonly skip?: readonly Skip[]
}

export interface Skip {
  /** The title of the law, exactly. */
  readonly law: string
  readonly reason: string
  readonly instead: Law['prove']
}

/** `describe` and `test` of vitest, node:test, mocha or jest. */
export interface TestFunctions {
  readonly describe: (name: string, body: () => void) => unknown
  readonly test: (name: string, body: () => Promise<void>) => unknown
}

export const storeLaws: readonly Law[] = [
  ...createLaws,
  ...claimLaws,
  ...leaseLaws,
  ...commitLaws,
  ...journalLaws,
  ...reviewLaws,
  ...steerLaws,
  ...pruneLaws,
  ...flowLaws,
  ...joinLaws,
  ...holdLaws,
  ...limitLaws,
  ...budgetLaws,
  ...keyLaws,
  ...findLaws,
  ...pulseLaws,
  ...historyLaws,
  ...notesLaws,
  ...verifyLaws,
  ...codecLaws,
]

/**
 * Declares the whole contract as tests of one driver.
 * @example storeContract({ name: 'mine', open: (clock) => ({ store: mine({ clock }) }) }, { describe, test })
 */
export function storeContract(contract: StoreContract, { describe, test }: TestFunctions): void {
  const skips = new Map((contract.skip ?? []).map((skip) => [skip.law, skip]))
  const unknown = [...skips.keys()].find((title) => !storeLaws.some((law) => law.title === title))
  if (unknown !== undefined) throw new RangeError(`skip: ${JSON.stringify(unknown)} is not the title of a law`)
  describe(`${contract.name} keeps the laws of the Store`, () => {
    for (const law of storeLaws) {
      const skip = skips.get(law.title)
      const title = skip ? `${law.title} (instead, because ${skip.reason})` : law.title
      test(`${law.subject}: ${title}`, () => proveLaw(skip ? { ...law, prove: skip.instead } : law, contract.open))
    }
  })
}

/** Every proof ends with a look at the store's own soundness, except where it was damaged or closed on purpose. */
const UNSOUND_ON_PURPOSE = new Set([
  'one finding per breach: each kind of damage is found and names its run',
  'one finding per breach: damage of no run is found too',
  'close may be called twice',
  'a closed store says that it cannot be reached',
])

/** Proves one law on a fresh store and throws when the store breaks it. */
export async function proveLaw(law: Law, open: StoreContract['open']): Promise<void> {
  const clock = virtualClock()
  const world = new World(await open(clock), clock)
  try {
    await law.prove(world)
    if (!UNSOUND_ON_PURPOSE.has(law.title))
      assert.deepEqual(await world.store.verify(), [], 'the store is sound afterwards')
  } finally {
    await world.store.close()
  }
}
