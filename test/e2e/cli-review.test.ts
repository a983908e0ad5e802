/**
 * `reprise review` on a real SQLite file: its screens at 80 columns, its decisions, and what it refuses.
 * The pictures are files beside this test; each is taken on its own copy of one desk.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { FakeOptions } from '../../src/cli/fake-console.fixtures.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { widthOf } from '../../src/cli/terminal/text.ts'
import { sqlite } from '../../src/stores/sqlite/index.ts'
import { type ReviewWorld, reviewApp, reviewWorld } from './review-world.fixtures.ts'

const TTY = { isTTY: true, columns: 80, env: { TERM: 'xterm-256color', COLORTERM: 'truecolor', USER: 'ann' } } as const

const MODES: readonly (readonly [name: string, words: string, console: FakeOptions])[] = [
  ['terminal', '', TTY],
  ['pipe', '', { env: { USER: 'ann' } }],
  ['--plain', ' --plain', TTY],
]

const SCREENS: readonly (readonly [name: string, line: string])[] = [
  ['list', 'review'],
  ['list-queue', 'review --queue scans'],
  ['list-none', 'review --queue nobody'],
  ['show', 'review show INV-20431'],
  ['show-scan', 'review show a.png'],
  ['show-decided', 'review show INV-20430'],
  ['take', 'review take INV-20431'],
  ['accept', 'review answer INV-20431 --accept'],
  ['accept-nothing', 'review answer a.png --accept'],
  ['back', 'review answer INV-20431 --back gemini:pro --hint page-2'],
  ['back-where', 'review answer INV-20431 --back gpt'],
  ['reject', 'review answer INV-20431 --reject --reason a-letter'],
  ['reject-why', 'review answer INV-20431 --reject'],
  ['answer-decided', 'review answer INV-20430 --accept'],
  ['answer-how', 'review answer INV-20431'],
  ['answer-two', 'review answer INV-20431 --accept --back'],
  ['give-back', 'review give-back INV-20431'],
  ['verb', 'review shwo INV-20431'],
  ['export', 'review export --out gold.jsonl'],
  ['story', 'show INV-20430'],
  ['story-open', 'show INV-20431'],
]

let world: ReviewWorld
let cwd: string
beforeAll(async () => {
  world = await reviewWorld()
})
beforeEach(async () => {
  cwd = await world.folder()
})
afterAll(() => world.remove())

const review = (line: string, options: FakeOptions = {}) =>
  runLine(line, { env: { USER: 'ann' }, ...options, cwd, clock: world.clock })

async function stored(key: string, task = 'invoice') {
  const store = sqlite({ file: join(cwd, 'reprise.db'), clock: world.clock })
  const run = await store.get({ task, key })
  const notes = await store.notes({ run: run?.id ?? '' })
  const journal = await store.journal(run?.id ?? '', 1)
  await store.close()
  return { run, notes, journal }
}

describe('screens of the desk', () => {
  test.each(SCREENS)('%s', async (name, line) => {
    const pictures: string[] = []
    for (const [mode, words, console] of MODES) {
      cwd = await world.folder()
      const { out, err, exit } = await review(line + words, console)
      const text = out + err
      for (const each of text.split('\n')) expect(widthOf(each), each).toBeLessThanOrEqual(80)
      if (mode !== 'terminal') expect(text).not.toContain('\u001b')
      expect(text).not.toMatch(/[\u0000\u0007\u202e]|\]0;title/)
      pictures.push(`──── ${mode}, exit ${exit}\n${text}`)
    }
    const picture = pictures.join('\n').replaceAll('\u001b', '␛')
    await expect(picture).toMatchFileSnapshot(`cli-review-screens/${name}.txt`)
  })

  test.each([60, 120, 200])('no line is wider than a window of %i columns', async (columns) => {
    for (const [, line] of SCREENS.filter(([, each]) => !each.includes('answer'))) {
      cwd = await world.folder()
      const { out, err } = await review(line, { ...TTY, columns })
      for (const text of (out + err).split('\n')) expect(widthOf(text), `${line}: ${text}`).toBeLessThanOrEqual(columns)
    }
  })
})

describe('decisions at the desk', () => {
  test('a file is judged by the schema first: refused it changes nothing, right it is the answer', async () => {
    const before = await stored('INV-20431')
    await writeFile(join(cwd, 'wrong.json'), '{"total":"1842","net":1}')
    const refused = await review('review answer INV-20431 --file wrong.json')
    expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining('does not pass its schema')])
    expect(refused.err).toMatch(/\/supplier is missing/)
    const after = await stored('INV-20431')
    expect([after.run?.state, after.journal]).toEqual(['review', before.journal])
    const json = await review('review answer INV-20431 --file wrong.json --json')
    expect(JSON.parse(json.out)).toMatchObject({ answer: 'refused' })
    expect(JSON.parse(json.out).issues).toHaveLength(3)

    const right = await review('review answer INV-20431 --file - --json', {
      stdin: '{"supplier":"Kestrel GmbH","total":1842}',
    })
    expect(JSON.parse(right.out)).toEqual({ run: 'r1', answer: 'ok', act: 'answer', how: 'corrected' })
    const { run, notes } = await stored('INV-20431')
    expect(run).toMatchObject({ state: 'ready', why: { code: 'review.answered', params: { by: 'ann' } } })
    expect(notes.filter(({ what }) => what === 'review.answered')).toMatchObject([{ by: 'ann' }])
    expect((await review('verify')).exit).toBe(0)
  })

  test('the handler goes on with the answer', async () => {
    await review('review answer INV-20431 --accept')
    const { reprise, store } = reviewApp(join(cwd, 'reprise.db'), world.clock)
    const worker = reprise.work({ concurrency: 1 })
    await world.clock.runUntilSettled(worker.idle())
    await world.clock.runUntilSettled(worker.stop())
    const run = await store.get({ task: 'invoice', key: 'INV-20431' })
    expect(JSON.parse(run?.output ?? '')).toEqual({ supplier: 'Kestrel GmbH', total: 1284 })
    await reprise.close()
  })

  test('what one has in hand is not another’s, by name; --expect refuses what changed', async () => {
    expect((await review('review take INV-20431 --for 10m')).exit).toBe(0)
    const other = await review('review answer INV-20431 --accept --by bob')
    expect([other.exit, other.err]).toEqual([1, expect.stringContaining('ann has it in hand until 14:1')])
    const json = await review('review take INV-20431 --by bob --json')
    expect(JSON.parse(json.out)).toMatchObject({ answer: 'lost', reason: 'taken', by: 'ann' })
    expect((await review('review give-back INV-20431 --by bob')).exit).toBe(1)
    expect((await review('review give-back INV-20431')).exit).toBe(0)
    const stale = await review('review answer INV-20431 --accept --expect 1.999.zzz --by bob')
    expect([stale.exit, stale.err]).toEqual([1, expect.stringContaining('asked anew')])
    const { version } = JSON.parse((await review('review show INV-20431 --json')).out)
    expect((await review(`review answer INV-20431 --accept --by bob --expect ${version}`)).exit).toBe(0)
  })

  test('a run without a question is given its result', async () => {
    const given = await review('review answer a.png --file -', { stdin: '{"text":"read by eye"}' })
    expect([given.exit, given.out]).toEqual([0, 'r3 has its result. It has ended.\n'])
    expect((await stored('a.png', 'scan')).run).toMatchObject({ state: 'succeeded', output: '{"text":"read by eye"}' })
  })

  test('the list as JSON, and gold cases as lines', async () => {
    const { out } = await review('review --json')
    const items = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(items.map(({ key, queue, overdue }) => [key, queue, overdue])).toEqual([
      ['INV-20432', 'accounts', true],
      ['INV-20431', 'accounts', false],
      ['a.png', 'scans', false],
    ])
    await review('review export --out gold.jsonl')
    const gold = JSON.parse(await readFile(join(cwd, 'gold.jsonl'), 'utf8'))
    expect(gold).toMatchObject({
      key: 'INV-20430',
      input: { number: '20430' },
      wrong: { total: 1284 },
      right: { total: 1842 },
      checks: [{ path: '/total', code: 'gate.total' }],
      by: 'mira',
      verdict: 'corrected',
    })
    expect((await review('review export --out gold.jsonl')).exit).toBe(2)
  })
})
