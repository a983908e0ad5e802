import { expect, test } from 'vitest'
import { turn } from '../time/clock.ts'
import { Seats } from './seats.ts'

test('who finds no seat waits in line, and a failure gives its seat back', async () => {
  const seats = new Seats(1)
  const order: string[] = []
  let leave = () => {}
  const first = seats.use(
    () =>
      new Promise<void>((_resolve, reject) => {
        leave = () => reject(new Error('gone'))
      }),
  )
  const second = seats.use(async () => order.push('second'))
  const third = seats.use(async () => order.push('third'))
  await turn()
  expect(order).toEqual([])
  leave()
  await expect(first).rejects.toThrow('gone')
  await Promise.all([second, third])
  expect(order).toEqual(['second', 'third'])
})
