import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { connect, freshFile, newRun } from './file.fixtures.ts'
import { sqlite } from './index.ts'
import { SCHEMA_VERSION } from './schema.ts'

const documented = fileURLToPath(new URL('../../../docs/stores/sqlite-schema.sql', import.meta.url))

async function opened(): Promise<string> {
  const file = freshFile()
  const store = sqlite({ file })
  await store.create([newRun()])
  await store.close()
  return file
}

describe('schema', () => {
  test('the documented schema is the effective one', async () => {
    const rows = connect(await opened()).prepare(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name LIKE 'reprise%' ORDER BY name",
    )
    const effective = (rows.all() as { sql: string }[]).map(({ sql }) => `${sql};\n`).join('\n')
    await expect(
      `-- Schema ${SCHEMA_VERSION} of the SQLite store, as a new file has it.\n\n${effective}`,
    ).toMatchFileSnapshot(documented)
  })

  test('a newer schema is refused, with both versions named and nothing changed', async () => {
    const file = await opened()
    const connection = connect(file)
    connection.exec("UPDATE reprise_meta SET value = 99 WHERE name = 'schema'")
    const store = sqlite({ file })
    await expect(store.create([newRun()])).rejects.toMatchObject({
      code: 'sqlite.schema',
      message: expect.stringMatching(/schema 99.*up to \d+.*Update Reprise/),
    })
    await expect(store.get({ id: 'r1' })).rejects.toMatchObject({ code: 'sqlite.schema' })
    expect(connection.prepare('SELECT count(*) AS runs FROM reprise_run').get()).toEqual({ runs: 1 })
    await store.close()
  })

  test("an application's own tables and version stay as they are", async () => {
    const file = freshFile()
    const application = connect(file)
    application.exec(
      'PRAGMA user_version = 7; CREATE TABLE run(id INTEGER PRIMARY KEY, mine TEXT); INSERT INTO run(mine) VALUES (1)',
    )
    const store = sqlite({ file })
    await store.create([newRun()])
    await store.close()
    expect(application.pragma('user_version', { simple: true })).toBe(7)
    expect(application.prepare('SELECT * FROM run').all()).toEqual([{ id: 1, mine: '1' }])
  })

  test('a file of schema 2 is migrated as it stands: what was ready then counts from its submit', async () => {
    const file = await opened()
    const connection = connect(file)
    connection.exec(
      "ALTER TABLE reprise_run DROP COLUMN ready_at; UPDATE reprise_meta SET value = 2 WHERE name = 'schema'",
    )
    const store = sqlite({ file })
    const run = await store.get({ id: 'r1' })
    expect((await store.pulse({ stuckAfterMs: 0 })).tasks).toMatchObject([{ oldestAt: run?.submittedAt }])
    expect(await store.verify()).toEqual([])
    await store.close()
  })

  test('the newest run cannot be deleted, so no id is given twice', async () => {
    const connection = connect(await opened())
    expect(() => connection.exec('DELETE FROM reprise_run')).toThrow(/newest run stays/)
  })
})
