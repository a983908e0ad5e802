/**
 * `reprise incidents` from a breach to its end: a pass opens one, a person answers it, a real receiver hears of it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { createIncidents, type Sighting, verify } from '../../src/incidents/index.ts'
import { sqliteSource } from '../../src/sources/sqlite/index.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { virtualClock } from '../../src/testing/virtual-clock.ts'
import { businessHours } from '../../src/time/business-hours.ts'
import { systemClock } from '../../src/time/clock.ts'

const DAY = 86_400_000
/** Monday, 2026-11-16, 09:00 in Berlin. */
const MONDAY = Date.parse('2026-11-16T08:00:00Z')
const SECRET = 'canary-secret-canary-secret'
const root = mkdtempSync(join(tmpdir(), 'reprise-cli-incidents-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

let cwd = ''
let worlds = 0
beforeEach(() => {
  cwd = mkdtempSync(join(root, `${worlds++}-`))
})

const seen = (subject: string, more: Partial<Sighting>): Sighting => ({
  subject,
  stuck: 0,
  oldestStuckMs: 0,
  exhausted: 0,
  failed: 0,
  isPartial: false,
  ...more,
})

/** i-000001 tier 2, i-000002 tier 3, i-000003 tier 4; two hours later. */
async function openThree() {
  const clock = virtualClock({ startAt: MONDAY })
  const store = sqlite({ file: join(cwd, 'reprise.db'), clock })
  let id = 0
  const incidents = createIncidents({
    store,
    calendar: businessHours(undefined, { zone: 'Europe/Berlin' }),
    ids: () => String(++id).padStart(6, '0'),
  })
  const sightings = [
    seen('collection:archives', { stuck: 63 }),
    seen('collection:chunks', { exhausted: 2 }),
    seen('task:summarize', { failed: 1_204 }),
  ]
  await incidents.look(sightings, { by: 'sweep' })
  await clock.advance(2 * 3_600_000)
  await store.close()
  return (line: string) => runLine(line, { cwd, clock, env: { USER: 'ana', TZ: 'Europe/Berlin' } })
}

describe('reprise incidents', () => {
  test('lists what is open, the late and the grave first', async () => {
    const line = await openThree()
    const { out, err, exit } = await line('incidents')
    expect(exit).toBe(0)
    expect(`${out}${err}`).toMatchSnapshot()
    const json = (await line('--json incidents')).out
      .trim()
      .split('\n')
      .map((each) => JSON.parse(each))
    expect(json.map(({ id, leftMs }) => [id, leftMs / 60_000])).toEqual([
      ['i-000003', -115],
      ['i-000002', -60],
      ['i-000001', 120],
    ])
  })

  test('shows one with what to do', async () => {
    const line = await openThree()
    expect((await line('incidents show i-000001')).out).toMatchSnapshot()
    expect(JSON.parse((await line('--json incidents show 000003')).out)).toMatchObject({
      tier: 4,
      runbook: 'docs/operating/runbooks.md#failureratehigh',
      steps: expect.arrayContaining(['Find the root cause.']),
    })
  })

  test('is acknowledged by one, logged, resolved with a note, and then out of the list', async () => {
    const line = await openThree()
    expect(await line('incidents ack i-000002')).toMatchObject({ exit: 0, out: expect.stringContaining('is with ana') })
    expect(await line('incidents ack i-000002 --by ben')).toMatchObject({
      exit: 1,
      out: expect.stringContaining('is with ana already'),
    })
    expect(await line('incidents log i-000002 bad-mailbox')).toMatchObject({ exit: 0 })
    expect(await line('incidents resolve i-000002 --note purged')).toMatchObject({
      exit: 0,
      out: 'Incident i-000002 is resolved.\n',
    })
    expect(await line('incidents resolve i-000002 --note twice')).toMatchObject({
      exit: 1,
      out: 'Incident i-000002 was resolved before, by ana.\n',
    })
    expect((await line('incidents')).out).not.toContain('i-000002')
    expect((await line('incidents --all')).out).toContain('resolved')
    const told = (await line('incidents show i-000002')).out
    for (const words of ['ana: bad-mailbox', 'by ana: purged', 'MaxRetriesExceeded'.toLowerCase()])
      expect(told).toContain(words)
  })

  test.each([
    ['incidents shwo', 2, 'is not a verb of incidents'],
    ['incidents ack', 2, 'There is no incident to ack'],
    ['incidents resolve i-000001', 2, 'resolved with a note'],
    ['incidents log i-000001', 2, 'nothing to write down'],
    ['incidents ack i-000001 --note mine', 2, '--note is not an option of incidents ack.'],
    ['incidents show i-000001 --all', 2, '--all is not an option of incidents show.'],
    ['incidents resolve i-000001 mended --note x', 2, 'does not know what to do with "mended"'],
    ['incidents list i-000001', 2, 'does not know what to do with "i-000001"'],
    ['incidents show i-999999', 1, 'There is no incident "i-999999"'],
    ['incidents show i-00000', 1, 'is the beginning of 3 incidents'],
    ['incidents --store sqlite:none.db', 3, 'There is no store at'],
  ])('%s: exit %d', async (words, exit, says) => {
    const line = await openThree()
    const refused = await line(words)
    expect(refused).toMatchObject({ exit, out: '' })
    expect(refused.err).toContain(says)
  })
})

async function receiver(answers: number[]) {
  const received: { id: string; type: string; isSigned: boolean }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => {
      const head = (name: string) => String(request.headers[`webhook-${name}`])
      const parts = { id: head('id'), timestamp: Number(head('timestamp')), body, signature: head('signature') }
      const isSigned = verify(SECRET, { ...parts, now: Math.floor(Date.now() / 1_000) })
      received.push({ id: parts.id, type: JSON.parse(body).type, isSigned })
      response.writeHead(answers.shift() ?? 204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/canary`
  return { received, url, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}

describe('from runs that nobody takes to incidents', () => {
  const NEW = { task: 'orphan', input: '{}', priority: 0 }

  async function workAfter(runs: number, ageMs: number, env: Record<string, string> = {}) {
    const clock = virtualClock({ startAt: Date.now() - ageMs })
    const store = sqlite({ file: join(cwd, 'reprise.db'), clock })
    await store.create(Array.from({ length: runs }, () => NEW))
    await store.close()
    writeFileSync(join(cwd, 'app.mjs'), "export default (reprise) => reprise.task('other', {}, () => undefined)\n")
    const line = (words: string) => runLine(words, { cwd, clock: systemClock, env })
    const worked = await line('work --app ./app.mjs --once')
    expect(worked, worked.err).toMatchObject({ exit: 0 })
    const { out } = await line('--json incidents')
    return out
      .split('\n')
      .filter((each) => each !== '')
      .map((each) => JSON.parse(each))
  }

  test('1,001 runs of a task without a handler open one for each tier, with runbooks of runs', async () => {
    const open = await workAfter(1_001, 25 * 3_600_000)
    expect(open.map(({ tier, subject, value, runbook }) => [tier, subject, value, runbook.split('#')[1]])).toEqual([
      [4, 'task:orphan', 1_001, 'stuckrunsthousand'],
      [3, 'task:orphan', 1_001, 'stuckrunscritical'],
      [2, 'task:orphan', 1_001, 'stuckrunswarning'],
      // Not only so many, but one of them for longer than a day.
      [2, 'task:orphan', expect.any(Number), 'stuckrunswarning'],
    ])
  })

  test('within the stuck age there is none; a shorter age is one’s own to set', async () => {
    expect(await workAfter(60, 23 * 3_600_000)).toEqual([])
    const open = await workAfter(1, 60_000, { REPRISE_STUCK_AFTER: '2h' })
    expect(open).toMatchObject([{ tier: 2, subject: 'task:orphan', value: 60 }])
  })
})

describe('from a pass to a receiver', () => {
  const CONFIG = `export default { source: 'sqlite:./documents.db', collections: [{ name: 'archives', idField: 'archive_id', stuckAge: '1h', event: { type: 'ArchiveIngested', topic: 'archive.ingested' } }] }`

  test('a pass opens an incident and tells it; the answer of a person is told by the next pass', async () => {
    writeFileSync(join(cwd, 'sweep.ts'), CONFIG)
    const source = sqliteSource({ file: join(cwd, 'documents.db') })
    const old = Date.now() - DAY / 12
    await source.put('archives', [{ id: 'spent', attempts: 3, lastAttemptAt: old, createdAt: old }])
    await source.close()
    await using hook = await receiver([])
    const env = {
      USER: 'ana',
      REPRISE_STORE: 'sqlite:./reprise.db',
      REPRISE_WEBHOOK_URL: hook.url,
      REPRISE_WEBHOOK_SECRET: SECRET,
    }
    const line = (words: string) => runLine(words, { cwd, clock: systemClock, env })
    const passed = await line('sweep --once --config sweep.ts')
    expect(passed.exit).toBe(0)
    expect(passed.err).toMatch(
      /1 document of archives ran out of attempts\. Incident i-\w{6}, tier 3, team of the service by/,
    )
    const id = /i-\w{6}/.exec(passed.err)?.[0] ?? ''
    expect(hook.received).toEqual([{ id: `${id}/opened`, type: 'incident.opened', isSigned: true }])
    await line(`incidents ack ${id}`)
    await line(`incidents resolve ${id} --note purged`)
    await line('sweep --once --config sweep.ts')
    await line('sweep --once --config sweep.ts')
    expect(hook.received.map((each) => each.id)).toEqual(
      ['opened', 'acknowledged', 'resolved'].map((word) => `${id}/${word}`),
    )
    const told = [passed, await line('config'), await line('runs'), await line('show r1'), await line('export')]
    expect(JSON.stringify(told)).not.toContain('canary')
  })

  test('without a store nothing is kept and no file is left', async () => {
    writeFileSync(join(cwd, 'sweep.ts'), CONFIG)
    const passed = await runLine('sweep --once --config sweep.ts', { cwd, clock: systemClock, env: {} })
    expect(passed.exit).toBe(0)
    const asked = await runLine('incidents', { cwd, clock: systemClock, env: {} })
    expect(asked).toMatchObject({ exit: 3 })
  })
})
