/**
 * What an ask tells while it climbs: events for logs, metrics and the run's story, each with the document's hash.
 * Only what happens now is told; what an earlier attempt did and told is replayed in silence.
 */
import type { Execution } from '../engine/execution.ts'
import type { AskPlan } from './ask-options.ts'
import type { Step } from './climb.ts'
import type { ModelRung } from './rung.ts'
import type { Taken } from './taken.ts'

export class AskStory {
  readonly #execution: Execution
  readonly #plan: AskPlan
  readonly #known: { readonly ask: string; readonly document: string }
  /** Something was sent in this attempt. */
  #isNew = false
  /** What follows from the latest take. Told when the climb does something new; dropped when it turns out to have been done before. */
  #pending: (() => void)[] = []

  constructor(execution: Execution, ask: string, plan: AskPlan) {
    this.#execution = execution
    this.#plan = plan
    this.#known = { ask, document: plan.sha256 }
  }

  /** A send leaves now. */
  asked(step: Extract<Step, { do: 'ask' }>, rung: ModelRung, model: string): void {
    this.goesOn()
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

  /** The climb does something for the first time: what led to it is told. */
  goesOn(): void {
    for (const tell of this.#pending.splice(0)) tell()
  }

  /** A take that was stored before this attempt: what led to it was told by the attempt that made it. */
  replayed(): void {
    this.#pending = []
  }

  /** What a model answered to a send of this attempt. */
  answered(taken: Taken): void {
    const { on: rung, number: take, isRepaired } = taken
    if (isRepaired) this.#execution.emit('answer.repaired', { ...this.#known, rung, take })
    if (taken.kind !== 'ok') this.#refused(taken)
  }

  /** A person's reply. Whether it was heard before is seen by what comes after it. */
  replied(taken: Taken): void {
    if (taken.kind === 'semantic' || taken.kind === 'bug') this.#pending.push(() => this.#refused(taken))
  }

  #refused({ on, number, kind, issues }: Taken): void {
    const codes = [...new Set(issues.map(({ code }) => code))].slice(0, 10)
    const how = REFUSED[kind] ?? 'semantic'
    this.#execution.emit('answer.refused', { ...this.#known, rung: on, take: number, how, codes })
  }

  moved(step: Step, takes: readonly Taken[]): void {
    if (!('left' in step) || !step.left || step.do === 'fail') return
    const code = takes.at(-1)?.issues[0]?.code
    const { rungs } = this.#plan.ladder
    const left = {
      ...this.#known,
      rung: rungs[step.left.from]?.name ?? '',
      to: rungs[step.rung]?.name ?? '',
      isPerson: step.do === 'person',
      reason: step.left.reason,
      ...(code === undefined ? {} : { code }),
    }
    this.#pending.push(() => this.#execution.emit('rung.left', left))
  }

  ended(takes: readonly Taken[]): void {
    const last = takes.at(-1)
    if (!this.#isNew && last?.sent) return
    this.goesOn()
    const usd = takes.reduce((sum, { sent }) => sum + (sent?.usd ?? 0), 0)
    this.#execution.emit('ask.ended', {
      ...this.#known,
      rung: last?.on ?? '',
      solvedBy: last?.kind === 'ok' ? solvedBy(takes, last) : 'nobody',
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
