/**
 * What is deleted for good, in process: only what an export holds as it is, unless it is said otherwise; and the room it leaves.
 */
import { createHash } from 'node:crypto'
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cwd, liveInDurableWorld, reprise, store } from './durable-commands.fixtures.ts'

liveInDurableWorld()

const there = async () => (await store.find({ limit: 10 })).runs.map(({ id }) => id)
const ALL = ['r7', 'r6', 'r5', 'r4', 'r3', 'r2', 'r1']
const ENDED = 'state:succeeded,failed,cancelled'

describe('purge of an export', () => {
  test('a look tells what would go and what stays; in earnest just that goes, and the audit names the file', async () => {
    await reprise(['export', '--out', 'all.jsonl'])
    const look = await reprise(['purge', '--from', 'all.jsonl', '--json'])
    const matched = [
      { task: 'greet', state: 'failed', runs: 1 },
      { task: 'greet', state: 'succeeded', runs: 1 },
    ]
    expect(look.objects()).toEqual([{ dryRun: true, matched, stays: { 'not ended': 5 }, done: 0, keys: 0 }])
    expect([await there(), await store.notes({})]).toEqual([ALL, []])
    expect((await reprise(['purge', '--from', 'all.jsonl'])).out).toMatch(
      /^Would delete 2 runs of all\.jsonl:\n[\s\S]*Not deleted: 5 not ended\.\n\nNothing has changed yet\. Add --yes to delete them\.\n$/,
    )

    const { objects } = await reprise(['purge', '--from', 'all.jsonl', '--state', 'succeeded', '--yes', '--json'])
    expect(objects()).toMatchObject([{ dryRun: false, done: 1, stays: { 'not ended': 5, 'of another state': 1 } }])
    expect(await there()).toEqual(ALL.slice(0, -1))
    const sha256 = createHash('sha256')
      .update(await readFile(join(cwd, 'all.jsonl')))
      .digest('hex')
    const data = { states: 'succeeded', done: 1, exported: true, file: 'all.jsonl', sha256 }
    expect(await store.notes({})).toMatchObject([{ by: 'ann', what: 'purge', data }])
    expect(await store.verify()).toEqual([])
    expect((await reprise(['purge', '--from', 'all.jsonl', '--yes', '--json'])).objects()).toMatchObject([
      { done: 1, stays: { gone: 1 } },
    ])
  })

  test('what was not exported stays, however old', async () => {
    await reprise(['export', 'state:failed', '--out', 'failed.jsonl'])
    await reprise(['purge', '--from', 'failed.jsonl', '--yes'])
    expect(await there()).toEqual(ALL.filter((id) => id !== 'r3'))
  })

  test('what was begun again since, and has ended again, is not what the file holds', async () => {
    await reprise(['export', ENDED, '--out', 'ended.jsonl'])
    await reprise(['retry', 'r3'])
    expect((await reprise(['purge', '--from', 'ended.jsonl', '--json'])).objects()).toMatchObject([
      { stays: { 'not ended': 1 } },
    ])
    await reprise(['cancel', 'r3'])
    const { out } = await reprise(['purge', '--from', 'ended.jsonl', '--yes'])
    expect(out).toBe('Deleted 1 run of ended.jsonl, and forgot 0 keys.\nNot deleted: 1 changed since the export.\n')
    expect(await there()).toEqual(ALL.slice(0, -1))
  })

  test('a file that holds less than the store does deletes nothing', async () => {
    await reprise(['export', ENDED, '--out', 'ended.jsonl'])
    const lines = (await readFile(join(cwd, 'ended.jsonl'), 'utf8')).trimEnd().split('\n')
    const other = lines.map((line) => line.replace('"Ada"', '"Eve"'))
    await writeFile(join(cwd, 'other.jsonl'), other.join('\n'))
    expect((await reprise(['purge', '--from', 'other.jsonl', '--json'])).objects()).toMatchObject([
      { matched: [{ state: 'failed', runs: 1 }], stays: { changed: 1 } },
    ])
    const poorer = lines.map((line) => JSON.stringify({ ...JSON.parse(line), attempts: [] }))
    await writeFile(join(cwd, 'poorer.jsonl'), poorer.join('\n'))
    // The one that succeeded at its first attempt has no history to lose.
    await reprise(['purge', '--from', 'poorer.jsonl', '--yes'])
    expect(await there()).toEqual(ALL.slice(0, -1))
  })

  test('an export that was cut off is refused whole', async () => {
    await reprise(['export', ENDED, '--out', 'ended.jsonl'])
    await appendFile(join(cwd, 'ended.jsonl'), '{"run":{"id":"r')
    const { exit, err } = await reprise(['purge', '--from', 'ended.jsonl', '--yes'])
    expect([exit, err]).toEqual([2, expect.stringContaining('Line 3 of ended.jsonl is no line of an export')])
    expect([await there(), await store.notes({})]).toEqual([ALL, []])
  })

  test('age and state narrow it further', async () => {
    await reprise(['export', '--out', 'all.jsonl'])
    const { objects } = await reprise(['purge', '--from', 'all.jsonl', '--older-than', '1d', '--yes', '--json'])
    expect(objects()).toMatchObject([{ done: 0, stays: { 'not ended': 5, 'too young': 2 } }])
    expect(await there()).toEqual(ALL)
  })

  test.each([
    [['purge', '--yes'], 'What may be deleted?'],
    [['purge', '--unexported', '--yes'], 'What may be deleted?'],
    [['purge', '--older-than', '1s', '--yes'], 'A purge deletes only what an export holds.'],
    [['purge', '--from', 'a.jsonl', '--unexported'], 'Either --from or --unexported'],
    [['purge', '--from', 'a.jsonl', '--yes', '--dry-run'], 'Either --yes or --dry-run'],
    [['purge', '--from', 'nowhere.jsonl', '--yes'], 'The file nowhere.jsonl cannot be read.'],
  ])('%j is asked wrongly, and changes nothing', async (words, message) => {
    const { exit, err } = await reprise(words)
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
    expect(await there()).toEqual(ALL)
  })

  test('the export of something else is refused', async () => {
    await writeFile(join(cwd, 'other.jsonl'), '{"run":"r1","attempts":[],"journal":[]}')
    const { exit, err } = await reprise(['purge', '--from', 'other.jsonl'])
    expect([exit, err]).toEqual([2, expect.stringContaining('Line 1 of other.jsonl is no line of an export')])
  })
})

