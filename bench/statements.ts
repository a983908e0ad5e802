/**
 * Where the time of a run goes: what each SQLite statement takes while no-op runs are processed, and what is left for JavaScript.
 * Every statement is timed as it is called, which itself costs some hundredths of a microsecond per run.
 *
 *     npm run statements [-- <runs per round = 20000> <rounds = 4>]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { createReprise } from '../src/index.ts'
import { type SqliteDatabase, sqlite } from '../src/stores/sqlite/index.ts'

const [runs = 20_000, rounds = 4] = process.argv.slice(2).map(Number)
const CHUNK = 10_000
const SHOWN = 6
const TEXT_SHOWN = 70

const spentMs = new Map<string, number>()

/** A statement that adds up its own time. */
function timed(statement: Database.Statement, text: string): Database.Statement {
  const name = text.replace(/\s+/g, ' ').trim().slice(0, TEXT_SHOWN)
  const raw = statement.raw.bind(statement)
  for (const verb of ['run', 'get', 'all'] as const) {
    const call = statement[verb].bind(statement) as (...values: unknown[]) => unknown
    const watched = (...values: unknown[]) => {
      const startedAt = performance.now()
      const answer = call(...values)
      spentMs.set(name, (spentMs.get(name) ?? 0) + performance.now() - startedAt)
      return answer
    }
    Object.assign(statement, { [verb]: watched })
  }
  return Object.assign(statement, {
    raw: (on: boolean) => {
      raw(on)
      return statement
    },
  })
}

const folder = mkdtempSync(join(tmpdir(), 'reprise-statements-'))
const database = new Database(join(folder, 'runs.db'))
const prepare = database.prepare.bind(database) as (text: string) => Database.Statement
Object.assign(database, { prepare: (text: string) => timed(prepare(text), text) })

const reprise = createReprise({ store: sqlite({ database: database as unknown as SqliteDatabase }) })
const task = reprise.task<{ readonly i: number }>('noop', {}, () => undefined)
const usPerRun = (ms: number): string => ((ms * 1_000) / runs).toFixed(2)

for (let round = 1; round <= rounds; round += 1) {
  for (let from = 0; from < runs; from += CHUNK)
    await reprise.submitMany(Array.from({ length: Math.min(CHUNK, runs - from) }, (_, i) => [task, { i: from + i }]))
  spentMs.clear()
  const startedAt = performance.now()
  const worker = reprise.work({ concurrency: 10 })
  await worker.idle()
  const ms = performance.now() - startedAt
  await worker.stop()
  const inSqlite = [...spentMs.values()].reduce((sum, each) => sum + each, 0)
  console.log(`round ${round}: ${usPerRun(ms)} µs a run, ${usPerRun(inSqlite)} of them in SQLite`)
  const longest = [...spentMs].sort(([, a], [, b]) => b - a).slice(0, SHOWN)
  for (const [text, spent] of longest) console.log(`  ${usPerRun(spent).padStart(6)}  ${text}`)
}
await reprise.close()
database.close()
rmSync(folder, { recursive: true })
