/**
 * A sleep that survives: its end is journalled, so that a handler that runs again does not sleep again.
 * Short ones are waited out in the process, long ones suspend the attempt.
 */
import { type Duration, parseDuration } from '../time/duration.ts'
import { WAIT_IN_PROCESS_MAX_MS } from './call.ts'
import { type Execution, journalKey } from './execution.ts'

/** Sleeps share the journal with calls; no call's input hashes to this. */
export const SLEEP_HASH = 'sleep'

export async function journalledSleep(execution: Execution, name: string, duration: Duration): Promise<void> {
  execution.check()
  execution.takeName(name)
  const { time, clock } = execution.parts
  const delayMs = parseDuration(duration, `sleep "${name}"`)
  const stored = (await execution.journal()).get(journalKey(name, SLEEP_HASH))
  const until = stored?.answer === undefined ? time.now() + delayMs : Number(stored.answer)
  const leftMs = until - time.now()
  if (leftMs <= 0) return
  if (leftMs > WAIT_IN_PROCESS_MAX_MS) throw execution.suspend({ type: 'sleep', name, until }, `sleeps until ${until}`)
  if (stored?.answer === undefined) {
    await execution.write({ type: 'intent', name, inputHash: SLEEP_HASH, take: 1 })
    await execution.write({ type: 'answer', name, inputHash: SLEEP_HASH, answer: String(until) })
  }
  await clock.sleep(leftMs, execution.signal)
}
