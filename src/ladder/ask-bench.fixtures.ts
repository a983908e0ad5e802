/**
 * A place to try asks in tests: the public engine on a store in memory, virtual time, scripted models, and a reviewer.
 */
import { createReprise, type RepriseOptions } from '../create-reprise.ts'
import { sumEquals } from '../gate/ready-rules.ts'
import type { Rule } from '../gate/rule.ts'
import { applyReview, type Verdict } from '../run/apply-review.ts'
import type { EventName, EventOf, RepriseEvent } from '../run/event.ts'
import type { Question } from '../run/question.ts'
import { memory } from '../stores/memory/index.ts'
import { type FakeAnswer, fakeModel } from '../testing/fake-model.ts'
import { virtualClock } from '../testing/virtual-clock.ts'
import type { AskOptions } from './ask-options.ts'
import { type Ladder, ladder } from './ladder.ts'
import { type ModelRung, person, type RungOptions, rung } from './rung.ts'

export const FLASH = 'google/gemini-flash-latest'
export const PRO = 'google/gemini-pro-latest'

export const schema = {
  type: 'object',
  required: ['total', 'lines'],
  properties: { total: { type: 'number' }, lines: { type: 'array', items: { type: 'object', required: ['total'] } } },
}
export const rules: readonly Rule[] = [sumEquals({ lines: '/lines', amount: 'total', total: '/total' })]
export const right = { total: 3, lines: [{ total: 1 }, { total: 2 }] }
/** Well-formed and wrong, each in its own way. */
export const wrong = (by: number) => ({ ...right, total: 3 + by })

type Script = readonly FakeAnswer[] | Parameters<typeof fakeModel>[0]

export interface BenchOptions extends Partial<Pick<RepriseOptions, 'budgets'>> {
  readonly flash: Script
  readonly pro?: Script
  readonly flashRung?: RungOptions
  readonly proRung?: RungOptions
  readonly ask?: Partial<AskOptions>
  readonly ladder?: (flash: ModelRung, pro: ModelRung) => Ladder
  /** What the ask threw, suspensions included. */
  readonly caught?: (error: unknown) => void
  /** What the handler does after the ask. */
  readonly after?: (execution: number) => void
}

export function askBench(options: BenchOptions) {
  const clock = virtualClock()
  const store = memory({ clock })
  let serial = 0
  const ids = (bytes: number) => `${++serial}`.padStart(bytes * 2, '0')
  const reprise = createReprise({
    store,
    clock,
    dice: () => 0.5,
    ids,
    ...(options.budgets ? { budgets: options.budgets } : {}),
  })
  const events: RepriseEvent[] = []
  reprise.on('*', (event) => events.push(event))
  const flash = fakeModel(options.flash, { id: FLASH })
  const pro = fakeModel(options.pro ?? [], { id: PRO })
  const rungs = [rung(flash, { attempts: 3, ...options.flashRung }), rung(pro, options.proRung)] as const
  const used = options.ladder
    ? options.ladder(...rungs)
    : ladder([...rungs, person({ queue: 'accounts', within: '4h' })])
  let executions = 0
  const task = reprise.task('extract', {}, async (input: unknown, ctx) => {
    executions += 1
    const asked = await ctx
      .ask('invoice', {
        ladder: used,
        prompt: 'Extract the invoice.',
        document: String(input),
        schema,
        gate: rules,
        ...options.ask,
      })
      .catch((error: unknown) => {
        options.caught?.(error)
        throw error
      })
    options.after?.(executions)
    return asked
  })
  return {
    clock,
    store,
    reprise,
    task,
    flash,
    pro,
    events,
    executions: () => executions,
    named: <Name extends EventName>(name: Name) =>
      events.filter((event) => event.name === name) as unknown as EventOf<Name>[],
    async work(until: 'idle' | 'settled' = 'idle'): Promise<void> {
      const worker = reprise.work({ concurrency: 4 })
      await clock.runUntilSettled(worker.idle(until === 'settled' ? { until } : {}))
      await clock.runUntilSettled(worker.stop())
    },
    /** The question that lies on the desk. */
    async question(run: string): Promise<Question> {
      const view = await store.get({ id: run })
      const entry = (await store.journal(run, 1)).find((each) => each.question && each.token === view?.endedBy)
      return JSON.parse(entry?.question ?? 'null') as Question
    },
    /** As a reviewer does: take, then one fenced end. */
    async reply(run: string, verdict: Verdict): Promise<void> {
      const view = await store.get({ id: run })
      if (view?.state !== 'review') throw new Error(`run ${run} is ${view?.state}, not in review`)
      const taken = await store.take({ run, by: 'ann', leaseMs: 60_000, expect: { generation: 1 } })
      if (taken.answer !== 'ok') throw new Error('the run is taken')
      const entry = (await store.journal(run, 1)).find((each) => each.question && each.token === view.endedBy)
      const { token, now } = taken
      const applied = applyReview(view, { by: 'ann', token, takenAt: now, now }, verdict, entry)
      await store.commit({ type: 'end', run, token, ...applied })
    },
  }
}
