import { describe, expect, test } from 'vitest'
import { Book } from './book.fixtures.ts'
import { goodBooks, leftAfterItsHold } from './book-scenes.fixtures.ts'
import { FLOWS } from './check-flows.ts'
import { GATES } from './check-gates.ts'
import { LEASES } from './check-leases.ts'
import { REVIEWS } from './check-reviews.ts'
import { check, INVARIANTS } from './checker.ts'
import { atTheDesk } from './review-scene.fixtures.ts'
import { TAMPERINGS } from './tampering.fixtures.ts'
import { everyScene, goodHistory } from './teller-scenes.fixtures.ts'

const GOOD_HISTORIES = process.env['REPRISE_TEST_CHAOS'] === 'full' ? 1_000 : 250

const STEPS = INVARIANTS.filter(({ id }) => id === 'I7' || id === 'I8')

/** What judges claims before their time by operations alone. */
const WHEN_DUE = INVARIANTS.filter(({ id }) => id === 'I8' || id === 'I11')

describe('the checker takes good histories', () => {
  test('one with every scene', () => {
    expect(check(everyScene())).toEqual([])
  })

  test(`${GOOD_HISTORIES} of any scenes`, () => {
    for (let seed = 0; seed < GOOD_HISTORIES; seed += 1) {
      const breaches = check(goodHistory(seed))
      expect(breaches, `seed ${seed}`).toEqual([])
    }
  })
})

describe('the checker takes good histories of flows and of what closes a lane', () => {
  test(`${GOOD_HISTORIES} of each`, () => {
    for (let seed = 0; seed < GOOD_HISTORIES; seed += 1) {
      for (const [scene, history] of Object.entries(goodBooks(seed))) {
        const breaches = [...FLOWS, ...GATES, ...WHEN_DUE].flatMap(({ id, breaches }) =>
          breaches(history).map((found) => `${id}: ${found}`),
        )
        expect(breaches, `${scene}, seed ${seed}`).toEqual([])
      }
    }
  })
})

test(`the checker takes ${GOOD_HISTORIES} good histories of a desk`, () => {
  for (let seed = 0; seed < GOOD_HISTORIES; seed += 1) {
    const breaches = [...REVIEWS, ...LEASES, ...STEPS].flatMap(({ breaches }) => breaches(atTheDesk(new Book(seed))))
    expect(breaches, `seed ${seed}`).toEqual([])
  }
})

test('a run is not missed while its lane is held', () => {
  const missed = (heldMs: number) =>
    check(leftAfterItsHold(heldMs)).filter(({ invariant }) => invariant === 'I24').length
  expect([missed(110_000), missed(10_000)]).toEqual([0, 1])
})

describe('the checker refuses bad histories', () => {
  test('every invariant has at least three', () => {
    for (const { id } of INVARIANTS) expect(Object.keys(TAMPERINGS[id] ?? {}).length, id).toBeGreaterThanOrEqual(3)
    expect(Object.keys(TAMPERINGS).sort()).toEqual(INVARIANTS.map(({ id }) => id).sort())
  })

  for (const [id, tamperings] of Object.entries(TAMPERINGS)) {
    describe(id, () => {
      test.each(Object.entries(tamperings))('%s', (_name, tamper) => {
        const found = check(tamper(everyScene())).map(({ invariant }) => invariant)
        expect(found).toContain(id)
      })
    })
  }
})