describe('purge by age', () => {
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
    const { objects } = await reprise([
      'purge',
      '--older-than',
      '1s',
      '--state',
      'succeeded',
      '--unexported',
      '--yes',
      '--json',
    ])
    expect(objects()).toMatchObject([{ dryRun: false, done: 1, keys: 0 }])
    expect((await store.find({ limit: 10 })).runs.map(({ id }) => id)).toEqual(['r7', 'r6', 'r5', 'r4', 'r3', 'r2'])
    expect(await store.notes({})).toMatchObject([
      { by: 'ann', what: 'purge', data: { olderThanMs: 1_000, states: 'succeeded', done: 1, exported: false } },
    ])
    // Its key answers for a week.
    expect((await reprise(['submit', 'greet', '{"name":"Eva"}', '--key', 'ada'])).err).toContain('Key "ada" of greet')
    expect(await store.verify()).toEqual([])
  })

  test('a younger run stays', async () => {
    expect((await reprise(['purge', '--older-than', '1d', '--unexported', '--yes', '--json'])).objects()).toMatchObject(
      [{ done: 0 }],
    )
    expect((await store.find({ limit: 10 })).runs).toHaveLength(7)
  })
})

describe('vacuum', () => {
  test('vacuum gives the space back and tells how much', async () => {
    const big = JSON.stringify('x'.repeat(100_000))
    await store.create(Array.from({ length: 40 }, () => ({ task: 'big', input: big, priority: 0 })))
    const { runs, token } = await store.claim({
      ...{ worker: 'w', nonce: 'n', limit: 40, leaseMs: 1_000, alone: false, tasks: ['big'] },
    })
    await Promise.all(runs.map(({ id }) => store.commit({ type: 'end', run: id, token, state: 'succeeded' })))
    await store.create([{ task: 'big', input: '1', priority: 0 }])
    await reprise(['purge', '--older-than', '0s', '--unexported', '--yes'])
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
