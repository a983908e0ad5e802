/**
 * `reprise sweep` on an embedded source and bus: passes, verbs, exit codes, metrics scraped and pushed.
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeConsole } from '../../src/cli/fake-console.fixtures.ts'
import { run } from '../../src/cli/run.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { sqliteSource } from '../../src/sources/sqlite/index.ts'
import type { PassReport } from '../../src/sweep/sweep.ts'
import { systemClock } from '../../src/time/clock.ts'
import { noPushgateway, pushgatewayService } from '../services/pushgateway.ts'

const SRC = fileURLToPath(new URL('../../src/', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'reprise-cli-sweep-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** As an application writes it, with the sources of this repository. */
const CONFIG = `
import { memoryBus } from '${SRC}bus/memory/index.ts'
const bus = memoryBus()
await bus.prepare([{ queue: 'parsing', topics: ['archive.ingested'] }])
export default {
  source: 'sqlite:./documents.db',
  bus,
  interval: '1h',
  collections: [{ name: 'archives', idField: 'archive_id', event: { type: 'ArchiveIngested', topic: 'archive.ingested' },
    failures: { queue: 'parsing.failed', topics: ['parsing.failed'] } }],
}
`

const DAY = 86_400_000
let folder = ''
let worlds = 0
const line = (words: string, env: Record<string, string> = {}) =>
  runLine(`sweep ${words} --config sweep.ts`, { cwd: folder, clock: systemClock, env: { USER: 'ana', ...env } })

/** One pass in a process of its own. */
async function passOf(cwd: string): Promise<PassReport> {
  const words = [`${SRC}cli/main.ts`, '--json', 'sweep', '--once', '--config', 'sweep.ts']
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd })
  return JSON.parse(stdout) as PassReport
}

beforeEach(async () => {
  folder = mkdtempSync(join(root, `${worlds++}-`))
  writeFileSync(join(folder, 'sweep.ts'), CONFIG)
  const source = sqliteSource({ file: join(folder, 'documents.db') })
  const old = Date.now() - 2 * DAY
  await source.put('archives', [
    { id: 'stuck', createdAt: old },
    { id: 'spent', attempts: 3, lastAttemptAt: old, createdAt: old },
    { id: 'fresh' },
  ])
  await source.close()
})

