import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { claimRequest, freshFile, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'

const driver = fileURLToPath(new URL('./index.ts', import.meta.url))

/** Runs a script in a process of its own, with the driver and the file at hand, and gives what it printed. */
async function inProcess(file: string, script: string): Promise<string> {
  const source = `import { sqlite } from ${JSON.stringify(driver)}\nconst store = sqlite({ file: ${JSON.stringify(file)} })\n${script}`
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '--eval', source])
  return (await run).stdout
}

describe('several processes on one file', () => {
  test('open a new file at once, and each of their runs is claimed exactly once', async () => {
    const file = freshFile()
    const script = `
      for (let index = 0; index < 20; index += 1) await store.create([{ task: 't', input: '1', priority: 0 }])
      const ids = []
      for (let index = 0; index < 40; index += 1) {
        const { runs, token } = await store.claim({ worker: 'p' + process.pid, nonce: process.pid + '-' + index, limit: 3, leaseMs: 60000, alone: false, tasks: ['t'] })
        for (const { id } of runs) if ((await store.commit({ type: 'end', run: id, token, state: 'succeeded' })).answer === 'ok') ids.push(id)
      }
      await store.close()
      console.log(JSON.stringify(ids))`
    const printed = await Promise.all(Array.from({ length: 3 }, () => inProcess(file, script)))
    const ids = printed.flatMap((text) => JSON.parse(text) as string[])
    expect(new Set(ids).size).toBe(ids.length)
    const store = sqlite({ file })
    expect(ids.length).toBe(60)
    expect(await store.count({})).toEqual([{ task: 't', state: 'succeeded', runs: 60 }])
    expect(await store.verify()).toEqual([])
    await store.close()
  })

  test("another process's submit is hinted at", async () => {
    const file = freshFile()
    const store = sqlite({ file })
    await store.create([newRun({ task: 'mine' })])
    const hinted = new Promise<void>((resolve) => {
      const stop = store.watch(() => {
        stop()
        resolve()
      })
    })
    await inProcess(file, `await store.create([{ task: 't', input: '1', priority: 0 }]); await store.close()`)
    await hinted
    expect((await store.claim(claimRequest())).runs).toHaveLength(1)
    await store.close()
  })

  test('watching keeps no process alive', async () => {
    const file = freshFile()
    expect(await inProcess(file, "await store.get({ id: 'r1' }); store.watch(() => {}); console.log('done')")).toBe(
      'done\n',
    )
  })

  test('a killed process loses nothing that was acknowledged', async () => {
    const file = freshFile()
    await expect(
      inProcess(
        file,
        "await store.create([{ task: 't', input: '1', priority: 0 }]); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {})",
      ),
    ).rejects.toMatchObject({ signal: 'SIGKILL' })
    const store = sqlite({ file })
    expect(await store.count({})).toEqual([{ task: 't', state: 'ready', runs: 1 }])
    expect(await store.verify()).toEqual([])
    await store.close()
  })
})

describe('store time', () => {
  test('never goes back, not even for a process that starts after the clock was set back', async () => {
    const file = freshFile()
    let now = 10_000_000
    const clock = { now: () => now, monotonic: () => now, after: () => () => undefined, sleep: async () => undefined }
    const first = sqlite({ file, clock })
    await first.create([newRun(), newRun()])
    await first.claim(claimRequest({ limit: 1 }))
    now = 1_000_000
    const second = sqlite({ file, clock: { ...clock, monotonic: () => 0 } })
    expect((await second.claim(claimRequest({ limit: 1 }))).now).toBe(10_000_000)
    await first.close()
    await second.close()
  })

  test('a leap of a day takes no lease away, in the process that leaps and in its neighbour; what really passes does', async () => {
    const file = freshFile()
    const hands = { wall: 10_000_000, monotonic: 0 }
    const hostClock = (leapMs: () => number) => ({
      now: () => hands.wall + leapMs(),
      monotonic: () => hands.monotonic,
      after: () => () => undefined,
      sleep: async () => undefined,
    })
    const pass = (ms: number) => {
      hands.wall += ms
      hands.monotonic += ms
    }
    let leapMs = 0
    const leaper = sqlite({ file, clock: hostClock(() => leapMs) })
    const neighbour = sqlite({ file, clock: hostClock(() => 0) })
    await leaper.create([newRun(), newRun()])
    await leaper.claim(claimRequest({ limit: 1, leaseMs: 1_000 }))
    const held = await neighbour.claim(claimRequest({ limit: 1, leaseMs: 1_000 }))
    pass(400)
    leapMs = 86_400_000
    expect((await leaper.claim(claimRequest())).runs).toEqual([])
    expect((await neighbour.claim(claimRequest())).runs).toEqual([])
    const [run] = held.runs
    expect(
      await neighbour.commit({ type: 'end', run: run?.id ?? '', token: held.token, state: 'succeeded' }),
    ).toMatchObject({
      answer: 'ok',
    })
    pass(599)
    expect((await leaper.claim(claimRequest())).runs).toEqual([])
    pass(1)
    expect((await leaper.claim(claimRequest({ alone: true }))).runs.map(({ id }) => id)).toEqual(['r1'])
    await leaper.close()
    await neighbour.close()
  })
})
