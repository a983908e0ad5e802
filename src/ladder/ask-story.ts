/**
 * What an ask tells while it climbs: events for logs, metrics and the run's story, each with the document's hash.
 * Only what happens now is told; what an earlier attempt did and told is replayed in silence.
 */
import type { Execution } from '../engine/execution.ts'
import type { AskPlan } from './ask-options.ts'
import type { LeaveReason, Step } from './climb.ts'
import type { ModelRung } from './rung.ts'
import type { Taken } from './taken.ts'

export class AskStory {
  readonly #execution: Execution
  readonly #plan: AskPlan
  readonly #known: { readonly ask: string; readonly document: string }
  /** Something was sent or answered in this attempt. */
  #isNew = false

  constructor(execution: Execution, ask: string, plan: AskPlan) {
    this.#execution = execution
    this.#plan = plan
    this.#known = { ask, document: plan.sha256 }
  }

  asked(step: Extract<Step, { do: 'ask' }>, rung: ModelRung, model: string): void {
    this.#isNew = true
    this.#execution.emit('model.asked', {
      ...this.#known,
      rung: rung.name,
      model,
      take: step.take,
      takesMax: rung.attempts,
      how: step.mode,
      image: this.#plan.image !== undefined && (step.withImage || this.#plan.image.always === true),
    })
  }

  answered(taken: Taken): void {
    if (taken.isRepaired)
      this.#execution.emit('answer.repaired', { ...this.#known, rung: taken.on, take: taken.number })
    if (taken.kind !== 'ok') this.#refused(taken)
  }

  /** A person's reply: there is no telling whether an earlier attempt heard it too. */
  replied(taken: Taken): void {
    this.#isNew = true
    if (taken.kind === 'semantic' || taken.kind === 'bug') this.#refused(taken)
  }

  #refused({ on, number, kind, issues }: Taken): void {
    const codes = [...new Set(issues.map(({ code }) => code))].slice(0, 10)
    this.#execution.emit('answer.refused', {
      ...this.#known,
      rung: on,
      take: number,
      how: REFUSED[kind] ?? 'semantic',
      codes,
    })
  }

  /** Told when the take that led to it happened now. */
  moved(step: Step, takes: readonly Taken[]): void {
    if (!('left' in step) || !step.left || step.do === 'fail') return
    const last = takes.at(-1)
    if (!this.#isNew && last?.kind !== 'exhausted') return
    const { rungs } = this.#plan.ladder
    this.#execution.emit('rung.left', {
      ...this.#known,
      rung: rungs[step.left.from]?.name ?? '',
      to: rungs[step.rung]?.name ?? '',
      isPerson: step.do === 'person',
      reason: step.left.reason satisfies LeaveReason,
      ...(last?.issues[0] ? { code: last.issues[0].code } : {}),
    })
  }

  ended(takes: readonly Taken[]): void {
    if (!this.#isNew) return
    const last = takes.at(-1)
    const isRight = last?.kind === 'ok'
    const usd = takes.reduce((sum, { sent }) => sum + (sent?.usd ?? 0), 0)
    this.#execution.emit('ask.ended', {
      ...this.#known,
      rung: last?.on ?? '',
      solvedBy: isRight ? solvedBy(takes, last) : 'nobody',
      takes: takes.filter(({ sent }) => sent !== undefined).length,
      ...(usd > 0 ? { costUsd: usd } : {}),
    })
  }
}

const REFUSED: Partial<Record<Taken['kind'], 'syntax' | 'empty' | 'truncated' | 'semantic' | 'refused' | 'bug'>> = {
  syntax: 'syntax',
  empty: 'empty',
  truncated: 'truncated',
  semantic: 'semantic',
  refused: 'refused',
  bug: 'bug',
}

/** The recourse that got the answer: the dearest one that was needed. */
function solvedBy(takes: readonly Taken[], last: Taken): 'first' | 'repair' | 'correction' | 'rung' | 'person' {
  if (!last.sent) return 'person'
  if (last.rung > 0) return 'rung'
  if (takes.length > 1) return 'correction'
  return last.isRepaired ? 'repair' : 'first'
}
