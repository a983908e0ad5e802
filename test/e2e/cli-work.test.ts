/**
 * The commands that submit and work, in process.
 */
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cwd, jsonOf, liveInDurableWorld, reprise, store, world } from './durable-commands.fixtures.ts'

liveInDurableWorld()

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

  test('a key that is taken is refused alone, and what was submitted beside and before it is told', async () => {
    const lines = Array.from({ length: 1_002 }, (_, id) => `{"id":${id}}`)
    await reprise(['submit', 'bulk', '{"other":1}', '--key', '1001'])
    const taken = await reprise(['submit', 'bulk', '-', '--key-from', 'id'], { stdin: lines.join('\n') })
    expect([taken.exit, taken.err.replaceAll(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining('The 1000 runs before and those beside it were submitted; with keys it is harmless'),
    ])
    expect((await store.count({ tasks: ['bulk'] })).map(({ runs }) => runs)).toEqual([1_002])
    const alone = await reprise(['submit', 'bulk', '{"other":2}', '--key', '1001'])
    expect(alone.err).toContain('Nothing was submitted.')
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

  test('retention by count, with artifacts, is the worker’s too', async () => {
    await app(
      'app.mjs',
      `export default (reprise) => { reprise.task('greet', {}, async (input, ctx) => { await ctx.artifact('card', input.name) }) }`,
    )
    const env = { REPRISE_STORE: 'sqlite:./new.db', REPRISE_APP: './app.mjs', REPRISE_ARTIFACTS: 'folder:./kept' }
    const kept = async () => (await readdir(join(cwd, 'kept'))).filter((name) => /^r\d+$/.test(name)).sort()
    for (const name of ['Ada', 'Bo', 'Cy'])
      await reprise(['submit', 'greet', `{"name":"${name}"}`], { real: true, env })
    await reprise(['work', '--once', '--quiet'], { real: true, env })
    expect(await kept()).toEqual(['r1', 'r2', 'r3'])
    const limits = { REPRISE_KEEP_MAX: '2', REPRISE_KEEP_ARTIFACTS: 'with-run' }
    await reprise(['work', '--once', '--quiet'], { real: true, env: { ...env, ...limits } })
    expect(await kept()).toEqual(['r2', 'r3'])
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
