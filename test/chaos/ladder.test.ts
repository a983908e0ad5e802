import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { startSimulator } from '../../src/sim/simulator.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'

const worker = fileURLToPath(new URL('./ladder-process.ts', import.meta.url))

/** Flash is wrong three times, each in its own way, and pro is right. */
const script = { 'CRASH-01': { flash: ['no-json', 'empty', 'wrong-total-anew'], pro: ['ok'] } } as const

describe('a worker that dies in the middle of a climb', () => {
  test.each([
    ['after its answer is stored', 'after-answer', 4],
    ['after its answer came, before it is stored', 'after-send', 6],
  ])(
    '%s',
    async (_when, crashAt, requests) => {
      const folder = mkdtempSync(join(tmpdir(), 'reprise-ladder-crash-'))
      const file = join(folder, 'reprise.db')
      await using simulator = await startSimulator({ script })
      const run = async (env: Record<string, string>) => {
        const child = spawn(process.execPath, [worker, file, simulator.url], {
          env: { ...process.env, ...env },
          stdio: 'inherit',
        })
        const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
        return signal ?? code
      }
      try {
        // Two deaths: the third would send the run to a person.
        expect(await run({ REPRISE_CRASH_AT: crashAt })).toBe('SIGKILL')
        expect(await run({ REPRISE_CRASH_AT: crashAt })).toBe('SIGKILL')
        expect(await run({})).toBe(0)
        const store = sqlite({ file })
        const view = await store.get({ task: 'crash', key: 'one' })
        expect(view).toMatchObject({ state: 'succeeded' })
        expect(JSON.parse(view?.output ?? '')).toMatchObject({ rung: 'gemini:pro', value: { total: 4159.63 } })
        // What was stored is never bought again; what was sent and not stored is, once for each death.
        expect(simulator.requests()).toHaveLength(requests)
        const { budgets } = await store.budgets()
        const day = budgets[0]?.windows.find(({ window }) => window === 'day')
        expect(day?.use.calls).toMatchObject({ spent: 1, reserved: 0 })
        expect(await store.verify()).toEqual([])
        await store.close()
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    120_000,
  )
})
