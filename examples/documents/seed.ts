/**
 * Puts documents into the example's file as a crash would leave them: `node seed.ts`, then `reprise sweep --config ./sweep.ts --once`.
 */
import { sqliteSource } from 'reprise/sources/sqlite'

const DAY_MS = 86_400_000
const now = Date.now()
const source = sqliteSource({ file: process.env['DOCUMENTS_DB'] ?? './documents.db' })
const added = await source.put('archives', [
  { id: 'forgotten', createdAt: now - 2 * DAY_MS, document: { text: 'Hello\n---\nAnd an answer to it' } },
  { id: 'empty', createdAt: now - 2 * DAY_MS, document: { text: '' } },
  { id: 'spent', attempts: 3, lastAttemptAt: now - 2 * DAY_MS, createdAt: now - 5 * DAY_MS, document: { text: 'x' } },
  { id: 'fresh', document: { text: 'arrived a moment ago' } },
])
await source.close()
console.log(`${added} archives added.`)
