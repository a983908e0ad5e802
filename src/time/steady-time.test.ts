import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SteadyTime } from './steady-time.ts'

function jumping() {
  const hands = { wall: 1_000_000, monotonic: 0 }
  const clock = {
    now: () => hands.wall,
    monotonic: () => hands.monotonic,
    after: () => () => undefined,
    sleep: async () => undefined,
  }
  const pass = (ms: number) => {
    hands.wall += ms
    hands.monotonic += ms
  }
  return { hands, pass, time: new SteadyTime(clock) }
}

test('follows the wall clock while that goes forward', () => {
  const { pass, time } = jumping()
  expect(time.now()).toBe(1_000_000)
  pass(250)
  expect(time.now()).toBe(1_000_250)
})

test('set back by a day: goes on at half speed, and follows again once the wall clock has caught up', () => {
  const { hands, pass, time } = jumping()
  time.now()
  hands.wall -= 1_000
  expect(time.now()).toBe(1_000_000)
  pass(500)
  expect(time.now()).toBe(1_000_250)
  pass(1_500)
  expect(time.now()).toBe(1_001_000)
  pass(1_000)
  expect(time.now()).toBe(1_002_000)
})

test('knows what others have stamped', () => {
  const { time } = jumping()
  time.atLeast(2_000_000)
  time.atLeast(1_500_000)
  expect(time.now()).toBe(2_000_000)
})

test('tells how far it leapt ahead of the time that passed, once', () => {
  const { hands, pass, time } = jumping()
  expect(time.leaptMs()).toBe(0)
  pass(5_000)
  expect(time.leaptMs()).toBe(0)
  hands.wall += 86_400_000
  pass(300)
  expect(time.leaptMs()).toBe(86_400_000)
  expect(time.leaptMs()).toBe(0)
  hands.wall -= 86_400_000
  pass(1_000)
  expect(time.leaptMs()).toBe(0)
  time.atLeast(time.now() + 7_000)
  expect(time.leaptMs()).toBe(7_000)
})

test('never goes back and is always whole, whatever the clock does', () => {
  const step = fc.record({
    jump: fc.integer({ min: -1e9, max: 1e9 }),
    ms: fc.double({ min: 0, max: 1e6, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
      const { hands, pass, time } = jumping()
      let last = time.now()
      for (const { jump, ms } of steps) {
        hands.wall += jump
        pass(ms)
        const now = time.now()
        expect(now).toBeGreaterThanOrEqual(last)
        expect(Number.isInteger(now)).toBe(true)
        last = now
      }
    }),
  )
})
