/**
 * The desk as processes on a real SQLite file: two reviewers at once, one who is killed, and one who writes in an editor.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/ports/store.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { systemClock } from '../../src/time/clock.ts'
import { reviewApp } from './review-world.fixtures.ts'

const program = fileURLToPath(new URL('../../bin/reprise.js', import.meta.url))
const children = new Set<ChildProcess>()
let cwd: string
let store: Store

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reprise-desk-'))
  const file = join(cwd, 'reprise.db')
  const { reprise, invoice } = reviewApp(file, systemClock)
  for (const number of ['1', '2', '3']) await reprise.submit(invoice, { number }, { key: number })
  const worker = reprise.work({ concurrency: 1 })
  await worker.idle()
  await worker.stop()
  await reprise.close()
  store = sqlite({ file })
})
afterEach(async () => {
  for (const child of children) if (child.exitCode === null) child.kill('SIGKILL')
  children.clear()
  await store.close()
  await rm(cwd, { recursive: true, force: true })
})

function review(words: string, env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [program, 'review', ...words.split(' ')], {
    cwd,
    env: { ...process.env, FORCE_COLOR: '0', USER: 'ann', ...env },
  })
  children.add(child)
  const told = { out: '', err: '' }
  child.stdout?.on('data', (chunk) => {
    told.out += String(chunk)
  })
  child.stderr?.on('data', (chunk) => {
    told.err += String(chunk)
  })
  const ended = once(child, 'close').then(([exit]) => ({ exit: exit as number | null, ...told }))
  return { child, ended }
}

/** An editor that is a shell script: told by what it writes that it is open. */
async function editor(script: string): Promise<Record<string, string>> {
  const path = join(cwd, 'editor.sh')
  await writeFile(path, `#!/bin/sh\n${script}\n`)
  await chmod(path, 0o755)
  return { EDITOR: path, VISUAL: '' }
}

/** Leaves its process id, and stays open. */
const SITS = 'echo $$ > "$(dirname "$0")/opened"\nexec sleep 60'

async function fileNamed(name: string): Promise<string> {
  for (;;) {
    const text = await readFile(join(cwd, name), 'utf8').catch(() => '')
    if (text !== '') return text
    await systemClock.sleep(10)
  }
}

describe('two reviewers at once', () => {
  test('of four who answer one item at once exactly one does; the others are told who', async () => {
    const names = Array.from({ length: 4 }, (_, index) => `person-${index}`)
    const all = names.map((by) => review(`answer r1 --accept --json --by ${by}`).ended)
    const answers = (await Promise.all(all)).map(({ out }) => JSON.parse(out))
    const [winner, ...more] = answers.filter(({ answer }) => answer === 'ok')
    expect([winner?.act, more]).toEqual(['answer', []])
    const rows = (await store.attempts('r1')).filter(({ outcome }) => outcome === 'operator')
    expect(rows).toHaveLength(1)
    const [row] = rows
    for (const loss of answers.filter(({ answer }) => answer !== 'ok')) {
      expect(loss).toMatchObject({ answer: 'lost' })
      expect(names).toContain(loss.by)
    }
    expect(names).toContain(row?.worker)
    const [entry] = await store.journal('r1', 1)
    expect(JSON.parse(entry?.answer ?? '')).toMatchObject({ act: 'answer', by: row?.worker })
    expect((await store.notes({ run: 'r1' })).filter(({ what }) => what === 'review.answered')).toHaveLength(1)
    expect(await store.verify()).toEqual([])
  }, 60_000)
})

