/**
 * Somebody else on the same file: takes the write lock, holds it for 10 to 2000 ms, lets go, and again, until it is told to stop.
 * `node test/chaos/lock-process.ts <file> <seed>`; prints how long it held the lock each time.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { seededDice } from '../../src/time/dice.ts'

const HOLD_MIN_MS = 10
const HOLD_MAX_MS = 2_000
/** Others get a chance in between. */
const REST_MAX_MS = 20

const [file = '', seed = '0'] = process.argv.slice(2)
const dice = seededDice(Number(seed))
const database = new Database(file, { timeout: 10_000 })

for (;;) {
  if (!locked()) continue
  const heldAt = performance.now()
  // Short holds are as likely as long ones, by order of magnitude.
  await sleep(HOLD_MIN_MS * (HOLD_MAX_MS / HOLD_MIN_MS) ** dice())
  database.exec('COMMIT')
  console.log(Math.round(performance.now() - heldAt))
  await sleep(1 + dice() * REST_MAX_MS)
}

/** Whoever else wants the lock may be faster for a long time. */
function locked(): boolean {
  try {
    database.exec('BEGIN IMMEDIATE')
    return true
  } catch {
    return false
  }
}
