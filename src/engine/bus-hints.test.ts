import { expect, it } from 'vitest'
import { memoryBus } from '../bus/memory/index.ts'
import { memory } from '../stores/memory/index.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { turn } from '../time/clock.ts'
import { createReprise } from './reprise.ts'

it('wakes a worker of another process at once, whose store tells it nothing, and tells events to who listens', async () => {
  const clock = virtualClock()
  const bus = memoryBus()
  const shared = memory({ clock })
  // As two processes see one store: each has its own watchers.
  const apart = () => ({ ...shared, watch: () => () => undefined, close: async () => undefined })
  const submitting = createReprise({ store: apart(), bus, clock })
  const working = createReprise({ store: apart(), bus, clock })
  const heard: string[] = []
  bus.listen('reprise.event.#', (topic, body) => heard.push(`${topic} ${String(JSON.parse(body).task)}`))
  let ran = 0
  const task = working.task('greet', {}, async () => {
    ran += 1
  })
  working.work({ pollMs: '1h' })
  for (let index = 0; index < 20; index++) await turn()
  await submitting.submit(task, { name: 'Ada' })
  for (let index = 0; index < 50 && ran === 0; index++) await turn()
  expect(ran).toBe(1)
  for (let index = 0; index < 20; index++) await turn()
  expect(heard).toContain('reprise.event.run.submitted greet')
  expect(heard).toContain('reprise.event.run.succeeded greet')
  await working.close()
})

it('a bus that throws away everything costs only the poll', async () => {
  const clock = virtualClock()
  const bus = { ...memoryBus(), tell: () => undefined, listen: () => () => undefined }
  const store = { ...memory({ clock }), watch: () => () => undefined }
  const reprise = createReprise({ store, bus, clock })
  let ran = 0
  const task = reprise.task('greet', {}, async () => {
    ran += 1
  })
  reprise.work({ pollMs: '10s' })
  for (let index = 0; index < 20; index++) await turn()
  await reprise.submit(task, {})
  await clock.advance(9_000)
  await clock.advance(2_000)
  expect(ran).toBe(1)
  await reprise.close()
})
