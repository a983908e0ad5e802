import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createReprise } from '../create-reprise.ts'
import { ladder } from '../ladder/ladder.ts'
import { person, rung } from '../ladder/rung.ts'
import { memory } from '../stores/memory/index.ts'
import { type FakeAnswer, fakeModel } from '../testing/fake-model.ts'
import { accountOf, alwaysStrongest } from './account.ts'
import { findDocuments } from './documents.ts'
import { createExtraction, type ExtractionOptions } from './extraction.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reprise-extract-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const write = (name: string, content: string | Uint8Array) => writeFile(join(folder, name), content)
const schema = { type: 'object', required: ['total'], properties: { total: { type: 'number' } } }
const rules = [{ name: 'positive', path: '/total', check: ({ total }: { total: number }) => total > 0 }]

/** An extraction on a store in memory, with two scripted models and a desk. */
function world(
  flashAnswers: readonly FakeAnswer[],
  proAnswers: readonly FakeAnswer[] = [],
  more: Partial<ExtractionOptions> = {},
  store = memory(),
) {
  const flash = fakeModel(flashAnswers, { id: 'google/gemini-flash-latest' })
  const pro = fakeModel(proAnswers, { id: 'google/gemini-pro-latest' })
  const reprise = createReprise({ store })
  const rungs = ladder([rung(flash, { attempts: 2 }), rung(pro), person({ queue: 'accounts' })])
  const extraction = createExtraction(reprise, { schema, gate: rules as never, ladder: rungs, ...more })
  const work = async () => {
    const worker = reprise.work({ concurrency: 1, categories: [extraction.category], pollMs: 10 })
    await worker.idle()
    await worker.stop()
  }
  const submit = async (options?: { retryFailed?: boolean }) =>
    extraction.submit(await findDocuments(['.'], { cwd: folder }), options)
  const accounts = async (runs: Awaited<ReturnType<typeof submit>>) =>
    Promise.all(
      runs.map(async ({ run }) => {
        const view = await store.get({ id: run })
        if (!view) throw new Error(`no run ${run}`)
        return accountOf(store, view)
      }),
    )
  return { flash, pro, extraction, reprise, store, work, submit, accounts, rungs }
}

const ok = { json: { total: 3 } }

describe('what a document takes', () => {
  test.each<[string, readonly FakeAnswer[], readonly FakeAnswer[], object]>([
    ['right at once', [ok], [], { outcome: 'right', recourse: 'first', calls: 1, kinds: [] }],
    ['repaired', ['```json\n{"total": 3}\n```'], [], { outcome: 'right', recourse: 'repaired', calls: 1 }],
    [
      'asked again',
      ['no', ok],
      [],
      { outcome: 'right', recourse: 'asked', calls: 2, kinds: ['syntax'], codes: ['answer.syntax'] },
    ],
    [
      'stronger',
      ['no', { json: { total: -1 } }],
      [ok],
      { outcome: 'right', recourse: 'stronger', rung: 'gemini:pro', calls: 3, kinds: ['syntax', 'semantic'] },
    ],
    [
      'a person',
      ['no', 'nor this'],
      ['nor that'],
      { outcome: 'person', recourse: 'person', calls: 3, kinds: ['syntax'] },
    ],
    ['refused', [{ text: '', finish: 'content-filter' }], [], { outcome: 'person', calls: 1, kinds: ['refused'] }],
  ])('%s', async (_, flash, pro, expected) => {
    await write('a.md', 'an invoice')
    const { submit, work, accounts } = world(flash, pro)
    const runs = await submit()
    await work()
    expect(await accounts(runs)).toMatchObject([{ name: 'a', ...expected }])
  })

  test('an empty document fails without asking anybody', async () => {
    await write('a.md', ' \n')
    const { submit, work, accounts, flash } = world([ok])
    const runs = await submit()
    await work()
    expect(await accounts(runs)).toMatchObject([
      { outcome: 'failed', recourse: 'nothing', calls: 0, reason: 'a is empty', codes: ['document.empty'] },
    ])
    expect(flash.asked).toHaveLength(0)
  })

  test('a picture alone is shown at once; beside a text it joins with the first correction', async () => {
    await write('alone.png', 'png')
    await write('both.png', 'png of both')
    await write('both.txt', 'text')
    const { submit, work, flash } = world([ok, 'no', ok])
    expect((await submit()).map(({ document }) => document.name)).toEqual(['alone', 'both'])
    await work()
    expect(flash.asked.map(({ files }) => files)).toEqual([1, 0, 1])
  })
})

