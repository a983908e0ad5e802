/**
 * The SQLite driver beside a hand-written loop on the same library, and on both libraries that could carry it: bulk submit, single
 * submits of 100 callers, claim and commit without and with an output. All take turns in one process; figures are medians, and
 * the ratio is to the hand-written loop of the same round, because the machine's mood changes more than the code.
 *
 *     node bench/store-sqlite.ts [runs per round = 20000] [claim size = 500] [rounds = 7]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import Database from 'better-sqlite3'
import { type SqliteDatabase, sqlite } from '../src/stores/sqlite/index.ts'

const [runs = 20_000, claimSize = 500, rounds = 7] = process.argv.slice(2).map(Number)
const CALLERS = 100
const OUTPUT = '{"ok":true}'
const folder = mkdtempSync(join(tmpdir(), 'reprise-bench-'))

interface Contender {
  bulk(count: number): Promise<void>
  single(count: number): Promise<void>
  drain(output?: string): Promise<void>
  close(): unknown
}

/** The least that does the work: one narrow table, one index, no fence, no lease, no history. */
function handWritten(): Contender {
  const db = new Database(join(folder, 'hand-written.db'))
  for (const pragma of ['page_size = 8192', 'journal_mode = WAL', 'synchronous = FULL']) db.pragma(pragma)
  db.exec(`CREATE TABLE job(id INTEGER PRIMARY KEY, state INTEGER NOT NULL, at INTEGER NOT NULL, input TEXT, output TEXT);
    CREATE INDEX due ON job(at) WHERE state = 0`)
  const insert = db.prepare('INSERT INTO job(state, at, input) VALUES (0, ?, ?)')
  const finish = db.prepare('UPDATE job SET state = 2, output = ? WHERE id = ?')
  const claim = db.prepare(`UPDATE job SET state = 1 WHERE id IN (
    SELECT id FROM job WHERE state = 0 AND at <= ? ORDER BY at, id LIMIT ?) RETURNING id, input`)
  const inOne = <T>(work: () => T): T => {
    db.exec('BEGIN IMMEDIATE')
    const answer = work()
    db.exec('COMMIT')
    return answer
  }
  const insertMany = (count: number) =>
    inOne(() => {
      for (let index = 0; index < count; index += 1) insert.run(Date.now(), `{"i":${index}}`)
    })
  return {
    bulk: async (count) => insertMany(count),
    single: async (count) => {
      for (let done = 0; done < count; done += CALLERS) {
        await new Promise((resolve) => setImmediate(resolve))
        insertMany(CALLERS)
      }
    },
    drain: async (output) => {
      let done: number[] = []
      for (;;) {
        const rows = inOne(() => {
          for (const id of done) finish.run(output ?? null, id)
          return claim.all(Date.now(), claimSize) as { id: number }[]
        })
        if (rows.length === 0) return
        done = []
        for (const { id } of rows) {
          await undefined
          done.push(id)
        }
      }
    },
    close: () => db.close(),
  }
}

function driver(database: SqliteDatabase): Contender {
  const store = sqlite({ database })
  let nonce = 0
  const run = { task: 't', input: '{"i":1}', priority: 0 }
  const claim = () => {
    nonce += 1
    return store.claim({
      worker: 'w',
      nonce: `n${nonce}`,
      limit: claimSize,
      leaseMs: 30_000,
      alone: false,
      tasks: ['t'],
    })
  }
  return {
    bulk: async (count) => void (await store.create(Array.from({ length: count }, () => run))),
    single: async (count) => {
      let left = count
      const caller = async () => {
        for (; left > 0; left -= 1) await store.create([run])
      }
      await Promise.all(Array.from({ length: CALLERS }, caller))
    },
    drain: async (output) => {
      let next = claim()
      for (;;) {
        const { runs: claimed, token } = await next
        if (claimed.length === 0) return
        const end = { type: 'end', token, state: 'succeeded', ...(output ? { output } : {}) } as const
        const ended = store.commitAll?.(claimed.map(({ id }) => ({ ...end, run: id })))
        next = claim()
        await ended
      }
    },
    close: async () => {
      await store.close()
      database.close()
    },
  }
}

/** node:sqlite in the shape that the driver knows. */
class NodeDatabase {
  readonly name: string
  readonly memory = false
  readonly #db: DatabaseSync

  constructor(name: string, { timeout = 2, readonly = false } = {}) {
    this.name = name
    this.#db = new DatabaseSync(name, { timeout, readOnly: readonly })
  }

  get inTransaction(): boolean {
    return this.#db.isTransaction
  }

  prepare(sql: string) {
    const statement = this.#db.prepare(sql)
    const raw = (on: boolean) => {
      statement.setReturnArrays(on)
      return statement
    }
    return Object.assign(statement, { raw })
  }

  exec(sql: string): void {
    this.#db.exec(sql)
  }

  pragma(text: string, { simple = false } = {}): unknown {
    const rows = this.#db.prepare(`PRAGMA ${text}`).all()
    return simple ? Object.values(rows[0] ?? {})[0] : rows
  }

  close(): void {
    this.#db.close()
  }
}

const contenders: Record<string, Contender> = {
  'hand-written': handWritten(),
  'driver on better-sqlite3': driver(new Database(join(folder, 'better.db')) as SqliteDatabase),
  'driver on node:sqlite': driver(new NodeDatabase(join(folder, 'node.db')) as unknown as SqliteDatabase),
}
const workloads: Record<string, (contender: Contender) => Promise<void>> = {
  'bulk submit': (contender) => contender.bulk(runs),
  'process, no output': (contender) => contender.drain(),
  'single submits': (contender) => contender.single(runs),
  'process, output': (contender) => contender.drain(OUTPUT),
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const figures = new Map<string, { ms: number[]; ratio: number[] }>()
for (let round = -1; round < rounds; round += 1) {
  for (const [work, perform] of Object.entries(workloads)) {
    const names = round % 2 === 0 ? Object.keys(contenders) : Object.keys(contenders).reverse()
    const ms = new Map<string, number>()
    for (const name of names) {
      const startedAt = performance.now()
      await perform(contenders[name] as Contender)
      ms.set(name, performance.now() - startedAt)
    }
    if (round < 0) continue
    for (const [name, took] of ms) {
      const figure = figures.get(`${work}\t${name}`) ?? { ms: [], ratio: [] }
      figure.ms.push(took)
      figure.ratio.push((ms.get('hand-written') ?? Number.NaN) / took)
      figures.set(`${work}\t${name}`, figure)
    }
  }
}
for (const [label, { ms, ratio }] of [...figures].sort()) {
  const [work = '', name = ''] = label.split('\t')
  const perSecond = Math.round((runs / median(ms)) * 1_000).toLocaleString('en')
  console.log(`${work.padEnd(20)} ${name.padEnd(26)} ${perSecond.padStart(9)} runs/s   ${median(ratio).toFixed(2)}`)
}
for (const contender of Object.values(contenders)) await contender.close()
rmSync(folder, { recursive: true })
