/**
 * The end of an ask that nobody could answer: a failure that tells why, with the last answer as a draft beside it, never as a result.
 */

import type { Kind } from '../failure/failure.ts'
import { type FailureError, failure } from '../failure/own.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { AskPlan } from './ask-options.ts'
import type { Left } from './climb.ts'
import { readAnswer } from './read-answer.ts'
import type { Sent } from './send.ts'
import type { Taken } from './taken.ts'

/** What a failed ask leaves to look at. */
export interface Draft {
  readonly value?: unknown
  readonly text: string
  readonly rung: string
}

export interface AskError extends FailureError {
  /** The last answer there was; not good enough to be a result. */
  readonly draft?: Draft
}

export function askFailure(name: string, { from, reason }: Left, plan: AskPlan, takes: readonly Taken[]): AskError {
  const last = takes.at(-1)
  const issue = last?.issues[0]
  const on = plan.ladder.rungs[from]?.name ?? ''
  const { kind, code, message } = endOf(reason, name, on, last)
  const thrown = failure({
    kind,
    code,
    message,
    facts: {
      ...{ ask: name, rung: on, takes: takes.filter(({ sent }) => sent).length },
      ...(issue ? { issue: issue.code, path: issue.path } : {}),
    },
  })
  const best = takes.findLast(({ text, kind: how }) => text !== '' && how !== 'rejected')
  if (best) {
    const draft: Draft = { text: best.text, rung: best.on, ...(best.draft === undefined ? {} : { value: best.draft }) }
    Object.defineProperty(thrown, 'draft', { value: draft })
  }
  return thrown
}

function endOf(
  reason: Left['reason'],
  name: string,
  on: string,
  last: Taken | undefined,
): { readonly kind: Kind; readonly code: string; readonly message: string } {
  const issue = last?.issues[0]
  switch (reason) {
    case 'rejected':
      return {
        kind: 'final',
        code: 'review.rejected',
        message: `${name} was rejected by ${last?.by ?? 'a person'}: ${last?.text || 'no reason given'}`,
      }
    case 'refused':
      return {
        kind: 'refused',
        code: issue?.code ?? 'answer.refused',
        message: `${on} refused ${name}, and the ladder has no person`,
      }
    case 'bug':
      return {
        kind: 'final',
        code: 'gate.bug',
        message: issue?.detail ?? 'A rule of the gate threw instead of judging',
      }
    case 'exhausted':
      return {
        kind: 'exhausted',
        code: issue?.code ?? 'budget.exhausted',
        message: issue?.message ?? `the budget of ${on} is used up`,
      }
    default:
      return {
        kind: 'final',
        code: 'ladder.spent',
        message: `${name} has no answer that passes the gate: every rung is used, the last was ${on}${issue ? ` (${issue.code})` : ''}`,
      }
  }
}

/** The latest answer of an ask, from a run's journal: what a failed run shows as its draft. Without `ask`, of any ask of the run. */
export function draftOf(journal: readonly JournalEntry[], ask?: string): Draft | undefined {
  const answers = journal
    .flatMap(({ answer, answeredAt = 0 }) => {
      const sent = answer === undefined ? undefined : sentOf(answer)
      return sent ? [{ ...sent, answeredAt }] : []
    })
    .filter(({ about, text }) => text !== '' && (ask === undefined || about['ask'] === ask))
    .sort((a, b) => a.answeredAt - b.answeredAt)
  const last = answers.at(-1)
  if (!last) return undefined
  const reading = readAnswer(last.text, last.finish === 'length')
  return { text: last.text, rung: String(last.about['rung']), ...(reading.ok ? { value: reading.value } : {}) }
}

function sentOf(answer: string): (Sent & { readonly about: Readonly<Record<string, unknown>> }) | undefined {
  const sent = JSON.parse(answer) as Partial<Sent> | null
  if (typeof sent !== 'object' || typeof sent?.asked !== 'string' || typeof sent.about?.['ask'] !== 'string')
    return undefined
  return sent as Sent & { readonly about: Readonly<Record<string, unknown>> }
}
