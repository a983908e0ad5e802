/**
 * `note` and `keepPolicy`: what is only ever added. Readers of both are in `read.ts`.
 */
import type { Note } from '../../ports/store.ts'
import type { Work } from './group-commit.ts'
import { jsonOrNull } from './row.ts'

export function noteWork({ run, by, what, data }: Note): Work<void> {
  return {
    rows: 1,
    wakes: false,
    execute: ({ statements, now }) => {
      statements.insertNote.run(run ?? null, now, by, what, jsonOrNull(data))
    },
  }
}

export function policyWork(hash: string, policy: string): Work<void> {
  return {
    rows: 1,
    wakes: false,
    execute: ({ statements }) => {
      statements.keepPolicy.run(hash, policy)
    },
  }
}
