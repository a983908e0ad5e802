/**
 * The hooks of a suite that runs on Google's Firestore emulator: opened before its tests and closed after them. Where the emulator cannot
 * run, every test of the suite is skipped by name, with the reason.
 */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { firestoreMissing } from './firestore-emulator.ts'

/** Starting Java on a busy machine takes its time. */
const OPENS_WITHIN_MS = 120_000

/** `open` gives what is to be closed. */
export function onEmulator(open: () => Promise<{ close(): Promise<void> }>): void {
  const missing = firestoreMissing()
  let opened: { close(): Promise<void> } | undefined
  beforeAll(async () => {
    if (missing === undefined) opened = await open()
  }, OPENS_WITHIN_MS)
  afterAll(() => opened?.close())
  beforeEach((context) => {
    if (missing !== undefined) context.skip(missing)
  })
}
