/**
 * The contract of the Artifacts port: one test per law, for any driver and any test runner.
 * The runner's functions are handed in; each law names the broken driver that it catches.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Artifacts, PutArtifact, StoredArtifact } from '../ports/artifacts.ts'
import type { TestFunctions } from './store-contract/index.ts'

/** Artifacts as the driver under test opens them. */
export interface OpenedArtifacts {
  readonly artifacts: Artifacts
  /** Changes a stored object's bytes behind the driver's back. */
  readonly corrupt: (uri: string) => void | Promise<void>
  /** Lets go of them and opens what they left behind. */
  readonly reopen: () => Artifacts | Promise<Artifacts>
  /** What exists outside the root and may never change: names of files beside it, for example. */
  readonly outside?: () => unknown | Promise<unknown>
}

export interface ArtifactsContract {
  readonly name: string
  /** A fresh, empty place. Called once per law. */
  readonly open: () => OpenedArtifacts | Promise<OpenedArtifacts>
}

export interface ArtifactsLaw {
  readonly title: string
  readonly catches: readonly string[]
  readonly prove: (opened: OpenedArtifacts) => Promise<void>
}

const PUTS_AT_ONCE = 20

/** Names that lead elsewhere, or mean something else on some system. */
const HOSTILE = [
  ...['', '.', '..', '/', '//', 'a/b', '../a', '/etc', 'a/../b', '..\\a', 'a\\b', 'C:\\a', '\\\\host\\a'],
  ...['a\u0000', '\u0000', 'a\nb', ' ', '-rf', '~', '．．', '\u202e', 'é', '%2e%2e', 'a:b', 'a*', 'x'.repeat(300)],
  ...['a..b', 'a.', 'con', 'NUL.txt', 'com1'],
]

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

const request = (put: Partial<PutArtifact> = {}): PutArtifact => ({
  path: ['r1', 'report.json'],
  body: bytesOf('{"sum":3}'),
  fingerprint: 'print',
  ...put,
})

async function stored(artifacts: Artifacts, put: Partial<PutArtifact> = {}): Promise<StoredArtifact> {
  const answer = await artifacts.put(request(put))
  assert.ok(answer !== 'conflict', 'the object is stored')
  return answer
}

/** Compared as bytes: a driver may answer with a subclass of Uint8Array. */
async function holds(artifacts: Artifacts, uri: string, body: Uint8Array): Promise<void> {
  const bytes = await artifacts.get(uri)
  assert.ok(bytes instanceof Uint8Array, `${uri} answers with bytes`)
  assert.equal(Buffer.compare(bytes, body), 0, `${uri} answers with its bytes`)
}

