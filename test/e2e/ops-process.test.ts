/**
 * The durable commands as processes on a real SQLite file: the whole way of a run, signals, and kill -9.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const bin = join(root, 'bin/reprise.js')
let cwd: string
const children = new Set<ChildProcessWithoutNullStreams>()

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reprise-ops-cwd-'))
  await cp(join(root, 'examples/first-run/app.ts'), join(cwd, 'app.ts'))
})
afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
  children.clear()
  await rm(cwd, { recursive: true, force: true })
})

const env = { ...process.env, FORCE_COLOR: undefined, USER: 'ann', REPRISE_APP: './app.ts' }

function reprise(...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...words], {
    cwd,
    env,
    encoding: 'utf8',
    input: '',
  })
  return { exit: status, out: stdout, err: stderr }
}

const objects = (out: string): Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

/** A worker in its own process; `heard` resolves when it has told `count` events of a name. */
function startWorker(...words: string[]) {
  const child = spawn(process.execPath, [bin, 'work', ...words], { cwd, env })
  children.add(child)
  const told = { out: '', err: '' }
  const listeners = new Set<() => void>()
  child.stdout.on('data', (chunk) => {
    told.out += String(chunk)
    for (const listener of listeners) listener()
  })
  child.stderr.on('data', (chunk) => {
    told.err += String(chunk)
  })
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal })),
  )
  const heard = (event: string, count: number) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const lines = told.out.split('\n').filter((line) => line.includes(`"event":"${event}"`))
        if (lines.length >= count) resolve()
      }
      listeners.add(look)
      look()
      void ended.then(() => reject(new Error(`it ended before ${count} × ${event}: ${told.out}${told.err}`)))
    })
  return { child, told, ended, heard }
}

const run = (name: string) =>
  objects(reprise('show', name, '--json').out)[0] as { word: string; run: Record<string, unknown> }

describe('the way of a run, process by process', () => {
  // Twenty processes, one after the other.
  test('submit → work --once → show → explain → retry → cancel', { timeout: 180_000 }, () => {
    expect(reprise('submit', 'greet', '{"name":"Ada"}', '--key', 'ada')).toMatchObject({
      exit: 0,
      out: 'r1  submitted\n',
    })
    expect(reprise('submit', 'greet', '{"name":"Bob","down":9}', '--key', 'bob').out).toBe('r2  submitted\n')
    expect(reprise('submit', 'greet', '{"nam":"Cy"}', '--key', 'cy').out).toBe('r3  submitted\n')
    const worked = reprise('work', '--once')
    expect(worked.exit).toBe(0)
    expect(worked.err).toMatch(/Worked for [^:]+: 1 waiting, 1 done, 1 failed\.\n$/)
    expect(objects(worked.out).at(-1)).toMatchObject({ event: 'worker.stopped' })

    expect(reprise('show', 'ada').out).toContain('output     {"greeting":"Hello, Ada"}')
    expect(reprise('show', 'greet/bob').out).toMatch(
      /◔ waiting\nAttempt 2 at [\s\S]+~ {2}transient {2}The greeter is overloaded \(http\.503\)/,
    )
    expect(reprise('explain', 'bob')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('1 decision computed again: equal.'),
    })
    expect(reprise('retry', '--where', 'state:failed')).toMatchObject({
      exit: 0,
      out: expect.stringContaining('Nothing has changed yet.'),
    })
    expect(reprise('retry', 'cy')).toMatchObject({ exit: 0, out: 'Retried 1 run.\n' })
    expect(reprise('cancel', 'bob')).toMatchObject({ exit: 0, out: 'Cancelled 1 run.\n' })
    expect(reprise('retry', 'ada').exit).toBe(1)
    expect(reprise('work', '--once').err).toContain('1 failed')
    expect(run('cy')).toMatchObject({ word: 'failed', run: { generation: 2 } })
    expect(run('bob')).toMatchObject({ word: 'cancelled', headline: 'Cancelled by ann.' })
    expect(reprise('verify', '--decisions')).toMatchObject({ exit: 0, out: expect.stringContaining('is sound') })
    expect(objects(reprise('export').out)).toHaveLength(3)
    expect(reprise('show', 'r4')).toMatchObject({ exit: 1, err: expect.stringContaining('No run r4.') })
  })
})

