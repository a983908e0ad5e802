import { expect, test } from 'vitest'
import { resolveConfig } from '../config/resolve-config.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import { openStore } from './open-store.ts'

const MINUTE_MS = 60_000

async function firstOut(env: Readonly<Record<string, string>>): Promise<number | undefined> {
  const { settings } = resolveConfig({ cwd: '/', env, flags: {} })
  const clock = virtualClock()
  const store = await openStore(settings, clock)
  try {
    await store.create([{ task: 't', input: '{}', priority: 1 }])
    await clock.advance(11 * MINUTE_MS)
    await store.create([{ task: 't', input: '{}', priority: 0 }])
    const {
      runs: [first],
    } = await store.claim({ worker: 'w', nonce: 'n', leaseMs: MINUTE_MS, limit: 1, tasks: ['t'], alone: false })
    return first && (await store.get({ id: first.id }))?.priority
  } finally {
    await store.close()
  }
}

test.each(['memory:', 'sqlite::memory:'])('priorities age in %s as they are configured to', async (store) => {
  expect(await firstOut({ REPRISE_STORE: store })).toBe(1)
  expect(await firstOut({ REPRISE_STORE: store, REPRISE_AGEING: '12m' })).toBe(0)
  expect(await firstOut({ REPRISE_STORE: store, REPRISE_AGEING: '0' })).toBe(0)
})
