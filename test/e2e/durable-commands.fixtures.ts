/**
 * The commands that need a store, run in process: each test has its own copy of a store with a known past.
 * A file of tests says once that it lives in it.
 */
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type FakeOptions, fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import type { Store } from '../../src/ports/store.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { systemClock } from '../../src/time/clock.ts'
import { type DurableWorld, durableWorld } from './durable-world.fixtures.ts'

export let world: DurableWorld
/** The folder of the present test, and the store in it. */
export let cwd: string
export let store: Store

/** Sets that up and takes it down around each test of the file that calls it. */
export function liveInDurableWorld(): void {
  beforeAll(async () => {
    world = await durableWorld()
  })
  afterAll(() => world.remove())
  beforeEach(async () => {
    cwd = await world.folder()
    store = sqlite({ file: join(cwd, 'reprise.db'), clock: world.clock })
  })
  afterEach(() => store.close())
}

interface Options extends FakeOptions {
  readonly real?: boolean
  readonly stop?: AbortSignal
}

export async function reprise(words: readonly string[], options: Options = {}) {
  const console = fakeConsole({ ...options, env: { USER: 'ann', ...options.env } })
  const exit = await run(words, {
    console,
    clock: options.real ? systemClock : world.clock,
    cwd,
    version: '0.1.0',
    interruption: () => options.stop ?? new AbortController().signal,
  })
  const { out, err } = console.written
  return { exit, out, err, objects: () => jsonOf(out) }
}

export const jsonOf = (out: string): Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
