/**
 * `reprise migrate`: makes the store's tables, or brings them to this version, and says from what to what.
 */
import { existsSync } from 'node:fs'
import type { StoreAddress } from '../../config/address.ts'
import { openWriter } from '../../stores/sqlite/connection.ts'
import { SCHEMA_VERSION } from '../../stores/sqlite/schema.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { storeTrouble, withStore, withStoreFlags } from '../open-store.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'

export const registerMigrate: Register = (program, frame) => {
  const command = program
    .command('migrate')
    .helpGroup('Operate')
    .summary('makes or updates the store’s tables')
    .description(
      'Makes the store’s tables, or brings them to this version. Steps go forward only, each whole or not at all.',
    )
  withStoreFlags(command).action(() =>
    withStore(command, frame, { missing: 'create' }, async ({ store, settings, where }) => {
      const { json, out } = frame.terminal()
      const from = schemaOf(settings.store, where)
      // Opening brings the tables up to date; any read opens.
      await store.notes({ limit: 1 })
      const to = settings.store.driver === 'sqlite' ? SCHEMA_VERSION : undefined
      if (json) return out.lines(jsonLine({ store: where, from: from ?? null, to: to ?? null }))
      const sentence =
        to === undefined
          ? `${where} has no tables to make.`
          : from === undefined
            ? `${where}: schema ${to} is made.`
            : from === to
              ? `${where}: schema ${to}, nothing to do.`
              : `${where}: schema ${from} → ${to}.`
      out.lines(`${out.sign(STATE_SIGNS.succeeded)} ${out.text(sentence)}`)
    }),
  )
  withNotes(command, [
    'Opening a store does the same; this command does it at a time of your choice. A store of a newer version is refused and not touched.',
  ])
  withExamples(command, [
    { line: 'reprise migrate --store sqlite:./reprise.db', says: 'before the first worker of a new version' },
  ])
}

/** The schema that the file has before anything is done to it; `undefined` when it has none. */
function schemaOf(address: StoreAddress, where: string): number | undefined {
  if (address.driver !== 'sqlite' || !existsSync(address.file)) return undefined
  try {
    const connection = openWriter(address.file)
    try {
      const known = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reprise_meta'").get()
      if (known === undefined) return undefined
      const row = connection.prepare("SELECT value FROM reprise_meta WHERE name = 'schema'").get()
      return (row as { readonly value: number }).value
    } finally {
      connection.close()
    }
  } catch (error) {
    const thrown = storeTrouble(error, where)
    // A file that is no database is told by the opening that follows, in the driver's words.
    if (thrown !== error) throw thrown
    return undefined
  }
}
