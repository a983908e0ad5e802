import { Firestore } from '@google-cloud/firestore'
import { expect, test } from 'vitest'
import { firestore } from './index.ts'

const client = new Firestore({ projectId: 'p' })

test.each([
  [{ client, projectId: 'other' }, 'projectId: "other"; allowed is none beside client, which has its own'],
  [{ client, databaseId: 'other' }, 'databaseId: "other"; allowed is none beside client, which has its own'],
  [{ collection: 'a/b' }, 'collection: "a/b"; allowed are letters, digits, _ and -, 128 at most'],
  [{ system: '' }, 'system: ""; allowed are letters, digits, _ and -, 128 at most'],
  [{ only: '../x' }, 'only: "../x"; allowed are letters, digits, _ and -, 128 at most'],
  [{ foreignTtlMs: -1 }, 'foreignTtlMs: -1; allowed are whole numbers from 0'],
  [{ lookAhead: 1.5 }, 'lookAhead: 1.5; allowed are whole numbers from 0'],
  [{ ageingMs: Number.NaN }, 'ageingMs: NaN; allowed are whole numbers from 0'],
])('an option that would be ignored or misunderstood is refused by name: %#', (options, message) => {
  expect(() => firestore(options)).toThrow(message)
})
