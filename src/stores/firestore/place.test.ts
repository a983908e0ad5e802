import { spawnSync } from 'node:child_process'
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

test('without credentials the store says what to set, and the process lives', async () => {
  const program = `
    import { firestore } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)}
    const store = firestore({ projectId: 'my-project' })
    await store.get({ id: 'x' }).catch(({ code, message }) => console.log(code, message))
    await store.close()
    console.log('alive')`
  const env = { PATH: process.env['PATH'], HOME: '/nowhere', METADATA_SERVER_DETECTION: 'none' }
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    env,
    encoding: 'utf8',
  })
  expect(stdout).toMatch(/^store\.unavailable The Firestore store has no credentials: .*GOOGLE_APPLICATION_CREDENTIALS/)
  expect([stdout.endsWith('alive\n'), status]).toEqual([true, 0])
})
