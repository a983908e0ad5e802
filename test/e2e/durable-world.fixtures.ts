/**
 * A store file with a known past, for tests of the commands that read and steer it: virtual time, fixed dice, known names.
 */
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createReprise } from '../../src/engine/reprise.ts'
import { failure } from '../../src/failure/own.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type VirtualClock, virtualClock } from '../../src/testing/virtual-clock.ts'

/** 2026-11-15T14:00:00Z */
const START_AT = 1_794_751_200_000

/** What a hostile document or provider may send: colours, a title, a cleared screen, reordered text. */
export const HOSTILE = '\u001b[31mred\u001b[0m\u001b]0;title\u0007\u001b[2J\u202eevil\u0000 end'

const httpError = (message: string, status: number, headers: Record<string, string> = {}) =>
  Object.assign(new Error(message), { status, headers })

export interface DurableWorld {
  readonly clock: VirtualClock
  /** A new folder with its own copy of the store. */
  folder(): Promise<string>
  remove(): Promise<void>
}

export async function durableWorld(): Promise<DurableWorld> {
  const root = await mkdtemp(join(tmpdir(), 'reprise-durable-'))
  const clock = virtualClock({ startAt: START_AT })
  const file = join(root, 'template.db')
  await populate(file, clock)
  let copies = 0
  return {
    clock,
    async folder() {
      const folder = await mkdtemp(join(root, `copy-${copies++}-`))
      await copyFile(file, join(folder, 'reprise.db'))
      return folder
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

/** r1 right, r2 waiting after two errors, r3 failed with hostile words, r4 with a person, r5 scheduled, r6 told to wait, r7 ready. */
async function populate(file: string, clock: VirtualClock): Promise<void> {
  let id = 0
  const reprise = createReprise({
    store: sqlite({ file, clock, durability: 'process' }),
    clock,
    dice: () => 0.5,
    ids: (bytes) => (id++).toString(16).padStart(bytes * 2, '0'),
  })
  const greet = reprise.task('greet', {}, async (input, ctx) => {
    const { says, told } = input as { says?: string; told?: string }
    if (told) throw httpError('Too many requests', 429, { 'retry-after': told })
    if (says) throw httpError(says, says.includes('\u001b') ? 422 : 503)
    const answer = await ctx.call('model', ({ cost }) => {
      cost(0.0021)
      return 'Hello, Ada'
    })
    return { greeting: answer }
  })
  let net = 1_248
  const extract = reprise.task('invoice.extract', { policy: 'extraction' }, () => {
    net += 1
    throw failure({ kind: 'semantic', code: 'gate.total', message: `/net ${net}, lines sum to 1284` })
  })
  await reprise.submit(greet, { name: 'Ada', password: 'hunter2' }, { key: 'ada' })
  await reprise.submit(greet, { says: 'The model is overloaded' }, { key: 'bob', deadline: '6h' })
  await reprise.submit(greet, { says: HOSTILE, note: HOSTILE })
  await reprise.submit(extract, { document: 'INV-20431.pdf' }, { key: 'INV-20431', category: 'eu' })
  await reprise.submit(greet, { name: 'Cy' }, { at: '3h' })
  await reprise.submit(greet, { told: '600' }, { key: 'dan' })
  const work = async () => {
    const worker = reprise.work({ concurrency: 1, pollMs: 1_000 })
    await clock.runUntilSettled(worker.idle())
    await clock.runUntilSettled(worker.stop())
  }
  await work()
  await clock.advance(31_000)
  await work()
  await reprise.submit(greet, { name: 'Eve' }, { key: 'eve', priority: 5 })
  await clock.advance(9_000)
  await clock.runUntilSettled(reprise.close())
}
