/**
 * A fresh file per test, and connections to it beside the store's own.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { ClaimRequest, NewRun } from '../../ports/store.ts'
import type { Connection, Statement } from './connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'reprise-sqlite-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

export const freshFile = (): string => join(mkdtempSync(join(folder, 'file-')), 'store.db')

export const connect = (file: string): Connection => new Database(file, { timeout: 0 }) as Connection

export const newRun = (run: Partial<NewRun> = {}): NewRun => ({ task: 't', input: '{}', priority: 0, ...run })

let nonces = 0

export function claimRequest(request: Partial<ClaimRequest> = {}): ClaimRequest {
  nonces += 1
  return { worker: 'w', nonce: `n${nonces}`, limit: 10, leaseMs: 30_000, alone: false, tasks: ['t'], ...request }
}

/** A connection whose COMMIT is made by the test. The count tells how many there were. */
export function withCommit(file: string, commit: (real: () => void, count: number) => void): Connection {
  const connection = connect(file)
  let count = 0
  const prepare = (sql: string): Statement => {
    const statement = connection.prepare(sql)
    if (sql !== 'COMMIT') return statement
    const run = () => {
      count += 1
      commit(() => statement.run(), count)
      return { changes: 0, lastInsertRowid: 0 }
    }
    return { run, get: () => undefined, all: () => [] }
  }
  return new Proxy(connection, {
    get: (target, name) => {
      if (name === 'prepare') return prepare
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' && name !== 'constructor' ? value.bind(target) : value
    },
  })
}