describe('signals', () => {
  const submitSlow = (count: number, ms: number) =>
    spawnSync(process.execPath, [bin, 'submit', 'slow', '-'], { cwd, env, input: `{"ms":${ms}}\n`.repeat(count) })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: calls under way end first, exit 0, no attempt is lost',
    async (signal) => {
      submitSlow(3, 600)
      const worker = startWorker()
      await worker.heard('attempt.started', 3)
      worker.child.kill(signal)
      expect(await worker.ended).toEqual({ code: 0, signal: null })
      expect(worker.told.err).toContain(
        'Stopping: 3 calls end first (Ctrl-C again leaves now; nothing paid for is lost).',
      )
      expect(worker.told.err).toMatch(/Worked for [^:]+: 3 done\.\n$/)
      const right = { word: 'succeeded', run: { attempt: 1 } }
      expect(objects(reprise('runs', '--json').out)).toMatchObject([right, right, right])
    },
  )

  test('with too little time to drain, the runs are given back uncounted and the next worker goes on', async () => {
    submitSlow(2, 5_000)
    const worker = startWorker('--drain', '100ms')
    await worker.heard('attempt.started', 2)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toEqual({ code: 0, signal: null })
    const given = { run: { ledgers: { errors: 0, interruptions: 1 } } }
    expect(objects(reprise('runs', '--json').out)).toMatchObject([given, given])
    expect(reprise('verify', '--decisions').exit).toBe(0)
  })

  test('a second Ctrl-C leaves at once; the lease ends by itself', async () => {
    submitSlow(1, 20_000)
    const worker = startWorker('--lease', '1s')
    await worker.heard('attempt.started', 1)
    worker.child.kill('SIGINT')
    await worker.heard('worker.stopping', 1)
    await new Promise((resolve) => setTimeout(resolve, 400))
    worker.child.kill('SIGINT')
    expect((await worker.ended).code).toBe(130)
  })

  test('kill -9: the next worker takes the run up again, and every decision can be computed again', async () => {
    await writeFile(
      join(cwd, 'app.ts'),
      `import { existsSync } from 'node:fs'
       export default (reprise: { task: Function }) => reprise.task('once', {}, async (_: unknown, ctx: { call: Function }) => {
         await ctx.call('paid', () => 'answer')
         if (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 20_000))
         return ctx.call('second', () => 'right')
       })`,
    )
    reprise('submit', 'once', '1')
    const first = startWorker('--lease', '1s', '--log-level', 'debug')
    await first.heard('call.answered', 1)
    first.child.kill('SIGKILL')
    expect((await first.ended).signal).toBe('SIGKILL')
    await writeFile(join(cwd, 'go'), '')
    const next = reprise('work', '--until', 'settled', '--lease', '1s', '--log-level', 'debug')
    expect(next.exit).toBe(0)
    expect(next.out).toContain('"event":"call.replayed"')
    const told = run('r1')
    expect(told).toMatchObject({ word: 'succeeded', run: { attempt: 2 } })
    expect(reprise('explain', 'r1').exit).toBe(0)
    expect(reprise('verify', '--decisions')).toMatchObject({ exit: 0 })
  })

  test('an app that keeps something open does not keep the process', async () => {
    await writeFile(
      join(cwd, 'app.ts'),
      `setInterval(() => {}, 1_000)\nexport default (reprise: { task: Function }) => reprise.task('greet', {}, () => 1)`,
    )
    expect(reprise('work', '--once').exit).toBe(0)
  })
})

describe('pipes', () => {
  test('an export into a reader that leaves early is no failure', () => {
    const input = `${JSON.stringify({ name: 'x'.repeat(100_000) })}\n`.repeat(5)
    spawnSync(process.execPath, [bin, 'submit', 'greet', '-'], { cwd, env, input })
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `"${process.execPath}" "${bin}" export | head -c 50`], {
      cwd,
      env,
      encoding: 'utf8',
    })
    expect({ status, length: stdout.length, stderr }).toEqual({ status: 0, length: 50, stderr: '' })
  })

  test('the store that is not there: error, cause, try, exit 3', () => {
    expect(reprise('runs')).toEqual({
      exit: 3,
      out: '',
      err: [
        'error  There is no store at sqlite:reprise.db.',
        'cause  there is no such file',
        'try    `reprise submit` makes it; --store or REPRISE_STORE names another.',
        '       STORE_UNAVAILABLE, exit 3. No run was touched.\n',
      ].join('\n'),
    })
  })
})
