/**
 * Laws of history: what is kept of attempts, in which order, and of which it is not.
 */
import assert from 'node:assert/strict'
import { subject } from './law.ts'
import { BEGUN_AGAIN, FAILURE } from './world.ts'

export const historyLaws = subject('history', {
  'history of all generations, oldest first, as it was told': [
    'history-newest-first',
    async (world) => {
      const held = await world.hold()
      const first = { ...(await world.failedAttempt(held)), why: BEGUN_AGAIN, costUsd: 0.125 }
      await world.fail(held, { dueAt: world.now + 10, attempt: first })
      await world.clock.advance(10)
      const second = await world.take(held.run)
      const last = await world.failedAttempt(second)
      await world.fail(second, { attempt: last })
      const expect = { generation: 1, states: ['failed'] } as const
      await world.store.steer({ run: held.run, type: 'retry', by: 'ann', why: BEGUN_AGAIN, expect })
      await world.take(held.run)
      await world.outliveLeases()
      await world.claim()
      const history = await world.store.attempts(held.run)
      assert.deepEqual(history.slice(0, 2), [first, last])
      assert.deepEqual(
        history.map(({ outcome, attempt }) => [outcome, attempt]),
        [
          ['failed', 1],
          ['failed', 2],
          ['operator', 0],
          ['lapsed', 1],
        ],
      )
      assert.equal(history.at(-1)?.generation, 2)
    },
  ],
  'a first-try success leaves no row': [
    'row-for-every-attempt',
    async (world) => {
      const held = await world.hold()
      await world.end(held)
      assert.deepEqual(await world.store.attempts(held.run), [])
    },
  ],
  'history is the run’s own': [
    'history-mixed',
    async (world) => {
      const [one, two] = [await world.hold(), await world.hold()]
      const attempt = await world.failedAttempt(one)
      await world.fail(one, { attempt })
      assert.deepEqual(await world.store.attempts(two.run), [])
      assert.deepEqual(await world.store.attempts('nobody'), [])
      assert.deepEqual(await world.store.journal('nobody', 1), [])
      assert.deepEqual((await world.view(two.run)).failure, undefined)
      assert.deepEqual((await world.store.attempts(one.run))[0]?.failure, FAILURE)
    },
  ],
})