describe('reprise sweep', () => {
  test('a dry run tells and changes nothing; a pass does it; the next has nothing to do', async () => {
    const look = await line('--once --dry-run')
    expect(look).toMatchObject({ exit: 0, err: '' })
    expect(look.out).toMatch(/archives +1 +1 +0 +2 +0 +well/)
    const passed = await line('--once')
    expect(passed.exit).toBe(0)
    expect(passed.out).toMatch(/archives +1 +1 +0 +2 +1 +well/)
    expect(passed.err).toContain('archives spent failed for good after 3 attempts')
    const [report] = (
      await runLine('--json sweep --once --config sweep.ts', { cwd: folder, clock: systemClock })
    ).out.split('\n')
    expect(JSON.parse(report ?? '')).toMatchObject({ ok: true, collections: [{ begun: 0, ended: 0, failed: 1 }] })
  })

  test('verbs: failed, reset by name, export, purge by what was exported', async () => {
    await line('--once')
    expect((await line('failed')).out).toContain('spent')
    expect((await line('stuck')).out).toContain('No document is stuck.')
    const look = await line('reset archives --of failed')
    expect(look.out).toContain('Would reset 1 document of archives: spent. Nothing has changed yet;')
    const many = await line('reset archives --of open')
    expect(many.out.replace(/\s+/g, ' ')).toContain(
      'Would reset 2 documents of archives: stuck, fresh, spread over 5 min',
    )
    const exported = await line('export archives --out failed.jsonl')
    expect(exported.out).toContain('1 document in failed.jsonl.')
    expect((await line('export archives --out failed.jsonl')).exit).toBe(2)
    expect(JSON.parse(readFileSync(join(folder, 'failed.jsonl'), 'utf8'))).toMatchObject({ id: 'spent', attempts: 3 })
    expect((await line('purge archives')).exit).toBe(2)
    expect((await line('purge archives --from failed.jsonl')).out).toContain('Would purge 1 document')
    const reset = await line('reset archives spent')
    expect(reset.out).toContain('1 document of archives is begun again: spent.')
    expect((await line('purge archives --from failed.jsonl --yes')).out).toContain(
      '0 documents of archives are deleted',
    )
    expect((await line('reset archives nobody')).exit).toBe(1)
    expect((await line('schedule archives fresh --at 2h')).out).toContain('1 document of archives is scheduled: fresh.')
    expect((await line('status')).out).toMatch(/archives +3 +5 min, 10 min +24 h/)
    const [scheduled, ...before] = (await line('audit')).out.trim().split('\n').slice(1)
    expect(scheduled).toMatch(/^\d\d:\d\d:\d\d +ana +schedule +archives +1\/1 +open \{"ids":\["fresh"\]\}$/)
    expect(before.map((each) => each.split(/ +/)[2])).toEqual(['purge', 'reset'])
    expect(JSON.parse((await line('audit --json --limit 1')).out)).toMatchObject({ by: 'ana', what: 'schedule' })
  })

  test('a purge reads its file to the end before it deletes by it', async () => {
    await line('--once')
    await line('export archives --out failed.jsonl')
    writeFileSync(join(folder, 'bad.jsonl'), `${readFileSync(join(folder, 'failed.jsonl'), 'utf8')}{"id":"x"}\n`)
    const purged = await line('purge archives --from bad.jsonl --yes')
    expect(purged.exit).toBe(2)
    expect(purged.err).toContain('Line 2 of bad.jsonl is no line of an export.')
    expect((await line('failed')).out).toContain('spent')
  })

  test('bad input is told with what is allowed, and exits 2', async () => {
    expect((await line('frob')).err).toContain('frob is not a verb of sweep.')
    expect((await line('reset nobody x')).err).toContain('There is no collection "nobody". Allowed: archives.')
    const wrong = await line('--once', { RETRY_JOB_MAX_ATTEMPTS_ARCHIVES: 'many' })
    expect(wrong.exit).toBe(2)
    expect(wrong.err).toContain('RETRY_JOB_MAX_ATTEMPTS_ARCHIVES: "many" is not allowed')
    expect(await runLine('sweep --once', { cwd: folder })).toMatchObject({ exit: 2 })
    const gone = await runLine('sweep --once --config nowhere.ts', { cwd: folder })
    expect(gone).toMatchObject({ exit: 2 })
    const reach = {
      MONGODB_HOST: '127.0.0.1',
      MONGODB_PORT: '1',
      MONGODB_DATABASE: 'x',
      MONGODB_USERNAME: 'u',
      MONGODB_PASSWORD: 'canary-secret',
    }
    const down = await runLine('sweep failed', { cwd: folder, env: reach, clock: systemClock })
    expect(down.exit).toBe(3)
    expect(down.err).not.toContain('canary')
  })

  test('an option that a verb does not look at is refused, and nothing is done', async () => {
    for (const [words, said] of [
      ['requeue archives stuck --at 2h', '--at is not an option of sweep requeue.'],
      ['stuck --of open', '--of is not an option of sweep stuck.'],
      ['failed --yes', '--yes is not an option of sweep failed.'],
      ['status --limit 3', '--limit is not an option of sweep status.'],
      ['purge archives a-17 --from x', 'sweep purge does not know what to do with "a-17".'],
      ['queue list --from x', '--from is not an option of sweep queue list.'],
      ['queue purge parsing.failed --from x --spread 1m', '--spread is not an option of sweep queue purge.'],
      ['--once --spread 1m', '--spread is not an option of sweep.'],
      ['--interval 100ms', '--interval 100 ms is not allowed.'],
    ] as const) {
      const refused = await line(words)
      expect(refused.exit, words).toBe(2)
      expect(refused.err, words).toContain(said)
    }
    expect((await line('stuck')).out).toContain('stuck')
  })

  test('a file is checked to its last field', async () => {
    let files = 0
    const wrong = async (fields: string) => {
      const file = `wrong-${files++}.ts`
      writeFileSync(join(folder, file), `export default { source: 'sqlite:./documents.db', ${fields} }`)
      const { exit, err } = await runLine(`sweep status --config ${file}`, { cwd: folder, clock: systemClock })
      return { exit, err: err.replace(/\s+/g, ' ') }
    }
    for (const [fields, said] of [
      ['colections: []', 'colections is not a field of a sweep; allowed are source, bus,'],
      ['collections: {}', 'collections: {} is not allowed; allowed is a list of collections'],
      ['collections: [null]', 'collections[]: null is not allowed; allowed is a collection'],
      ['interval: "0s"', 'interval: 0s is not allowed; allowed is 1s and more'],
      ['exchange: 5', 'exchange: 5 is not allowed; allowed is a word'],
      ['rules: "x"', 'rules: "x" is not allowed'],
      ['sendLease: "soon"', 'sendLease: "soon" is not a duration'],
    ] as const)
      expect(await wrong(fields), fields).toMatchObject({ exit: 2, err: expect.stringContaining(said) })
    const misspelt = await line('--once', { RETRY_JOB_INTERVAL: '5' })
    expect(misspelt).toMatchObject({
      exit: 2,
      err: expect.stringContaining('RETRY_JOB_INTERVAL: there is no such variable'),
    })
  })

  test('a look at a source that is away exits 3 and shows no noughts', async () => {
    const env = { MONGODB_HOST: '127.0.0.1', MONGODB_PORT: '1', MONGODB_DATABASE: 'x' }
    for (const words of ['sweep status', 'sweep --once --dry-run'])
      expect(await runLine(words, { cwd: folder, env, clock: systemClock })).toMatchObject({
        exit: 3,
        out: '',
        err: expect.stringContaining('SOURCE_UNAVAILABLE'),
      })
    writeFileSync(join(folder, 'documents.db'), 'no database at all, whatever its name says')
    for (const words of ['status', '--once --dry-run', '--once', 'failed'])
      expect(await line(words), words).toMatchObject({
        exit: 3,
        err: expect.stringContaining('file is not a database'),
      })
  }, 30_000)

  test('queues: an empty one says so, one that is not there is refused', async () => {
    expect((await line('queue list')).out).toMatch(/parsing\.failed +0\n/)
    expect((await line('queue list nobody')).err).toContain('There is no queue "nobody".')
    expect((await line('queue purge nobody --from x')).exit).toBe(2)
    expect((await line('groups archivs')).err).toContain('There is no collection "archivs". Allowed: archives.')
  })

  test('two processes on one file begin every document once', async () => {
    const source = sqliteSource({ file: join(folder, 'documents.db') })
    const old = Date.now() - 2 * DAY
    const many = Array.from({ length: 900 }, (_, index) => ({ id: `many-${index}`, createdAt: old + index }))
    await source.put('archives', many)
    await source.close()
    const reports = await Promise.all([passOf(folder), passOf(folder)])
    const sum = (of: (report: PassReport) => number) => reports.reduce((total, each) => total + of(each), 0)
    expect(sum(({ collections }) => collections[0]?.begun ?? 0)).toBe(901)
    expect(sum(({ collections }) => collections[0]?.ended ?? 0)).toBe(1)
    expect(reports.map(({ ok }) => ok)).toEqual([true, true])
  })

  test('as a daemon it serves metrics and readiness, and stops when told', async () => {
    const console = fakeConsole({ env: { USER: 'ana' } })
    const stop = new AbortController()
    const done = run('sweep --config sweep.ts --metrics-port 0'.split(' '), {
      console,
      clock: systemClock,
      cwd: folder,
      version: '0.1.0',
      interruption: () => stop.signal,
    })
    await expect.poll(() => console.written.out, { timeout: 10_000 }).toContain('"event":"sweep.passed"')
    const [, url = ''] = /(http:\S+)\/metrics/.exec(console.written.err) ?? []
    const text = await (await fetch(`${url}/metrics`)).text()
    expect(text).toContain('retry_job_documents_requeued_total{collection="archives"} 1')
    expect(text).toContain('retry_job_interval_seconds 3600')
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405)
    expect(console.written.out).toContain('"level":50')
    stop.abort()
    expect(await done).toBe(0)
  })

  test('a single pass pushes, and counters add up over processes', async (context) => {
    const reason = noPushgateway()
    if (reason !== undefined) return context.skip(reason)
    const gateway = await pushgatewayService()
    try {
      const env = { METRICS_BACKEND: 'prometheus_pushgateway', PUSHGATEWAY_URL: gateway.url }
      await line('--once', env)
      await line('--once', env)
      const text = await (await fetch(`${gateway.url}/metrics`)).text()
      const value = (name: string) =>
        text
          .split('\n')
          .find((each) => each.startsWith(`${name}{`) && !each.includes('failure'))
          ?.split(' ')[1]
      expect(value('retry_job_documents_requeued_total')).toBe('1')
      expect(value('retry_job_documents_max_retries_exceeded_total')).toBe('1')
      expect(value('retry_job_runs_total')).toBe('2')
      expect(value('retry_job_failed_documents')).toBe('1')
      expect(value('retry_job_stuck_documents')).toBe('0')
      expect(Number(value('retry_job_last_success_timestamp_seconds'))).toBeGreaterThan(Date.now() / 1_000 - 60)
      await gateway.kill()
      const unpushed = await line('--once', env)
      expect(unpushed.exit).toBe(0)
      expect(unpushed.err).toContain('did not take the metrics')
    } finally {
      await gateway.dispose()
    }
  })
})
