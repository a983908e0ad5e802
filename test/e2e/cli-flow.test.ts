/**
 * `reprise show` on steps of flows and on parents of joins: what they need, what needs them, and why they wait.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { flow } from '../../src/engine/flow.ts'
import { createReprise } from '../../src/engine/reprise.ts'
import { never } from '../../src/engine/throwables.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'

let folder: string
const clock = virtualClock({ startAt: 1_794_751_200_000 })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-flow-'))
  const reprise = createReprise({ store: sqlite({ file: join(folder, 'reprise.db'), clock }), clock, dice: () => 0.5 })
  const fetch = reprise.task('fetch', {}, () => {
    throw never('the source is gone')
  })
  const chart = reprise.task('chart', {}, () => 'chart')
  const later = reprise.task('later', {}, () => 'later')
  const parent = reprise.task('parent', {}, (_input: unknown, ctx) =>
    ctx.join('parts', [
      [later, 1],
      [chart, 2],
    ]),
  )
  await reprise.submitFlow(
    flow('report', {
      fetch: [fetch, 1],
      chart: [chart, 1],
      write: [later, 1, { needs: ['fetch', 'chart'] }],
      mail: [later, 1, { needs: ['fetch'], onNeedFailed: 'wait' }],
      sum: [later, 1, { needs: ['write', 'mail'], onNeedFailed: 'skip' }],
      both: [later, 1, { needs: ['mail', 'chart'], onNeedFailed: 'wait' }],
    }),
  )
  await reprise.submit(parent, {})
  const worker = reprise.work({ tasks: [fetch, chart, parent] })
  await clock.runUntilSettled(worker.idle())
  await clock.runUntilSettled(worker.stop())
  await reprise.close()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const show = async (run: string, flags = ''): Promise<string> =>
  (await runLine(`show ${run}${flags}`, { clock, cwd: folder, env: {} })).out

describe('show', () => {
  test('a step that failed with its need names it, and its neighbours with their signs', async () => {
    const out = await show('r3')
    expect(out).toContain('Ended: it needs fetch, which failed. Retry fetch, and it begins again.')
    expect(out).toMatch(/flow +report \(r1\), step write/)
    expect(out).toMatch(/needs +✗ fetch, ✓ chart/)
    expect(out).toMatch(/needed by +– sum/)
  })

  test('a step that waits for an operator, one that was skipped, one that waits for others', async () => {
    expect(await show('r4')).toContain('Waiting for an operator: fetch failed. Retry fetch, and it goes on.')
    expect(await show('r5')).toContain('Skipped: it needs write, which failed.')
    expect(await show('r6')).toContain('Waiting for mail to succeed.')
  })

  test('a parent tells of its join, and its children of it', async () => {
    const out = await show('r7')
    expect(out).toContain('Waiting for 2 children of parts to end.')
    expect(out).toContain('join parts, its children are under way')
    expect(out).toMatch(/needs +○ later 1, ✓ chart 2/)
    expect(await show('r8')).toMatch(/needed by +⊟ parent 1/)
    expect(JSON.parse(await show('r7', ' --json'))).toMatchObject({ place: { needs: [{ run: 'r8' }, { run: 'r9' }] } })
  })

  test('a retry tells of the steps that begin again with it, a cancel of those that end with it', async () => {
    const line = (words: string) => runLine(words, { clock, cwd: folder, env: {} })
    expect((await line('retry r1')).out).toContain('Retried 1 run. 2 runs that needed it begin again with it.')
    const { out } = await line('cancel r1 --json')
    expect(JSON.parse(out)).toMatchObject({
      done: 1,
      moved: [
        { run: 'r3', generation: 2, state: 'failed' },
        { run: 'r5', generation: 2, state: 'cancelled' },
      ],
    })
  })

  test('verify is content with flows and joins', async () => {
    expect((await runLine('verify', { clock, cwd: folder, env: {} })).exit).toBe(0)
  })
})
