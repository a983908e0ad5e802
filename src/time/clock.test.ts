import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { systemClock } from './clock.ts'
import { seededDice } from './dice.ts'

const TIMER_MAX_MS = 2 ** 31 - 1

describe('systemClock', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    expect(vi.getTimerCount()).toBe(0)
    vi.useRealTimers()
  })

  it('cuts a wait past the platform limit into chunks', async () => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    let awake = false
    void systemClock.sleep(2 * TIMER_MAX_MS + 5_000).then(() => {
      awake = true
    })
    await vi.advanceTimersByTimeAsync(2 * TIMER_MAX_MS + 4_999)
    expect(awake).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(awake).toBe(true)
    expect(set.mock.calls.map(([, ms]) => ms)).toEqual([TIMER_MAX_MS, TIMER_MAX_MS, 5_000])
    set.mockRestore()
  })

  it('uses no timer for 0, and none after an abort', async () => {
    await systemClock.sleep(0)
    await systemClock.sleep(Number.NaN)
    const controller = new AbortController()
    const remove = vi.spyOn(controller.signal, 'removeEventListener')
    const asleep = systemClock.sleep(1_000, controller.signal)
    controller.abort(new Error('stop'))
    await expect(asleep).rejects.toThrow('stop')
    const other = new AbortController()
    const removeOther = vi.spyOn(other.signal, 'removeEventListener')
    const rested = systemClock.sleep(1_000, other.signal)
    await vi.advanceTimersByTimeAsync(1_000)
    await rested
    expect(remove).toHaveBeenCalledTimes(0)
    expect(removeOther).toHaveBeenCalledTimes(1)
  })

  it('takes a timer back', async () => {
    const run = vi.fn()
    const cancel = systemClock.after(10, run)
    cancel()
    cancel()
    await vi.advanceTimersByTimeAsync(100)
    expect(run).not.toHaveBeenCalled()
  })
})

describe('seededDice', () => {
  it('repeats for the same seed, differs for another, and stays in [0, 1)', () => {
    const draws = (seed: number) => Array.from({ length: 1_000 }, seededDice(seed))
    expect(draws(1)).toEqual(draws(1))
    expect(draws(1)).not.toEqual(draws(2))
    expect(draws(3).every((draw) => draw >= 0 && draw < 1)).toBe(true)
  })
})
