/**
 * The contract of the Source port: one test per law, for any driver and any test runner.
 */
import assert from 'node:assert/strict'
import type { CollectionShape, DocumentChange, Marks, Source, SourceDocument, Where } from '../ports/source.ts'
import type { TestFunctions } from './store-contract/index.ts'

/** A document as a service writes it. */
export interface Written {
  readonly id: string
  readonly status?: string
  readonly attempts?: number
  readonly lastAttemptAt?: number
  readonly createdAt?: number
  readonly document?: Readonly<Record<string, unknown>>
}

export interface OpenedSource {
  readonly source: Source
  /** The collection that the laws may use, empty. */
  readonly shape: CollectionShape
  readonly put: (documents: readonly Written[]) => Promise<void>
  readonly close: () => Promise<void>
}

export interface SourceContract {
  readonly name: string
  readonly open: () => Promise<OpenedSource>
}

const T = 1_767_225_600_000
const MINUTE = 60_000
const MARKS: Marks = { generation: 1, delivered: 0 }
const FAILURE = {
  at: T,
  kind: 'transient',
  code: 'http.503',
  message: 'Service unavailable',
  advice: 'Wait.',
  fingerprint: 'http.503-a',
} as const

const read = async ({ source, shape }: OpenedSource, id: string): Promise<SourceDocument> => {
  const found = await source.get(shape, id)
  assert.ok(found, `document ${id} is there`)
  return found
}

const asRead = ({ id, key, rev, status, attempts, lastAttemptAt }: SourceDocument) => ({
  id,
  key,
  rev,
  status,
  attempts,
  lastAttemptAt: lastAttemptAt ?? null,
})

const mark = async (opened: OpenedSource, id: string, marks: Partial<Marks>, more: Partial<DocumentChange> = {}) => {
  const document = await read(opened, id)
  const change = { expect: asRead(document), marks: { ...document.marks, ...marks }, ...more }
  const [answer] = await opened.source.change(opened.shape, [change])
  assert.equal(answer, 'ok')
}

async function idsOf({ source, shape }: OpenedSource, where: Where, order?: 'oldest' | 'recent', limit = 2) {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await source.find(shape, {
      where,
      limit,
      ...(order ? { order } : {}),
      ...(cursor === undefined ? {} : { cursor }),
    })
    assert.ok(page.documents.length <= limit)
    ids.push(...page.documents.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== undefined)
  return ids
}

