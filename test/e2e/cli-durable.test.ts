/**
 * The commands that need a store, run in process: what they change, what they tell, and every way in which they are refused.
 */
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type FakeOptions, fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import type { Store } from '../../src/ports/store.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { SCHEMA_VERSION } from '../../src/stores/sqlite/schema.ts'
import { systemClock } from '../../src/time/clock.ts'
import { type DurableWorld, durableWorld, HOSTILE } from './durable-world.fixtures.ts'

let world: DurableWorld
let cwd: string
let store: Store
beforeAll(async () => {
  world = await durableWorld()
})
afterAll(() => world.remove())
beforeEach(async () => {
  cwd = await world.folder()
  store = sqlite({ file: join(cwd, 'reprise.db'), clock: world.clock })
})
afterEach(() => store.close())

interface Options extends FakeOptions {
  readonly real?: boolean
  readonly stop?: AbortSignal
}

async function reprise(words: readonly string[], options: Options = {}) {
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

const jsonOf = (out: string): Record<string, unknown>[] =>
  out
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

describe('what is written cannot move the cursor, whatever is stored', () => {
  test.each([
    ['runs'],
    ['show', 'r3'],
    ['explain', 'r3'],
    ['export', 'evil'],
    ['stats'],
    ['retry', '--where', 'state:failed'],
  ])('%s %s', async (...words) => {
    for (const more of [[], ['--json']]) {
      const { out, err } = await reprise([...words, ...more], { isTTY: true, columns: 80, env: { NO_COLOR: '1' } })
      expect(out + err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      expect(out.length).toBeGreaterThan(0)
    }
  })

  test('the same value comes back from JSON', async () => {
    const { objects } = await reprise(['export', 'evil'])
    expect(objects()[0]).toMatchObject({ run: { id: 'r3', input: { says: HOSTILE } } })
  })

  test('hostile words that are typed are cleaned too', async () => {
    const { err, exit } = await reprise(['show', HOSTILE])
    expect(exit).toBe(1)
    expect(err).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/)
    expect(err).toContain('No run red')
  })
})

describe('as data', () => {
  test('runs: one object per run, with its sentence and its marks', async () => {
    const { objects, err } = await reprise(['runs', 'kind:transient', '--json'])
    expect(objects()).toMatchObject([
      {
        run: { id: 'r2', key: 'bob' },
        word: 'waiting',
        marks: ['transient', 'transient', 'transient'],
        sentence: expect.stringContaining('3 of 8 errors used'),
      },
    ])
    expect(err).toBe('')
  })

  test('an empty list says so to people only', async () => {
    const { out, err, exit } = await reprise(['runs', 'state:blocked', '--json'])
    expect({ out, err, exit }).toEqual({
      out: '',
      err: 'No run matches. Without state:blocked there are 7.\n',
      exit: 0,
    })
  })

  test('show: the whole story, secrets masked', async () => {
    const { objects, out } = await reprise(['show', 'ada', '--json'])
    expect(objects()[0]).toMatchObject({ headline: 'Right at the first attempt.', run: { id: 'r1' }, takes: 1 })
    expect(out).not.toContain('hunter2')
  })

  test('explain: every input of the decision', async () => {
    const { objects } = await reprise(['explain', 'bob', '2', '--json'])
    expect(objects()).toMatchObject([
      {
        run: 'r2',
        attempt: 2,
        verdict: 'equal',
        inputs: { dice: 0.5, policy: { name: 'daemon' }, ledgers: { errors: 1 } },
      },
    ])
  })

  test.each([
    ['stats'],
    ['verify'],
    ['migrate'],
    ['retry', '--where', 'state:failed'],
    ['cancel', 'r2'],
    ['submit', 'greet'],
  ])('%s %s %s: one object', async (...words) => {
    const { objects, exit } = await reprise([...words, '--json'])
    expect({ count: objects().length, exit }).toEqual({ count: 1, exit: 0 })
  })
})

describe('retry and cancel', () => {
  test('a filter only looks until --yes is added', async () => {
    await reprise(['retry', '--where', 'state:failed'])
    expect(await store.get({ id: 'r3' })).toMatchObject({ state: 'failed', generation: 1 })
    await reprise(['retry', '--where', 'state:failed', '--yes'])
    expect(await store.get({ id: 'r3' })).toMatchObject({
      state: 'ready',
      generation: 2,
      why: { params: { by: 'ann' } },
    })
    expect(await store.notes({ limit: 1 })).toMatchObject([{ by: 'ann', what: 'retry.many', data: { done: 1 } }])
  })

  test('named runs are done at once, unless --dry-run; by whom can be told', async () => {
    await reprise(['cancel', 'bob', '--dry-run'])
    expect(await store.get({ id: 'r2' })).toMatchObject({ state: 'waiting' })
    await reprise(['cancel', 'bob', 'greet/eve', '--by', 'night shift'])
    expect(await store.get({ id: 'r2' })).toMatchObject({ state: 'cancelled', why: { params: { by: 'night shift' } } })
    expect(await store.get({ id: 'r7' })).toMatchObject({ state: 'cancelled' })
  })

  test('a slip in the last name leaves the first one untouched', async () => {
    const { exit, err } = await reprise(['cancel', 'r2', 'r999'])
    expect(exit).toBe(1)
    expect(err).toContain('No run r999.')
    expect(await store.get({ id: 'r2' })).toMatchObject({ state: 'waiting' })
  })

  test.each([
    [['retry'], 'There is nothing to retry'],
    [['cancel', 'r2', '--where', 'state:failed'], 'Either runs or --where'],
    [['cancel', 'r2', '--yes', '--dry-run'], 'Either --yes or --dry-run'],
    [['retry', '--where', 'stat:failed'], '"stat:failed" is not understood'],
    [['cancel', 'r2', '--by', ''], '--by is empty'],
  ])('%s is asked wrongly', async (words, message) => {
    const { exit, err } = await reprise(words)
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })
})

describe('submit', () => {
  test('with everything', async () => {
    const { out } = await reprise([
      'submit',
      'greet',
      '{"name":"Fay"}',
      '--key',
      'fay',
      '--priority',
      '-3',
      '--at',
      '10m',
      '--category',
      'eu',
      '--deadline',
      '2h',
      '--max-cost',
      '0.25',
    ])
    expect(out).toBe('r8  submitted\n')
    const now = world.clock.now()
    expect(await store.get({ id: 'r8' })).toMatchObject({
      ...{ key: 'fay', priority: -3, category: 'eu', maxCostUsd: 0.25, state: 'waiting', input: '{"name":"Fay"}' },
      ...{ dueAt: now + 600_000, deadlineAt: now + 7_200_000 },
    })
  })

  test('one run for each line of stdin, with keys from their inputs', async () => {
    const stdin = '{"id":1}\n\n{"id":"two"}\n{"id":1}\n'
    const { objects, exit } = await reprise(['submit', 'greet', '-', '--key-from', 'id', '--json'], { stdin })
    expect(exit).toBe(0)
    expect(objects()).toMatchObject([
      { id: 'r8', created: true },
      { id: 'r9', created: true },
      { id: 'r8', created: false },
    ])
  })

  test('many lines, in batches', async () => {
    const stdin = Array.from({ length: 2_500 }, (_, id) => `{"id":${id}}`).join('\n')
    const { out } = await reprise(['submit', 'bulk', '-'], { stdin })
    expect(out.trimEnd().split('\n')).toHaveLength(2_500)
    const counts = await store.count({ tasks: ['bulk'] })
    expect(counts).toEqual([{ task: 'bulk', state: 'ready', runs: 2_500 }])
  })

  test('a failed run under its key, again', async () => {
    await reprise(['submit', 'greet', '1', '--key', 'k'])
    await reprise(['cancel', 'k'])
    await reprise(['submit', 'greet', '1', '--key', 'k', '--on-existing', 'retry'])
    expect(await store.get({ task: 'greet', key: 'k' })).toMatchObject({ generation: 2, state: 'ready' })
  })

  test.each([
    [['greet', '{name:1}'], 'The input is not JSON', undefined],
    [['greet', '-'], 'Line 2 is not JSON: oops', '1\noops\n'],
    [['greet', '-', '--key', 'k'], '--key is for one run', '1\n'],
    [['greet', '-', '--key-from', 'id'], 'has no field id', '{"x":1}\n'],
    [['gr eet'], 'task name is "gr eet"', undefined],
    [['greet', '1', '--category', 'a b'], 'category is "a b"', undefined],
    [['greet', '1', '--priority', '9999'], '--priority 9999 is not allowed', undefined],
    [['greet', '1', '--at', 'soon'], '--at soon is neither a duration nor an instant', undefined],
    [['greet', '1', '--max-cost', '-1'], '--max-cost -1 is not an amount', undefined],
    [['greet', '1', '--key', 'x'.repeat(300)], 'text of', undefined],
    [['greet', '1', '--on-existing', 'replace'], 'There is no act replace', undefined],
  ])('%s is refused, and nothing is submitted', async (words, message, stdin) => {
    const { exit, err } = await reprise(['submit', ...words], stdin === undefined ? {} : { stdin })
    expect(exit).toBe(2)
    expect(err).toContain(message)
    expect(await store.get({ id: 'r8' })).toBeUndefined()
  })
})

describe('the store', () => {
  test('a reader leaves no file behind where there is none', async () => {
    const { exit } = await reprise(['runs', '--store', 'sqlite:./typo.db'])
    expect(exit).toBe(3)
    expect(await readdir(cwd)).not.toContain('typo.db')
  })

  test('comes from flag, variable or file', async () => {
    await writeFile(join(cwd, 'reprise.config.js'), "export default { store: 'sqlite:./other.db' }")
    expect((await reprise(['migrate'])).out).toContain(`sqlite:other.db: schema ${SCHEMA_VERSION} is made.`)
    expect((await reprise(['runs'], { env: { REPRISE_STORE: 'sqlite:./reprise.db' } })).out).toContain(
      'invoice.extract',
    )
    expect((await reprise(['stats', '--store', 'sqlite:./other.db'])).out).toBe('No runs yet.\n')
  })

  test.each([
    ['a file that is no database', 'sqlite:./notes.txt', 'file is not a database'],
    ['a folder that does not exist', 'sqlite:./no/such/x.db', 'directory does not exist'],
  ])('%s', async (_, address, cause) => {
    await writeFile(join(cwd, 'notes.txt'), 'This is a letter and no database. '.repeat(200))
    const { exit, err } = await reprise(['submit', 'greet', '--store', address])
    expect(exit).toBe(3)
    expect(err).toMatch(/^error {2}The store cannot be used: sqlite:/)
    expect(err.replaceAll(/\s+/g, ' ')).toContain(cause)
    expect(err).toContain('STORE_UNAVAILABLE, exit 3. No run was touched.')
  })

  test('a newer schema is refused and not touched', async () => {
    await store.close()
    const { default: Database } = await import('better-sqlite3')
    const database = new Database(join(cwd, 'reprise.db'))
    database.exec("UPDATE reprise_meta SET value = 99 WHERE name = 'schema'")
    database.close()
    const before = (await stat(join(cwd, 'reprise.db'))).mtimeMs
    for (const words of [['runs'], ['migrate'], ['submit', 'greet']]) {
      const { exit, err } = await reprise(words)
      expect(exit).toBe(3)
      expect(err.replaceAll(/\s+/g, ' ')).toContain(
        `has schema 99, this version of Reprise knows up to ${SCHEMA_VERSION}`,
      )
    }
    expect((await stat(join(cwd, 'reprise.db'))).mtimeMs).toBe(before)
  })

  test('a finding is told, with exit code 1', async () => {
    await store.close()
    const { default: Database } = await import('better-sqlite3')
    const database = new Database(join(cwd, 'reprise.db'))
    database.exec('UPDATE reprise_run SET errors = 7 WHERE id = 2')
    database.close()
    const verified = await reprise(['verify'])
    expect(verified.exit).toBe(1)
    expect(verified.out).toMatch(
      /✗ 1 finding in sqlite:reprise\.db\.\n\nrun {2}law +found\nr2 +ledgers are the fold of history/,
    )
    const explained = await reprise(['explain', 'bob'])
    expect(explained.exit).toBe(1)
    expect(explained.out.replaceAll(/\s+/g, ' ')).toContain('ledgers are not what its history adds up to')
  })

  test('a password in an address is nowhere', async () => {
    const { err, out } = await reprise(['runs', '--store', 'postgres://app:s3cretpw@db/x'])
    expect(out + err).not.toContain('s3cretpw')
  })
})

describe('export', () => {
  test('to a new file, which is not replaced', async () => {
    const { out, exit } = await reprise(['export', 'state:succeeded,failed', '--out', 'x.jsonl'])
    expect({ out, exit }).toEqual({ out: '2 runs in x.jsonl.\n', exit: 0 })
    const text = await readFile(join(cwd, 'x.jsonl'), 'utf8')
    expect(jsonOf(text)).toMatchObject([
      { run: { id: 'r3' }, attempts: [{ attempt: 1 }] },
      { run: { id: 'r1' }, journal: [{ name: 'model' }] },
    ])
    expect(text).not.toContain('hunter2')
    const again = await reprise(['export', '--out', 'x.jsonl'])
    expect(again.exit).toBe(2)
    expect(again.err).toContain('it exists already')
  })
})

describe('reprioritise and reschedule', () => {
  test('another priority, with its history and its note', async () => {
    const { objects } = await reprise(['reprioritise', 'r7', '--to', '-5', '--json'])
    expect(objects()).toMatchObject([{ verb: 'reprioritise', dryRun: false, done: 1, skipped: [] }])
    expect(await store.get({ id: 'r7' })).toMatchObject({ state: 'ready', priority: -5 })
    expect((await store.attempts('r7')).at(-1)).toMatchObject({ outcome: 'operator', worker: 'ann' })
    expect((await reprise(['show', 'r7'])).out).toContain('Priority 5 → -5 by ann')
    expect(await store.verify()).toEqual([])
  })

  test('another time, from now or an instant, and the story tells it', async () => {
    const at = world.clock.now() + 7_200_000
    await reprise(['reschedule', 'r5', 'r7', '--at', String(at)])
    for (const id of ['r5', 'r7']) expect(await store.get({ id })).toMatchObject({ state: 'waiting', dueAt: at })
    expect((await reprise(['show', 'r7'])).out).toContain('Rescheduled by ann')
    await reprise(['reschedule', 'r5', '--in', '0s'])
    expect((await store.get({ id: 'r5' }))?.state).toBe('ready')
    expect((await reprise(['verify', '--decisions'])).exit).toBe(0)
  })

  test('a filter only looks until it is told', async () => {
    const { objects } = await reprise(['reschedule', '--where', 'state:waiting', '--in', '1h', '--json'])
    expect(objects()).toMatchObject([{ dryRun: true, eligible: 3, done: 0 }])
    expect(await store.notes({})).toEqual([])
  })

  test('a run in a worker’s hands is left alone', async () => {
    await store.claim({ worker: 'w', nonce: 'n', limit: 9, leaseMs: 60_000, alone: false, tasks: ['greet'] })
    const { exit, out } = await reprise(['reprioritise', 'r7', '--to', '1'])
    expect([exit, out]).toEqual([1, expect.stringContaining('r7 is left as it is: it is running.')])
  })

  test.each([
    [['reprioritise', 'r7'], 'Which priority?'],
    [['reprioritise', 'r7', '--to', '5000'], '--to 5000 is not allowed'],
    [['reschedule', 'r7'], 'When? Give either --at or --in.'],
    [['reschedule', 'r7', '--in', '1h', '--at', '1'], 'When? Give either --at or --in.'],
    [['reschedule', 'r7', '--in', 'soon'], '--in soon is not a duration'],
  ])('%j is asked wrongly', async (words, message) => {
    const { exit, err } = await reprise(words)
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
  })
})

describe('purge and vacuum', () => {
  test('a look counts and changes nothing', async () => {
    const { objects } = await reprise(['purge', '--older-than', '1s', '--json'])
    expect(objects()).toEqual([
      {
        dryRun: true,
        matched: [
          { task: 'greet', state: 'succeeded', runs: 1 },
          { task: 'greet', state: 'failed', runs: 1 },
        ],
        done: 0,
        keys: 0,
      },
    ])
    expect(await store.get({ id: 'r1' })).toBeDefined()
    expect(await store.notes({})).toEqual([])
  })

  test('in earnest: what ended so is gone, all else stays, and the audit tells', async () => {
    const { objects } = await reprise(['purge', '--older-than', '1s', '--state', 'succeeded', '--yes', '--json'])
    expect(objects()).toMatchObject([{ dryRun: false, done: 1, keys: 0 }])
    expect((await store.find({ limit: 10 })).runs.map(({ id }) => id)).toEqual(['r7', 'r6', 'r5', 'r4', 'r3', 'r2'])
    expect(await store.notes({})).toMatchObject([
      { by: 'ann', what: 'purge', data: { olderThanMs: 1_000, states: 'succeeded', done: 1 } },
    ])
    // Its key answers for a week.
    expect((await reprise(['submit', 'greet', '{"name":"Eva"}', '--key', 'ada'])).err).toContain('Key "ada" of greet')
    expect(await store.verify()).toEqual([])
  })

  test('a younger run stays', async () => {
    expect((await reprise(['purge', '--older-than', '1d', '--yes', '--json'])).objects()).toMatchObject([{ done: 0 }])
    expect((await store.find({ limit: 10 })).runs).toHaveLength(7)
  })

  test('vacuum gives the space back and tells how much', async () => {
    const big = JSON.stringify('x'.repeat(100_000))
    await store.create(Array.from({ length: 40 }, () => ({ task: 'big', input: big, priority: 0 })))
    const { runs, token } = await store.claim({
      ...{ worker: 'w', nonce: 'n', limit: 40, leaseMs: 1_000, alone: false, tasks: ['big'] },
    })
    await Promise.all(runs.map(({ id }) => store.commit({ type: 'end', run: id, token, state: 'succeeded' })))
    await store.create([{ task: 'big', input: '1', priority: 0 }])
    await reprise(['purge', '--older-than', '0s', '--yes'])
    const [told] = (await reprise(['vacuum', '--json'])).objects() as { bytesBefore: number; bytesAfter: number }[]
    expect(told?.bytesBefore).toBeGreaterThan(4_000_000)
    expect(told?.bytesAfter).toBeLessThan(1_000_000)
    expect((await stat(join(cwd, 'reprise.db'))).size).toBeLessThan(1_000_000)
    expect(await store.verify()).toEqual([])
    expect((await reprise(['vacuum'])).out).toMatch(/^✓ sqlite:reprise\.db: \d+\.\d KB → \d+\.\d KB\.\n$/)
  })

  test('only a SQLite file is vacuumed', async () => {
    const { exit, err } = await reprise(['vacuum', '--store', 'memory:'])
    expect([exit, err]).toEqual([2, expect.stringContaining('Only a SQLite file is vacuumed')])
  })
})

describe('work, in process', () => {
  const app = (name: string, text: string) => writeFile(join(cwd, name), text)
  const GREET = `export default (reprise) => { reprise.task('greet', {}, (input) => { if (!input.name) throw Object.assign(new Error('no name'), { status: 422 }); return 'Hello, ' + input.name }) }`

  test('in a pipe: JSON lines on stdout, words on stderr', async () => {
    await app('app.mjs', GREET)
    const { exit, out, err } = await reprise(['work', '--app', './app.mjs', '--once', '--store', 'sqlite:./new.db'], {
      real: true,
    })
    expect(exit).toBe(0)
    expect(jsonOf(out).map(({ event }) => event)).toEqual(['worker.started', 'worker.stopping', 'worker.stopped'])
    expect(err).toMatch(/^Working on sqlite:new\.db, 16 at a time\.\nWorked for \S+ m?s: 0 done\.\n$/)
  })

  test('what it does is told, run by run, and the result can be waited for', async () => {
    await app('app.mjs', GREET)
    await reprise(['submit', 'greet', '{"name":"Ada"}', '--store', 'sqlite:./new.db'], { real: true })
    await reprise(['submit', 'greet', '{}', '--key', 'bad', '--store', 'sqlite:./new.db'], { real: true })
    const { out, err } = await reprise(
      ['work', '--app', './app.mjs', '--until', 'settled', '--store', 'sqlite:./new.db'],
      { real: true },
    )
    expect(jsonOf(out).map(({ event }) => event)).toEqual(expect.arrayContaining(['run.succeeded', 'run.failed']))
    expect(err).toContain('1 done, 1 failed.')
    const right = await reprise(
      ['submit', 'greet', '{}', '--key', 'bad', '--wait', '--json', '--store', 'sqlite:./new.db'],
      { real: true },
    )
    expect(right.exit).toBe(1)
    expect(right.objects()).toMatchObject([{ id: 'r2', state: 'failed', ok: false, failure: { code: 'http.422' } }])
    const late = await reprise(['submit', 'greet', '{"name":"Bo"}', '--wait', '50ms', '--store', 'sqlite:./new.db'], {
      real: true,
    })
    expect(late.exit).toBe(1)
    expect(late.err).toContain('NOT_YET, exit 1. It was submitted and goes on.')
  })

  test('on a terminal: the block, and only what is of interest above it', async () => {
    await app('app.mjs', GREET)
    for (const input of ['{"name":"Ada"}', '{}'])
      await reprise(['submit', 'greet', input, '--store', 'sqlite:./new.db'], { real: true })
    const { out } = await reprise(['work', '--app', './app.mjs', '--once', '--store', 'sqlite:./new.db'], {
      real: true,
      isTTY: true,
      columns: 80,
      env: { NO_COLOR: '1' },
    })
    expect(out).toContain('● 0 running   ◔ 0 waiting   ✓ 0 done   ✗ 0 failed')
    expect(out).toMatch(/✗ {2}r2 {2}Failed after 1 attempt/)
    expect(out).not.toContain('r1  Succeeded')
    expect(out.slice(out.lastIndexOf('\u001b[J'))).toMatch(/Worked for \S+ m?s: 1 done, 1 failed\.\n$/)
  })

  test('told to stop: it says so and ends well', async () => {
    await app('app.mjs', GREET)
    const { exit, err } = await reprise(['work', '--app', './app.mjs', '--store', 'sqlite:./new.db'], {
      real: true,
      stop: AbortSignal.abort(),
    })
    expect(exit).toBe(0)
    expect(err).toContain('Stopping: nothing is under way.')
  })

  test('the configured retention is the worker’s', async () => {
    await app('app.mjs', GREET)
    const env = { REPRISE_STORE: 'sqlite:./new.db', REPRISE_APP: './app.mjs' }
    const left = async () => (await reprise(['runs', '--json'], { real: true, env })).objects().length
    for (const name of ['Ada', 'Bo']) await reprise(['submit', 'greet', `{"name":"${name}"}`], { real: true, env })
    await reprise(['work', '--once', '--quiet'], { real: true, env })
    expect(await left()).toBe(2)
    const { out } = await reprise(['work', '--once'], { real: true, env: { ...env, REPRISE_KEEP_SUCCEEDED: '0' } })
    expect(jsonOf(out)).toContainEqual(expect.objectContaining({ event: 'store.pruned', runs: 1 }))
    expect(await left()).toBe(1)
  })

  test('the configuration’s policy goes before the task’s own', async () => {
    await app(
      'app.mjs',
      `export default (reprise) => { reprise.task('greet', { policy: 'daemon' }, () => { throw Object.assign(new Error('down'), { status: 503 }) }) }`,
    )
    await app(
      'reprise.config.js',
      `export default { app: './app.mjs', store: 'sqlite:./new.db', policies: { greet: { name: 'once', maxAttempts: 1 } } }`,
    )
    await reprise(['submit', 'greet'], { real: true })
    await reprise(['work', '--once', '--quiet'], { real: true })
    expect((await reprise(['explain', 'r1'], { real: true })).out).toContain('policy once')
    expect((await reprise(['show', 'r1'], { real: true })).out).toContain('✗ failed')
  })

  test.each([
    ['nothing.mjs', undefined, 'cannot be loaded'],
    ['broken.mjs', 'export default (', 'cannot be loaded'],
    ['empty.mjs', 'export const x = 1', 'exports nothing that works'],
    ['number.mjs', 'export default 42', 'exports nothing that works'],
    [
      'throws.mjs',
      'export default () => { throw new Error("no database") }',
      'failed while it registered its handlers',
    ],
    [
      'twice.mjs',
      `export default (r) => { r.task('a', {}, () => 1); r.task('a', {}, () => 2) }`,
      'failed while it registered',
    ],
    ['none.mjs', 'export default () => {}', 'work() has no handlers to run'],
  ])('%s is refused', async (name, text, message) => {
    if (text !== undefined) await app(name, text)
    const { exit, err } = await reprise(['work', '--app', `./${name}`, '--once'], { real: true })
    expect(exit).toBe(2)
    expect(err).toContain(message)
  })

  test('a task without a handler, and a word that is no end', async () => {
    await app('app.mjs', GREET)
    const tasks = await reprise(['work', '--app', './app.mjs', '--once', '--tasks', 'greet,other'], { real: true })
    expect({ exit: tasks.exit, err: tasks.err.includes('"other", which has no handler. Allowed: greet') }).toEqual({
      exit: 2,
      err: true,
    })
    const until = await reprise(['work', '--app', './app.mjs', '--until', 'monday'], { real: true })
    expect({ exit: until.exit, err: until.err.includes('There is no end monday.') }).toEqual({ exit: 2, err: true })
  })

  test('an app with an instance of its own uses its own store', async () => {
    const root = new URL('../../src/', import.meta.url).href
    await app(
      'own.mjs',
      `import { createReprise } from '${root}engine/reprise.ts'
       import { sqlite } from '${root}stores/sqlite/index.ts'
       export const reprise = createReprise({ store: sqlite({ file: ${JSON.stringify(join(cwd, 'own.db'))} }) })
       reprise.task('greet', {}, () => 'hi')`,
    )
    const mixed = await reprise(['work', '--app', './own.mjs', '--once', '--store', 'sqlite:./other.db'], {
      real: true,
    })
    expect({ exit: mixed.exit, err: mixed.err.includes('brings its own store') }).toEqual({ exit: 2, err: true })
  })
})

describe('the guide', () => {
  /** Words as a shell would split them: single quotes hold a word together, a hash begins a comment. */
  const wordsOf = (line: string): string[] =>
    [...line.replace(/\s#.*$/, '').matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '')

  test('every command of docs/guides/operate.md runs, in the order in which it stands there', async () => {
    const root = new URL('../../', import.meta.url)
    const guide = await readFile(new URL('docs/guides/operate.md', root), 'utf8')
    const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block ?? '')
    const lines = blocks.flatMap((block) => block.split('\n')).filter((line) => line.startsWith('reprise '))
    expect(lines.length).toBeGreaterThan(12)
    await copyFile(new URL('examples/first-run/app.ts', root), join(cwd, 'app.ts'))
    const env = { REPRISE_APP: './app.ts', REPRISE_STORE: 'sqlite:./tour.db' }
    for (const line of lines) {
      const { exit, err } = await reprise(wordsOf(line).slice(1), { real: true, env })
      expect({ line, exit, err: exit === 0 ? '' : err }).toEqual({ line, exit: 0, err: '' })
    }
  })
})

describe('holds', () => {
  test('are listed, set and released, and a run says that it is held for everyone', async () => {
    expect((await reprise(['holds'])).err + (await reprise(['holds'])).out).toContain(
      'No hold. Nobody is told to wait.',
    )
    const set = await reprise(['holds', 'set', 'task:greet', '--for', '1h', '--why', 'new prompt'])
    expect(set.exit).toBe(0)
    const [listed] = (await store.holds()).holds
    expect(listed).toMatchObject({ what: 'task:greet', by: 'ann', why: 'new prompt', phase: 'held', waiting: 1 })
    const list = (await reprise(['holds'])).out
    expect(list).toMatch(/task:greet .*ann .*new prompt/)
    expect((await reprise(['show', 'r7'])).out.replace(/\s+/g, ' ')).toContain('Held for everyone.')
    expect((await reprise(['holds', 'release', 'task:greet'])).exit).toBe(0)
    expect((await store.holds()).holds).toEqual([])
    expect((await reprise(['holds', 'release', 'task:greet'])).exit).toBe(1)
    expect((await store.notes({})).slice(-2).map(({ by, what }) => `${by} ${what}`)).toEqual([
      'ann hold.set',
      'ann hold.released',
    ])
  })

  test.each([
    [['holds', 'stop'], 'not a verb of holds'],
    [['holds', 'set'], 'nothing to set'],
    [['holds', 'set', 'task:greet'], 'needs a reason'],
    [['holds', 'set', 'flash', '--why', 'x'], 'cannot be held'],
    [['holds', 'set', 'task:greet', '--why', 'x', '--for', 'soon'], '--for'],
  ])('%j is refused and says what is allowed', async (words, says) => {
    const { exit, err } = await reprise(words)
    expect(exit).toBe(2)
    expect(err).toContain(says)
    expect((await store.holds()).holds).toEqual([])
  })
})
