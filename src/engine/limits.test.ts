import { describe, expect, test } from 'vitest'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { limitsOf, type WorkLimits } from './limits.ts'
import { createReprise } from './reprise.ts'

/** Two instances on one store: what is out at a time and when each run began. */
async function fleet(limits: WorkLimits, runs: number) {
  const clock = virtualClock()
  const store = memory({ clock })
  const starts: number[] = []
  let out = 0
  let most = 0
  const instances = [1, 2].map(() => {
    const reprise = createReprise({ store, clock, dice: () => 0.5, limits })
    const task = reprise.task('t', { resources: ['gemini:flash'] }, async () => {
      starts.push(clock.now())
      out += 1
      most = Math.max(most, out)
      await clock.sleep(100)
      out -= 1
    })
    return { reprise, task, worker: reprise.work({ concurrency: 8 }) }
  })
  const [{ reprise, task }] = instances as [(typeof instances)[number]]
  await reprise.submitMany(Array.from({ length: runs }, (_, index) => [task, index] as const))
  await clock.advance(60_000)
  for (const { worker } of instances) await clock.runUntilSettled(worker.stop())
  return { starts, most }
}

describe('limits are kept over all workers', () => {
  test('so many at a time', async () => {
    const { starts, most } = await fleet({ 'gemini:flash': { concurrency: 3 } }, 40)
    expect(starts).toHaveLength(40)
    expect(most).toBe(3)
  })

  test('so many of a task', async () => {
    expect((await fleet({ 'task:t': { concurrency: 2 } }, 20)).most).toBe(2)
  })

  test('so many in any second', async () => {
    const { starts } = await fleet({ 'gemini:flash': { perSecond: 5, perMinute: 200 } }, 60)
    expect(starts).toHaveLength(60)
    for (const from of starts)
      expect(starts.filter((at) => at >= from && at < from + 999).length).toBeLessThanOrEqual(5)
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeLessThan(14_000 + 8_000)
  })
})

test('a limit that is none is refused by name', () => {
  expect(() => limitsOf({ flash: { perSecond: 0 } })).toThrow('limits["flash"].perSecond is 0. Allowed: a whole number')
  const allowed = 'concurrency, perSecond, perMinute.'
  expect(() => limitsOf({ flash: { perHour: 9 } as never })).toThrow(
    `limits["flash"] is an object with perHour. Allowed: the fields ${allowed}`,
  )
  expect(() => limitsOf({ flash: null as never })).toThrow(`limits["flash"] is null. Allowed: an object of ${allowed}`)
  expect(() => limitsOf({ 'task:': { concurrency: 1 } })).toThrow('limits["task:"] is task:. Allowed: the name of')
  expect(() => limitsOf(8 as never)).toThrow('limits is 8. Allowed: limits by name')
})