describe('a reviewer who is killed', () => {
  test('between take and answer: nothing is decided, and the item comes back', async () => {
    const env = await editor(SITS)
    const { child } = review('answer r1 --edit --for 2s', env)
    const pid = Number(await fileNamed('opened'))
    expect(await store.get({ id: 'r1' })).toMatchObject({ state: 'review', lease: { worker: 'ann' } })
    const other = await review('answer r1 --accept --by bob --json').ended
    expect(JSON.parse(other.out)).toMatchObject({ answer: 'lost', reason: 'taken', by: 'ann' })
    child.kill('SIGKILL')
    await once(child, 'exit')
    process.kill(pid, 'SIGKILL')
    expect((await store.journal('r1', 1))[0]?.answer).toBeUndefined()
    const until = (await store.get({ id: 'r1' }))?.lease?.until ?? 0
    await systemClock.sleep(Math.max(0, until - systemClock.now()))
    const { out } = await review('answer r1 --accept --by bob --json').ended
    expect(JSON.parse(out)).toMatchObject({ answer: 'ok' })
    expect(await store.get({ id: 'r1' })).toMatchObject({ state: 'ready', ledgers: { lapses: 0 }, suspect: false })
    expect(await store.verify()).toEqual([])
  }, 60_000)

  test('the same person has it again at once', async () => {
    const env = await editor(SITS)
    const { child } = review('answer r2 --edit', env)
    const pid = Number(await fileNamed('opened'))
    child.kill('SIGKILL')
    await once(child, 'exit')
    process.kill(pid, 'SIGKILL')
    expect(JSON.parse((await review('answer r2 --accept --json').ended).out)).toMatchObject({ answer: 'ok' })
  }, 60_000)
})

describe('the editor', () => {
  test('opens the draft with what is wrong above it, and again with the issues until it is right', async () => {
    const env = await editor(
      `cp "${'$'}1" "${'$'}(dirname "${'$'}0")/seen-${'$'}(ls "${'$'}(dirname "${'$'}0")" | grep -c seen)"
if grep -q 'is missing' "${'$'}1"
then printf '{"supplier":"Kestrel GmbH","total":1842}' > "${'$'}1"
else printf '// mine\\n{"total":1842}' > "${'$'}1"
fi`,
    )
    const { exit, out } = await review('answer r3 --edit', env).ended
    expect([exit, out]).toEqual([0, 'r3 is answered: corrected. It goes on with the next free worker.\n'])
    const first = await fileNamed('seen-0')
    expect(first).toMatch(/^\/\/ Invoice 3: the total is not the sum of the lines\n\/\/ \/total: is not the sum/)
    expect(first).toContain('"total": 1284')
    expect(await fileNamed('seen-1')).toContain('// /supplier: is missing (required)')
    const [entry] = await store.journal('r3', 1)
    expect(JSON.parse(entry?.answer ?? '')).toMatchObject({ value: { supplier: 'Kestrel GmbH', total: 1842 } })
  }, 60_000)

  test('what was decided while a person wrote is told, and their values are kept', async () => {
    const cancel = `"${process.execPath}" "${program}" cancel r2 --by boss > /dev/null`
    const value = `printf '{"supplier":"Kestrel GmbH","total":7}' > "${'$'}1"`
    const { exit, out, err } = await review('answer r2 --edit', await editor(`${cancel}\n${value}`)).ended
    expect([exit, err]).toEqual([1, expect.stringContaining('boss moved it at')])
    const [, kept = ''] = /kept in\s+(\S+\.json)/.exec(out) ?? []
    expect(JSON.parse(await readFile(kept, 'utf8'))).toEqual({ supplier: 'Kestrel GmbH', total: 7 })
    await rm(join(kept, '..'), { recursive: true })
    expect((await store.get({ id: 'r2' }))?.state).toBe('cancelled')
  }, 60_000)

  test('an empty file gives the item back; what is wrong and saved unchanged is kept as a file', async () => {
    const empty = await review('answer r1 --edit', await editor(': > "$1"')).ended
    expect([empty.exit, empty.out]).toEqual([1, 'r1 is not answered.\n'])
    const wrong = await review('answer r1 --edit', await editor(`printf '{"total":1}' > "${'$'}1"`)).ended
    expect(wrong.exit).toBe(1)
    const [, kept = ''] = /kept in\s+(\S+\.json)/.exec(wrong.out) ?? []
    expect(await readFile(kept, 'utf8')).toBe('{"total":1}')
    await rm(join(kept, '..'), { recursive: true })
    const run = await store.get({ id: 'r1' })
    expect([run?.state, (run?.lease?.until ?? 0) <= systemClock.now()]).toEqual(['review', true])
    const broken = await review('answer r1 --edit', await editor('exit 3')).ended
    expect([broken.exit, broken.err]).toEqual([1, expect.stringContaining('exit code 3')])
  }, 60_000)
})