describe('a document is known by its bytes, the schema, the prompt and the ladder', () => {
  test('renamed, moved or copied, it is not bought again', async () => {
    await write('a.md', 'an invoice')
    const { submit, work, flash, accounts } = world([ok])
    const [before] = await submit()
    await work()
    await mkdir(join(folder, 'sub'))
    await rename(join(folder, 'a.md'), join(folder, 'sub', 'b.md'))
    await write('c.md', 'an invoice')
    const runs = await submit()
    await work()
    expect(runs.map(({ document, run, created }) => [document.name, run, created])).toEqual([
      ['c', before?.run, false],
      ['b', before?.run, false],
    ])
    expect(await accounts(runs)).toMatchObject([{ outcome: 'right' }, { outcome: 'right' }])
    expect(flash.asked).toHaveLength(1)
  })

  test('a file that was moved before its run began is read where it lies now', async () => {
    await write('a.md', 'an invoice')
    const { submit, work, accounts } = world([ok])
    await submit()
    await rename(join(folder, 'a.md'), join(folder, 'b.md'))
    const runs = await submit()
    await work()
    expect(await accounts(runs)).toMatchObject([{ outcome: 'right' }])
  })

  test('a file that changed after it was submitted fails, and as it is now it is another document', async () => {
    await write('a.md', 'an invoice')
    const { submit, work, accounts, flash } = world([ok])
    const before = await submit()
    await write('a.md', 'another')
    await work()
    expect(await accounts(before)).toMatchObject([{ outcome: 'failed', codes: ['document.gone'], calls: 0 }])
    const after = await submit()
    await work()
    expect(after[0]).toMatchObject({ created: true })
    expect(flash.asked).toHaveLength(1)
  })

  test.each<[string, Partial<ExtractionOptions>]>([
    ['prompt', { prompt: 'Another one.' }],
    ['schema', { schema: { ...schema, title: 'other' } }],
    ['variant', { variant: 'simulated' }],
  ])('another %s is another question', async (_, more) => {
    await write('a.md', 'an invoice')
    const first = world([ok])
    const second = world([ok], [], more, first.store)
    await first.submit()
    await first.work()
    expect(await second.submit()).toMatchObject([{ created: true }])
    // The worker of one question leaves the runs of another alone.
    await first.work()
    expect(second.flash.asked).toHaveLength(0)
    await second.work()
    expect(second.flash.asked).toHaveLength(1)
  })

  test('what failed stays failed unless it is asked for anew', async () => {
    await write('a.md', 'an invoice')
    const store = memory()
    const rungs = (answers: readonly FakeAnswer[]) =>
      ladder([rung(fakeModel(answers, { id: 'google/gemini-flash-latest' }))])
    const first = world([], [], { ladder: rungs(['no']) }, store)
    const runs = await first.submit()
    await first.work()
    expect(await first.accounts(runs)).toMatchObject([{ outcome: 'failed', codes: ['ladder.spent'] }])
    const second = world([], [], { ladder: rungs([ok]) }, store)
    await second.submit()
    await second.work()
    expect(await second.accounts(runs)).toMatchObject([{ outcome: 'failed' }])
    await second.submit({ retryFailed: true })
    await second.work()
    expect(await second.accounts(runs)).toMatchObject([{ outcome: 'right', calls: 1 }])
  })
})

describe('finding documents', () => {
  test('folders give what can be read, files that cannot are refused by name', async () => {
    await write('a.md', 'x')
    await write('.hidden.md', 'x')
    await write('b.docx', 'x')
    expect((await findDocuments(['.'], { cwd: folder })).map(({ name }) => name)).toEqual(['a'])
    await expect(findDocuments(['b.docx'], { cwd: folder })).rejects.toThrow(/b\.docx cannot be read\. Allowed: \.md/)
    await expect(findDocuments(['nothing.md'], { cwd: folder })).rejects.toThrow(
      'nothing.md cannot be read: there is no such file or folder',
    )
  })

  test('names that repeat are told apart by their path, and two texts of a name are two documents', async () => {
    await mkdir(join(folder, 'sub'))
    await write('a.md', '1')
    await write('a.txt', '2')
    await write('sub/a.md', '3')
    expect((await findDocuments(['.'], { cwd: folder })).map(({ name }) => name)).toEqual(['a.md', 'a.txt', 'sub/a.md'])
  })
})

describe('what the strongest model would have cost', () => {
  const { rungs } = world([])
  const answer = (name: string, input: number, output: number, reasoning = 0) => ({
    rung: name,
    usd: 0,
    tokens: { input, output, reasoning },
  })

  test('the tokens of first answers at its price, with the thought that was seen', () => {
    const accounts = [
      { calls: 1, answers: [answer('gemini:flash', 1_000, 100)] },
      { calls: 2, answers: [answer('gemini:flash', 1_000, 100), answer('gemini:pro', 2_000, 900, 800)] },
      // Refused: no tokens, taken for an ordinary one. Empty: never asked.
      { calls: 1, answers: [] },
      { calls: 0, answers: [] },
    ]
    // 1,000 × 1.25 + (100 + 800) × 10 dollars per million, three times.
    expect(alwaysStrongest(accounts, rungs)).toEqual({
      rung: 'gemini:pro',
      usd: expect.closeTo(3 * 0.01025, 9),
      isFloor: false,
    })
  })

  test('never heard, it costs at least its price without thought', () => {
    const accounts = [{ calls: 1, answers: [answer('gemini:flash', 1_000, 100)] }]
    expect(alwaysStrongest(accounts, rungs)).toMatchObject({ usd: expect.closeTo(0.00225, 9), isFloor: true })
  })
})
