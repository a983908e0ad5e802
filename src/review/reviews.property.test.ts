/**
 * Any order of what people, workers, operators and time do to a desk: each question is decided at most once, by whoever had it in hand.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Reply } from '../run/question.ts'
import { desk, HOUR } from './desk.fixtures.ts'
import type { Hand } from './reviews.ts'
import type { ReviewAct } from './verdict.ts'

const PEOPLE = ['ann', 'bob', 'cem'] as const
const people = fc.constantFrom(...PEOPLE)

const act: fc.Arbitrary<ReviewAct> = fc.oneof(
  fc.constant({ act: 'accept' } as const),
  fc.record({ act: fc.constant('correct' as const), value: fc.record({ total: fc.integer({ min: 0, max: 20 }) }) }),
  fc.constant({ act: 'correct', value: { sum: 1 } } as const),
  fc.constant({ act: 'back', to: 'pro', hint: 'page 2' } as const),
  fc.constant({ act: 'reject', reason: 'a letter' } as const),
)

type Step =
  | { readonly do: 'take' | 'renew' | 'giveBack'; readonly by: (typeof PEOPLE)[number] }
  | { readonly do: 'answer'; readonly by: (typeof PEOPLE)[number]; readonly act: ReviewAct }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'work' | 'cancel' | 'retry' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const), by: people }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('answer' as const), by: people, act }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('renew' as const, 'giveBack' as const), by: people }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 5 * HOUR }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('work' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancel' as const, 'retry' as const) }) },
)

describe('the desk, whatever happens', () => {
  test('a question is decided at most once, by who had it in hand, and what was lost changed nothing', async () => {
    const reached = { ok: 0, lost: 0, refused: 0, overdue: 0 }
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const { reprise, invoice, reviews, store, clock, work, heard } = desk()
        const { id } = await reprise.submit(invoice, { within: '4h' })
        await work()
        const hands = new Map<string, Hand>()
        const decisions = new Map<string, string>()
        const everything = async () => [await store.get({ id }), await store.journal(id, 1), await store.attempts(id)]
        /** Each reply there is, by its place in the journal: once there, it stays as it is. */
        const replies = async () => {
          const { generation = 1 } = (await store.get({ id })) ?? {}
          for (let each = 1; each <= generation; each += 1)
            for (const { name, inputHash, answer } of await store.journal(id, each)) {
              const place = `${each} ${name} ${inputHash}`
              if (answer === undefined) expect(decisions.has(place)).toBe(false)
              else {
                expect(decisions.get(place) ?? answer).toBe(answer)
                decisions.set(place, answer)
              }
            }
        }
        for (const each of steps) {
          const before = await everything()
          const view = await store.get({ id })
          const live = view?.lease && view.lease.until > clock.now() ? view.lease.worker : undefined
          switch (each.do) {
            case 'take': {
              const taken = await reviews.take(id, { by: each.by })
              if (taken.answer === 'ok') {
                expect(view?.state).toBe('review')
                expect(live === undefined || live === each.by).toBe(true)
                hands.set(each.by, taken.hand)
              } else expect(await everything()).toEqual(before)
              break
            }
            case 'answer': {
              const hand = hands.get(each.by)
              if (!hand) break
              const answered = await reviews.answer(hand, each.act)
              reached[answered.answer] += 1
              if (answered.answer === 'ok') {
                expect([view?.state, view?.lease?.token]).toEqual(['review', hand.token])
                expect((await store.get({ id }))?.state).toBe('ready')
              } else expect(await everything()).toEqual(before)
              break
            }
            case 'renew': {
              const hand = hands.get(each.by)
              if (hand && (await reviews.renew(hand)) === 'lost') expect(await everything()).toEqual(before)
              break
            }
            case 'giveBack': {
              const hand = hands.get(each.by)
              if (hand) await reviews.giveBack(hand)
              break
            }
            case 'wait':
              await clock.advance(each.ms)
              break
            case 'work':
              await work()
              break
            default: {
              const { generation = 1, state = 'review' } = view ?? {}
              const why = { code: 'run.cancelled', params: { by: 'op' } } as const
              await store.steer({ run: id, type: each.do, expect: { generation, states: [state] }, why, by: 'op' })
            }
          }
          await replies()
          // Nobody crashed: a person who went away is nobody's lapse.
          expect(await store.get({ id })).toMatchObject({ suspect: false, ledgers: { lapses: 0 } })
        }
        reached.overdue += heard.filter((reply: Reply) => reply.act === 'overdue').length
        // Every decision of a person is a row of history, a note and a reply, and nothing else is.
        const rows = (await store.attempts(id)).filter(({ why }) => why?.code.startsWith('review.'))
        const told = (await store.notes({ run: id })).filter(({ what }) =>
          ['review.answered', 'review.sent_back', 'review.rejected'].includes(what),
        )
        const byPeople = [...decisions.values()].filter((answer) => JSON.parse(answer).act !== 'overdue')
        expect([told.length, byPeople.length]).toEqual([rows.length, rows.length])
        expect(await store.verify()).toEqual([])
        await clock.runUntilSettled(reprise.close())
      }),
      { numRuns: 150 },
    )
    expect(Math.min(...Object.values(reached))).toBeGreaterThan(0)
  }, 120_000)
})
