/**
 * A take with all that is known about it: what was answered and by whom, what is wrong with it, and what the climb looks at.
 * Made of what is stored, by the gate of today: a mended rule judges old answers anew.
 */
import { failureOf } from '../failure/own.ts'
import type { Gate } from '../gate/gate.ts'
import type { Issue } from '../gate/issue.ts'
import type { TakeFacts, TakeKind } from './climb.ts'
import { readAnswer } from './read-answer.ts'
import { type Sent, shortHash } from './send.ts'

export interface Taken extends TakeFacts {
  /** Name of its rung. */
  readonly on: string
  /** Number on its rung. */
  readonly number: number
  readonly text: string
  /** What was read from it; a draft until it passed the gate. */
  readonly draft?: unknown
  /** The gate's own value; only with `ok`. */
  readonly value?: unknown
  readonly issues: readonly Issue[]
  /** Read only after a repair that cost no call. */
  readonly isRepaired: boolean
  /** Of models. */
  readonly sent?: Sent
  /** Of people: who, and what they said to the model. */
  readonly by?: string
  readonly hint?: string
}

type Place = Pick<Taken, 'rung' | 'on' | 'number'>

/** Judges what a model sent. */
export async function takenFrom(place: Place, sent: Sent, gate: Gate, input: unknown): Promise<Taken> {
  const base = { ...place, text: sent.text, sent, isRepaired: false }
  if (sent.failure?.kind === 'refused' || sent.finish === 'content-filter') {
    const code = sent.failure?.code ?? 'answer.refused'
    return bad(base, 'refused', [{ path: '', code, message: 'the provider refused to answer' }])
  }
  if (sent.failure)
    return bad(base, sent.failure.kind === 'semantic' ? 'semantic' : 'syntax', [
      { path: '', code: sent.failure.code, message: 'the provider sent no answer that can be read' },
    ])
  const reading = readAnswer(sent.text, sent.finish === 'length')
  if (!reading.ok)
    return bad(base, reading.kind, [{ path: '', code: `answer.${reading.kind}`, message: reading.message }])
  return judged({ ...base, draft: reading.value, isRepaired: reading.repaired }, gate, input, sent.finish === 'length')
}

/** Judges a value, whoever it is from. */
export async function judged(
  base: Place & Pick<Taken, 'text' | 'isRepaired' | 'draft'> & Partial<Taken>,
  gate: Gate,
  input: unknown,
  wasCutOff = false,
): Promise<Taken> {
  try {
    const verdict = await gate.judge(base.draft, { input })
    if (verdict.ok) return { ...base, kind: 'ok', issues: [], value: verdict.value, answer: hashOfAnswer(base) }
    return bad(base, wasCutOff ? 'truncated' : 'semantic', verdict.issues)
  } catch (thrown) {
    const bug = failureOf(thrown)
    if (bug?.code !== 'gate.bug') throw thrown
    return bad(base, 'bug', [{ path: '', code: 'gate.bug', message: 'a rule of the gate threw', detail: bug.message }])
  }
}

function bad(
  base: Place & Pick<Taken, 'text' | 'isRepaired'> & Partial<Taken>,
  kind: TakeKind,
  issues: readonly Issue[],
): Taken {
  const fault = shortHash(issues.map(({ path, code }) => [path, code]))
  return { ...base, kind, issues, answer: hashOfAnswer(base), fault }
}

/** Two answers that say the same are the same, however they are written. */
const hashOfAnswer = ({ draft, text }: Pick<Taken, 'draft' | 'text'>): string => shortHash(draft ?? text)
