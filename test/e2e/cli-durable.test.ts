/**
 * The commands that read a store, in process: what they tell, where the store comes from, and every way in which they are refused.
 */
import { copyFile, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/stores/sqlite/schema.ts'
import { cwd, jsonOf, liveInDurableWorld, reprise, store } from './durable-commands.fixtures.ts'
import { HOSTILE } from './durable-world.fixtures.ts'

liveInDurableWorld()

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