const laws: Readonly<Record<string, (opened: OpenedSource) => Promise<void>>> = {
  'a document is read with what the service wrote, and with defaults for what it did not': async (opened) => {
    const document = { title: 'x', nested: { list: [1, 'two', null] } }
    await opened.put([{ id: 'a', attempts: 2, lastAttemptAt: T, createdAt: T - 5, document }, { id: 'legacy' }])
    const a = await read(opened, 'a')
    assert.equal(a.status, 'pending')
    assert.equal(a.attempts, 2)
    assert.equal(a.lastAttemptAt, T)
    assert.equal(a.createdAt, T - 5)
    assert.deepEqual(a.marks, MARKS)
    assert.equal(a.rev, 0)
    assert.deepEqual(a.document['nested'], document.nested)
    assert.equal((await read(opened, 'legacy')).attempts, 0)
    assert.equal((await read(opened, 'legacy')).lastAttemptAt, undefined)
    assert.equal(await opened.source.get(opened.shape, 'nobody'), undefined)
  },
  'marks come back as they were written, and every write raises rev': async (opened) => {
    await opened.put([{ id: 'a' }])
    const marks: Marks = {
      generation: 2,
      delivered: 3,
      dueAt: T + 1,
      failure: { ...FAILURE, retryAfterMs: 7, event: 'e' },
      outbox: { id: 'o', topic: 't', body: '{"$a.b":1}', until: T + 2 },
      seenAt: T + 3,
      endedAt: T + 4,
      why: 'because',
      past: [
        { generation: 1, attempts: 3, lastAttemptAt: T, status: 'x', failure: FAILURE, resetAt: T + 5, by: 'ana' },
      ],
    }
    await mark(opened, 'a', marks)
    const first = await read(opened, 'a')
    assert.deepEqual(first.marks, marks)
    assert.equal(first.rev, 1)
    await mark(opened, 'a', {})
    assert.equal((await read(opened, 'a')).rev, 2)
  },
  'a change that expects something else is lost and changes nothing': async (opened) => {
    await opened.put([{ id: 'a', attempts: 1, lastAttemptAt: T }])
    const document = await read(opened, 'a')
    const expect = asRead(document)
    const stale = { ...MARKS, why: 'stale' }
    await opened.source.change(opened.shape, [{ expect, attempts: 2, lastAttemptAt: T + 1, marks: MARKS }])
    const lost = await opened.source.change(opened.shape, [
      { expect, marks: stale },
      { expect: { ...expect, rev: 1 }, marks: stale },
      { expect: { id: 'a', key: document.key, rev: 1, status: 'processed' }, marks: stale },
    ])
    assert.deepEqual(lost, ['lost', 'lost', 'lost'])
    const after = await read(opened, 'a')
    assert.deepEqual([after.attempts, after.lastAttemptAt, after.marks.why, after.rev], [2, T + 1, undefined, 1])
  },
  'a change of a service between read and write is never overwritten': async (opened) => {
    await opened.put([{ id: 'a', attempts: 1, lastAttemptAt: T }])
    const before = await read(opened, 'a')
    const { id, key } = before
    await opened.source.change(opened.shape, [{ expect: { id, key, rev: 0 }, status: 'processed' }])
    assert.equal((await read(opened, 'a')).rev, 0, 'a change without marks leaves rev alone')
    const end = { expect: asRead(before), status: 'failed_max_retries', marks: MARKS }
    assert.deepEqual(await opened.source.change(opened.shape, [end]), ['lost'])
    assert.equal((await read(opened, 'a')).status, 'processed')
  },
  'of changes that race for one document one wins': async (opened) => {
    await opened.put([{ id: 'a' }])
    const expect = asRead(await read(opened, 'a'))
    const racing = Array.from({ length: 16 }, (_, index) =>
      opened.source.change(opened.shape, [{ expect, attempts: 1, marks: { ...MARKS, why: String(index) } }]),
    )
    const answers = (await Promise.all(racing)).flat()
    assert.equal(answers.filter((answer) => answer === 'ok').length, 1)
    const { marks, rev } = await read(opened, 'a')
    assert.equal(marks.why, String(answers.indexOf('ok')))
    assert.equal(rev, 1)
  },
  'due and waiting are told apart by time, page by page, oldest first': async (opened) => {
    await opened.put(['a', 'b', 'c', 'd', 'e'].map((id, index) => ({ id, createdAt: T + index })))
    for (const [index, id] of ['c', 'a', 'e', 'b'].entries()) await mark(opened, id, { dueAt: T + index * MINUTE })
    await mark(opened, 'd', { dueAt: T }, { status: 'processed' })
    const by = T + 2 * MINUTE
    assert.deepEqual(await idsOf(opened, { is: 'due', by }), ['c', 'a', 'e'])
    assert.deepEqual(await idsOf(opened, { is: 'due', by }, 'recent'), ['e', 'c', 'a'])
    assert.deepEqual(await idsOf(opened, { is: 'waiting', after: by }), ['b'])
    assert.equal(await opened.source.count(opened.shape, { is: 'due', by }), 3)
  },
  'silent are open documents without attempt, or creation, since; nothing due and nothing to send': async (opened) => {
    await opened.put([
      { id: 'attempted', attempts: 1, lastAttemptAt: T - 2, createdAt: T - 9 },
      { id: 'working', status: 'processing', attempts: 1, lastAttemptAt: T - 1, createdAt: T - 9 },
      { id: 'fresh', attempts: 1, lastAttemptAt: T, createdAt: T - 9 },
      { id: 'never', createdAt: T - 3 },
      { id: 'new', createdAt: T },
      { id: 'done', status: 'processed', attempts: 1, lastAttemptAt: T - 5, createdAt: T - 9 },
      { id: 'due', attempts: 1, lastAttemptAt: T - 5, createdAt: T - 9 },
      { id: 'unsent', attempts: 1, lastAttemptAt: T - 5, createdAt: T - 9 },
    ])
    await mark(opened, 'due', { dueAt: T })
    await mark(opened, 'unsent', { outbox: { id: 'o', topic: 't', body: '', until: T } })
    const silent = { is: 'silent', before: T } as const
    assert.deepEqual(await idsOf(opened, silent), ['never', 'attempted', 'working'])
    assert.deepEqual(await idsOf(opened, silent, 'oldest', 1), ['never', 'attempted', 'working'])
    assert.equal((await idsOf(opened, silent, 'recent'))[0], 'never')
    assert.equal(await opened.source.count(opened.shape, silent), 3)
    assert.equal(await opened.source.count(opened.shape, { is: 'stuck', before: T }), 3)
    assert.deepEqual(await idsOf(opened, { is: 'unsent', before: T + 1 }), ['unsent'])
    assert.deepEqual(await idsOf(opened, { is: 'unsent', before: T }), [])
  },
  'processed and troubled are counted since an instant': async (opened) => {
    await opened.put([
      { id: 'a', status: 'processed', attempts: 1, lastAttemptAt: T },
      { id: 'b', status: 'processed', attempts: 1, lastAttemptAt: T - 1 },
      { id: 'c' },
      { id: 'd' },
      { id: 'e', status: 'processed', attempts: 1, lastAttemptAt: T },
    ])
    await mark(opened, 'c', { failure: FAILURE })
    await mark(opened, 'd', { failure: { ...FAILURE, at: T - 1 } })
    await mark(opened, 'e', { failure: FAILURE })
    assert.equal(await opened.source.count(opened.shape, { is: 'processed', since: T }), 2)
    assert.equal(await opened.source.count(opened.shape, { is: 'troubled', since: T }), 1)
  },
  'a filter narrows by id, code and fingerprint': async (opened) => {
    await opened.put(['a', 'b', 'c'].map((id) => ({ id })))
    await mark(opened, 'a', { failure: FAILURE }, { status: 'failed_max_retries' })
    const other = { ...FAILURE, code: 'gate.total', fingerprint: 'gate.total-b' }
    await mark(opened, 'b', { failure: other }, { status: 'failed_max_retries' })
    assert.deepEqual(await idsOf(opened, { is: 'failed' }), ['a', 'b'])
    assert.deepEqual(await idsOf(opened, { is: 'failed', filter: { code: 'http.*' } }), ['a'])
    assert.deepEqual(await idsOf(opened, { is: 'failed', filter: { code: 'gate.total' } }), ['b'])
    assert.deepEqual(await idsOf(opened, { is: 'failed', filter: { fingerprint: 'gate.total-b' } }), ['b'])
    assert.deepEqual(await idsOf(opened, { is: 'open', filter: { ids: ['c', 'a'] } }), ['c'])
  },
  'groups count failed and waiting documents by fingerprint': async (opened) => {
    await opened.put(['a', 'b', 'c', 'd'].map((id) => ({ id })))
    await mark(opened, 'a', { failure: FAILURE }, { status: 'failed_max_retries' })
    await mark(opened, 'b', { failure: { ...FAILURE, at: T + 5 } })
    await mark(opened, 'c', { failure: { ...FAILURE, fingerprint: 'other', code: 'unknown' } })
    const [first, second, ...rest] = await opened.source.groups(opened.shape)
    assert.deepEqual(rest, [])
    assert.deepEqual(
      [
        first?.fingerprint,
        first?.failed,
        first?.waiting,
        first?.firstAt,
        first?.lastAt,
        [...(first?.ids ?? [])].sort(),
      ],
      ['http.503-a', 1, 1, T, T + 5, ['a', 'b']],
    )
    assert.equal(first?.advice, 'Wait.')
    assert.equal(second?.code, 'unknown')
  },
  'a move leaves the document there and not here, unless it changed': async (opened) => {
    await opened.put(['a', 'b'].map((id) => ({ id, document: { keep: id } })))
    const [a, b] = [await read(opened, 'a'), await read(opened, 'b')]
    await mark(opened, 'b', { why: 'changed' })
    const to = `${opened.shape.name}_dead`
    const items = [a, b].map(({ id, key, rev, status }) => ({ id, key, rev, status }))
    assert.deepEqual(await opened.source.move(opened.shape, to, items), ['ok', 'lost'])
    assert.equal(await opened.source.get(opened.shape, 'a'), undefined)
    const there = await opened.source.get({ ...opened.shape, name: to }, 'a')
    assert.equal(there?.document['keep'], 'a')
    await read(opened, 'b')
    assert.deepEqual(await opened.source.move(opened.shape, to, items.slice(0, 1)), ['lost'], 'again is harmless')
  },
  'only what is as expected is removed': async (opened) => {
    await opened.put(['a', 'b'].map((id) => ({ id })))
    const items = [await read(opened, 'a'), await read(opened, 'b')].map(({ id, key, rev }) => ({ id, key, rev }))
    await mark(opened, 'b', {})
    assert.deepEqual(await opened.source.remove(opened.shape, items), ['ok', 'lost'])
    assert.equal(await opened.source.get(opened.shape, 'a'), undefined)
    await read(opened, 'b')
  },
  'what is remembered is there, and of two who write it one is lost': async ({ source, shape }) => {
    const name = `law/${shape.name}`
    assert.equal(await source.recall(name), undefined)
    assert.equal(await source.remember(name, 'one', 0), 'ok')
    assert.equal(await source.remember(name, 'two', 0), 'lost')
    assert.deepEqual(await source.recall(name), { value: 'one', rev: 1 })
    assert.equal(await source.remember(name, 'two', 1), 'ok')
    assert.equal(await source.remember(name, 'three', 1), 'lost')
    assert.deepEqual(await source.recall(name), { value: 'two', rev: 2 })
  },
  'notes come back, the newest first': async ({ source, shape }) => {
    await source.note({ at: T, by: 'ana', what: 'reset', collection: shape.name, data: { documents: 3 } })
    await source.note({ at: T + 1, by: 'bo', what: 'purge' })
    const notes = await source.notes(2)
    assert.deepEqual(
      notes.map(({ by }) => by),
      ['bo', 'ana'],
    )
    assert.deepEqual(notes[1], { at: T, by: 'ana', what: 'reset', collection: shape.name, data: { documents: 3 } })
  },
  'preparing twice is harmless': async ({ source, shape }) => {
    assert.deepEqual(await source.prepare([shape]), [])
    assert.deepEqual(await source.prepare([shape]), [])
  },
}

export function sourceContract(contract: SourceContract, { describe, test }: TestFunctions): void {
  describe(`the contract of Source: ${contract.name}`, () => {
    for (const [title, prove] of Object.entries(laws))
      test(title, async () => {
        const opened = await contract.open()
        try {
          await prove(opened)
        } finally {
          await opened.close()
        }
      })
  })
}
