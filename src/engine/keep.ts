/**
 * A fact that a handler must not find out anew when it runs again, such as that a budget was used up: journalled without a send.
 * It shares the journal with calls and is no take: nothing left the process.
 */
import { type Execution, journalKey } from './execution.ts'
import { fromJson, toJson } from './json.ts'

/** What is kept shares names with the calls it is about; no call's input hashes to this. */
export const KEPT_HASH = 'kept'

export async function kept(execution: Execution, name: string): Promise<unknown> {
  const stored = (await execution.journal()).get(journalKey(name, KEPT_HASH))
  return stored?.answer === undefined ? undefined : fromJson(stored.answer)
}

export async function keep(execution: Execution, name: string, value: object): Promise<void> {
  execution.check()
  const answer = toJson(value, `what is kept as "${name}"`) ?? 'null'
  await execution.write({ type: 'intent', name, inputHash: KEPT_HASH, take: 1 })
  await execution.write({ type: 'answer', name, inputHash: KEPT_HASH, answer })
}