const laws: Readonly<Record<string, readonly [catches: string, ArtifactsLaw['prove']]>> = {
  'a free name takes the object, and answers with its hash and length': [
    'wrong-hash',
    async ({ artifacts }) => {
      const { body } = request()
      const { uri, ...rest } = await stored(artifacts)
      assert.deepEqual(rest, { sha256: hashOf(body), bytes: body.length, reused: false })
      await holds(artifacts, uri, body)
    },
  ],
  'the same work again: the stored object wins and is reused': [
    'replaces',
    async ({ artifacts }) => {
      const first = await stored(artifacts)
      assert.deepEqual(await stored(artifacts), { ...first, reused: true })
      assert.deepEqual(await stored(artifacts, { body: bytesOf('another take') }), { ...first, reused: true })
      await holds(artifacts, first.uri, request().body)
    },
  ],
  'another fingerprint is a conflict and touches nothing': [
    'fingerprint-ignored',
    async ({ artifacts }) => {
      const { uri } = await stored(artifacts)
      assert.equal(await artifacts.put(request({ fingerprint: 'other' })), 'conflict')
      assert.equal(await artifacts.put(request({ fingerprint: 'other', body: bytesOf('other') })), 'conflict')
      await holds(artifacts, uri, request().body)
      assert.equal((await stored(artifacts)).reused, true)
    },
  ],
  'an object whose bytes do not match their hash is broken, a conflict, and stays as it is': [
    'hash-unchecked',
    async ({ artifacts, corrupt }) => {
      const { uri } = await stored(artifacts)
      await corrupt(uri)
      assert.equal(await artifacts.get(uri), 'broken')
      assert.equal(await artifacts.put(request()), 'conflict')
      assert.equal(await artifacts.get(uri), 'broken')
    },
  ],
  'of concurrent puts of one work one creates, and all agree': [
    'check-then-write',
    async ({ artifacts }) => {
      const puts = Array.from({ length: PUTS_AT_ONCE }, (_, n) => stored(artifacts, { body: bytesOf(`take ${n}`) }))
      const answers = await Promise.all(puts)
      assert.equal(answers.filter(({ reused }) => !reused).length, 1)
      assert.equal(new Set(answers.map(({ sha256 }) => sha256)).size, 1)
      const bytes = await artifacts.get(answers[0]?.uri ?? '')
      assert.ok(bytes instanceof Uint8Array)
      assert.equal(hashOf(bytes), answers[0]?.sha256)
    },
  ],
  'of concurrent puts of different works one is stored, and the others are conflicts': [
    'check-then-write fingerprint-ignored',
    async ({ artifacts }) => {
      const puts = Array.from({ length: PUTS_AT_ONCE }, (_, n) =>
        artifacts.put(request({ body: bytesOf(`work ${n}`), fingerprint: `print ${n}` })),
      )
      const answers = await Promise.all(puts)
      const won = answers.flatMap((answer, n) => (answer === 'conflict' ? [] : [{ ...answer, n }]))
      assert.equal(won.length, 1)
      const [winner] = won
      assert.ok(winner)
      await holds(artifacts, winner.uri, bytesOf(`work ${winner.n}`))
    },
  ],
  'each name is an object of its own': [
    'last-segment-only',
    async ({ artifacts }) => {
      const paths = [
        ['r1', 'a'],
        ['r2', 'a'],
        ['r1', 'g2', 'a'],
        ['r1', 'a.b'],
        ['r1', 'ab'],
      ]
      const answers = []
      for (const path of paths)
        answers.push(await stored(artifacts, { path, body: bytesOf(path.join(' ')), fingerprint: path.join() }))
      assert.equal(new Set(answers.map(({ uri }) => uri)).size, paths.length)
      for (const [index, path] of paths.entries())
        await holds(artifacts, answers[index]?.uri ?? '', bytesOf(path.join(' ')))
    },
  ],
  'any bytes come back as they were, none or many': [
    'text-only',
    async ({ artifacts }) => {
      const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
      const bodies = [new Uint8Array(0), all, new Uint8Array(3_000_000).fill(0xfe), bytesOf('\r\n\uFEFF')]
      for (const [index, body] of bodies.entries()) {
        const { uri, bytes, sha256 } = await stored(artifacts, { path: ['r1', `n${index}`], body })
        assert.deepEqual([bytes, sha256], [body.length, hashOf(body)])
        await holds(artifacts, uri, body)
      }
    },
  ],
  'what is not there is absent': [
    'absent-is-empty',
    async ({ artifacts }) => {
      const { uri } = await stored(artifacts)
      assert.equal(await artifacts.get(uri.replace('report', 'other')), undefined)
      assert.equal(await artifacts.get(`${uri}x`), undefined)
    },
  ],
  'names cannot leave their root: each hostile segment is refused and nothing is written': [
    'names-unchecked',
    async ({ artifacts, outside }) => {
      const before = await outside?.()
      await assert.rejects(artifacts.put(request({ path: [] })), 'an empty path is refused')
      for (const segment of HOSTILE) {
        for (const path of [[segment], ['r1', segment], [segment, 'a'], ['r1', segment, 'a']])
          await assert.rejects(artifacts.put(request({ path })), `${JSON.stringify(path)} is refused`)
      }
      assert.deepEqual(await outside?.(), before)
    },
  ],
  'no uri reads outside the root': [
    'uris-unchecked',
    async ({ artifacts }) => {
      const { uri } = await stored(artifacts)
      const root = uri.slice(0, uri.indexOf('r1'))
      const uris = [
        '',
        '/etc/passwd',
        'file:///etc/passwd',
        ...HOSTILE.flatMap((name) => [name, `${root}${name}`, `${uri}/${name}`]),
      ]
      for (const hostile of [
        ...uris,
        `${root}../../../../../../etc/passwd`,
        `${root}r1/../../../../../../../etc/passwd`,
      ]) {
        // Refusing to look is as good as finding nothing.
        const answer = await artifacts.get(hostile).catch(() => undefined)
        assert.equal(answer, undefined, `${JSON.stringify(hostile)} answers with nothing`)
      }
    },
  ],
  'nothing is shared: changing what was handed in or out changes nothing': [
    'bytes-shared',
    async ({ artifacts }) => {
      const body = bytesOf('as it was')
      const { uri } = await stored(artifacts, { body })
      body.fill(0)
      await holds(artifacts, uri, bytesOf('as it was'))
      const read = await artifacts.get(uri)
      if (read instanceof Uint8Array) read.fill(0)
      await holds(artifacts, uri, bytesOf('as it was'))
    },
  ],
  'what was stored is there after closing and opening again, and is still created only once': [
    'forgets-at-close',
    async ({ artifacts, reopen }) => {
      const first = await stored(artifacts)
      await artifacts.close()
      await artifacts.close()
      const again = await reopen()
      await holds(again, first.uri, request().body)
      assert.deepEqual(await stored(again), { ...first, reused: true })
      assert.equal(await again.put(request({ fingerprint: 'other' })), 'conflict')
      await again.close()
    },
  ],
  'remove takes all objects under a path, whole segments only': [
    'removes-by-text removes-nothing',
    async ({ artifacts, outside }) => {
      // A driver that removes nothing has nothing to prove.
      if (!artifacts.remove) return
      const before = await outside?.()
      const gone = [await stored(artifacts), await stored(artifacts, { path: ['r1', 'g2', 'report.json'] })]
      const kept = [await stored(artifacts, { path: ['r10', 'report.json'] }), await stored(artifacts, { path: ['r'] })]
      await artifacts.remove(['r1'])
      await artifacts.remove(['r1'])
      for (const { uri } of gone) assert.equal(await artifacts.get(uri), undefined)
      for (const { uri } of kept) await holds(artifacts, uri, request().body)
      for (const name of HOSTILE) await assert.rejects(artifacts.remove([name]), `${JSON.stringify(name)} is refused`)
      for (const name of ['r10', 'r']) await artifacts.remove([name])
      for (const { uri } of kept) assert.equal(await artifacts.get(uri), undefined)
      assert.deepEqual(await outside?.(), before)
    },
  ],
}

export const artifactsLaws: readonly ArtifactsLaw[] = Object.entries(laws).map(([title, [catches, prove]]) => ({
  title,
  catches: catches.split(' '),
  prove,
}))

/** Proves one law on a fresh place and throws when the driver breaks it. */
export async function proveArtifactsLaw(law: ArtifactsLaw, open: ArtifactsContract['open']): Promise<void> {
  const opened = await open()
  try {
    await law.prove(opened)
  } finally {
    await opened.artifacts.close()
  }
}

/**
 * Declares the whole contract as tests of one driver.
 * @example artifactsContract({ name: 'mine', open: () => ({ artifacts: mine(), corrupt, reopen }) }, { describe, test })
 */
export function artifactsContract({ name, open }: ArtifactsContract, { describe, test }: TestFunctions): void {
  describe(`${name} keeps the laws of Artifacts`, () => {
    for (const law of artifactsLaws) test(law.title, () => proveArtifactsLaw(law, open))
  })
}
