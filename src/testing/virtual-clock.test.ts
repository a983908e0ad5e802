import { describe, expect, it } from 'vitest'
import { virtualClock } from './virtual-clock.ts'

describe('virtualClock', () => {
  it('fires timers by time, then by the order they were set, and lets each one finish', async () => {
    const clock = virtualClock({ startAt: 1_000 })
    const seen: string[] = []
    clock.after(20, () => seen.push(`late ${clock.now()}`))
    clock.after(10, () => {
      seen.push(`first ${clock.now()}`)
      // Set meanwhile and due before the others: it fires in its turn.
      void clock.sleep(5).then(() => seen.push(`nested ${clock.now()}`))
    })
    clock.after(10, () => seen.push(`second ${clock.now()}`))
    await clock.advance(100)
    expect(seen).toEqual(['first 1010', 'second 1010', 'nested 1015', 'late 1020'])
    expect(clock.now()).toBe(1_100)
    expect(clock.monotonic()).toBe(100)
    expect(clock.pending()).toBe(0)
  })

  it('leaves later timers alone and takes cancelled ones back', async () => {
    const clock = virtualClock()
    let fired = 0
    const cancel = clock.after(5, () => fired++)
    clock.after(50, () => fired++)
    cancel()
    await clock.advance(49)
    expect(fired).toBe(0)
    await clock.advance(1)
    expect(fired).toBe(1)
  })

  it('sleeps past 2^31 ms, and aborts at once without a timer left', async () => {
    const clock = virtualClock({ startAt: 0 })
    await clock.runUntilSettled(clock.sleep(2 ** 31 + 5_000))
    expect(clock.now()).toBe(2 ** 31 + 5_000)
    const controller = new AbortController()
    const asleep = clock.sleep(1_000, controller.signal)
    controller.abort(new Error('stop'))
    await expect(asleep).rejects.toThrow('stop')
    expect(clock.pending()).toBe(0)
    await expect(clock.sleep(1_000, controller.signal)).rejects.toThrow('stop')
    await clock.sleep(0)
  })

  it('says so when a promise waits for nothing, when timers never end and when asked to go back', async () => {
    const clock = virtualClock()
    await expect(clock.runUntilSettled(new Promise(() => {}))).rejects.toThrow('not a timer of this clock')
    const again = () => void clock.after(1, again)
    again()
    await expect(clock.runUntilIdle(10)).rejects.toThrow('still being set after 10')
    await expect(clock.advanceTo(0)).rejects.toThrow('does not go back')
  })
})
