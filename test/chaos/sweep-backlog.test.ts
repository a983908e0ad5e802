/**
 * A backlog of many documents on the embedded source: all of them are begun, each once, in time that grows as the backlog does and in
 * memory that does not. The size is 100,000 at full size.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { memoryBus } from '../../src/bus/memory/index.ts'
import { sqliteSource } from '../../src/sources/sqlite/index.ts'
import { createSweep } from '../../src/sweep/sweep.ts'

const FULL = process.env['REPRISE_TEST_CHAOS'] === 'full'
const LARGE = FULL ? 100_000 : 10_000
const folder = mkdtempSync(join(tmpdir(), 'reprise-backlog-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const DAY = 86_400_000

async function swept(documents: number): Promise<{ readonly ms: number; readonly heapMb: number }> {
  const source = sqliteSource({ file: join(folder, `${documents}.db`) })
  const bus = memoryBus()
  await bus.prepare([{ queue: 'work', topics: ['again'] }])
  let sent = 0
  let peak = 0
  // Counted and let go of, so that the memory that is measured is the sweep's.
  const counting = {
    ...bus,
    send: async (messages: Parameters<typeof bus.send>[0]) => {
      sent += messages.length
      peak = Math.max(peak, process.memoryUsage().heapUsed)
      return messages.map(() => 'sent' as const)
    },
  }
  const sweep = createSweep({
    source,
    bus: counting,
    collections: [
      {
        name: 'archives',
        limit: 1_000_000,
        event: {
          type: 'Again',
          topic: 'again',
          // Every hundredth can never be sent: a poison that must not hold up its neighbours.
          data: ({ poison, ...rest }) => {
            if (poison === true) throw new Error('no path')
            return rest
          },
        },
      },
    ],
  })
  const old = Date.now() - 3 * DAY
  for (let from = 0; from < documents; from += 5_000)
    await source.put(
      'archives',
      Array.from({ length: Math.min(5_000, documents - from) }, (_, index) => ({
        id: `d-${from + index}`,
        createdAt: old + from + index,
        document: { path: `/in/${from + index}`, poison: index % 100 === 0 },
      })),
    )
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  peak = before
  const startedAt = performance.now()
  const report = await sweep.pass()
  const ms = performance.now() - startedAt
  expect(report.collections[0]).toMatchObject({
    begun: documents * 0.99,
    ended: documents * 0.01,
    lost: 0,
    stuck: documents,
  })
  expect(sent).toBe(documents * 0.99)
  expect((await sweep.pass()).collections[0]).toMatchObject({ begun: 0, ended: 0, stuck: 0 })
  await sweep.close()
  return { ms, heapMb: (peak - before) / 1e6 }
}

test(`${LARGE} documents are swept once each, in linear time and bounded memory`, { timeout: 300_000 }, async () => {
  const small = await swept(LARGE / 10)
  const large = await swept(LARGE)
  console.log(
    `${LARGE} documents in ${(large.ms / 1_000).toFixed(1)} s, heap +${large.heapMb.toFixed(0)} MB; ${LARGE / 10} in ${(small.ms / 1_000).toFixed(2)} s.`,
  )
  // Ten times the documents take ten times as long; three times that is a machine with other things to do, thirty would be a square.
  expect(large.ms / small.ms).toBeLessThan(30)
  expect(large.heapMb).toBeLessThan(200)
})
