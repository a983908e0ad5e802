/**
 * `ctx.ask`: climbs a ladder until an answer passes the gate. Each step follows from stored takes alone, so a handler that runs again
 * judges what it has, buys nothing twice, and goes on where it was. What a step is, `climb.ts` says; how a send is made, `send.ts`.
 */
import type { Context } from '../engine/context.ts'
import { keep, kept } from '../engine/keep.ts'
import type { Failure } from '../failure/failure.ts'
import { failureOf } from '../failure/own.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { askFailure } from './ask-failure.ts'
import { type AskOptions, type AskPlan, planOf } from './ask-options.ts'
import { AskStory } from './ask-story.ts'
import { climb, type Step } from './climb.ts'
import { questionOf, takenFromReply } from './desk.ts'
import type { SendOptions } from './language-model.ts'
import { idOf } from './model-id.ts'
import { type Earlier, promptOf } from './prompt.ts'
import { type ModelRung, type PersonRung, roomOf } from './rung.ts'
import { type Sender, send } from './send.ts'
import { type Taken, takenFrom } from './taken.ts'

export interface Asked<Value = unknown> {
  /** What the gate gave back. */
  readonly value: Value
  /** Name of the rung whose answer it is. */
  readonly rung: string
  /** Every take, those of earlier attempts included. */
  readonly takes: readonly AskTake[]
  /** Of all takes, US dollars. A take without a known price adds nothing. */
  readonly cost: number
}

export interface AskTake {
  readonly rung: string
  readonly take: number
  readonly kind: Taken['kind']
  /** Of the issues. */
  readonly codes: readonly string[]
  /** Read only after a repair that cost no call. */
  readonly repaired: boolean
  readonly model?: string
  readonly usd?: number
  readonly ms?: number
  /** Who, at a desk. */
  readonly by?: string
}

export interface Asker extends Sender {
  readonly person: Context['person']
}

/** No ladder that is allowed climbs longer; a bound for what should not happen. */
const STEPS_MAX = 5_000

const NAME = /^[A-Za-z0-9][A-Za-z0-9 ._:-]{0,79}$/

export async function askLadder<Value>(
  asker: Asker,
  name: string,
  options: AskOptions<Value, never>,
  runInput: unknown,
): Promise<Asked<Value>> {
  if (typeof name !== 'string' || !NAME.test(name))
    throw new RepriseError(
      'ask.name',
      `ask name is ${JSON.stringify(name)}. Allowed: 1 to 80 letters, digits, spaces, ".", "_", ":" or "-", beginning with a letter or digit.`,
    )
  const asking = new Asking(asker, name, planOf(name, options as AskOptions, runInput))
  return (await asking.climb()) as Asked<Value>
}

class Asking {
  readonly #asker: Asker
  readonly #name: string
  readonly #plan: AskPlan
  readonly #story: AskStory
  readonly #takes: Taken[] = []

  constructor(asker: Asker, name: string, plan: AskPlan) {
    this.#asker = asker
    this.#name = name
    this.#plan = plan
    this.#story = new AskStory(asker.execution, name, plan)
  }

  async climb(): Promise<Asked> {
    const { rungs } = this.#plan.ladder
    const facts = {
      hasImage: this.#plan.image !== undefined,
      roomOf: (rung: number) => roomOf(rungs[rung] as ModelRung, this.#asker.models.prices),
    }
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const step = climb(rungs, this.#takes, facts)
      this.#story.moved(step, this.#takes)
      switch (step.do) {
        case 'ask':
          this.#takes.push(await this.#ask(step, rungs[step.rung] as ModelRung))
          break
        case 'person':
          this.#takes.push(await this.#person(step, rungs[step.rung] as PersonRung))
          break
        case 'wait':
          throw this.#wait(step, rungs[step.rung] as ModelRung)
        case 'fail':
          this.#story.ended(this.#takes)
          throw askFailure(this.#name, step.left, this.#plan, this.#takes)
        case 'done':
          this.#story.ended(this.#takes)
          return this.#answer(this.#takes[step.take] as Taken)
      }
    }
    throw new Error(`ask "${this.#name}" did not end after ${STEPS_MAX} steps`)
  }

  async #ask(step: Extract<Step, { do: 'ask' }>, rung: ModelRung): Promise<Taken> {
    const { execution } = this.#asker
    const place = { rung: step.rung, on: rung.name, number: step.take }
    const name = `${this.#name}/${rung.name}.${step.take}`
    const over = (await kept(execution, name)) as Failure | undefined
    if (over) {
      this.#story.replayed()
      return exhaustedTake(place, over)
    }
    try {
      const { sent, isNew } = await send(this.#asker, this.#request(name, step, rung))
      const taken = await takenFrom(place, sent, this.#plan.gate, this.#plan.input)
      if (isNew) this.#story.answered(taken)
      else this.#story.replayed()
      return taken
    } catch (thrown) {
      const failed = failureOf(thrown)
      if (failed?.kind !== 'exhausted' || !failed.code.startsWith('budget.')) throw thrown
      const taken = exhaustedTake(place, failed)
      this.#story.goesOn()
      // A wait is asked about anew; whatever else follows must not be undone by a budget that opens meanwhile.
      if (rung.onExhausted !== 'wait' || taken.until === undefined) await keep(execution, name, failed)
      return taken
    }
  }

  #request(name: string, step: Extract<Step, { do: 'ask' }>, rung: ModelRung): Parameters<typeof send>[1] {
    const { hashes } = this.#plan
    const sends = this.#takes.filter(({ sent }) => sent !== undefined)
    const last = sends.at(-1)
    const hint = this.#takes.findLast(({ kind }) => kind === 'back')?.hint
    const { model, resource, budget, price, timeoutMs, ambiguous, policy, baseURL, onExhausted } = rung
    const { mode, take, maxOutputTokens, less } = step
    return {
      name,
      model,
      resource,
      input: {
        ...{ asked: hashes, model: idOf(model), take, mode, maxOutputTokens, less },
        after: sends.map(({ answer }) => answer),
        ...(hint === undefined ? {} : { hint }),
      },
      options: this.#options(step, rung, sends, hint, last?.sent?.salt ?? ''),
      about: {
        ...{ ask: this.#name, rung: rung.name, take, hashes },
        // What was wrong with the answer before this one is stored here: with the next write there is, and for good.
        ...(last ? { told: { rung: last.on, take: last.number, kind: last.kind, issues: last.issues } } : {}),
      },
      onSend: () => this.#story.asked(step, rung, idOf(model)),
      onExhausted: onExhausted === 'wait' ? 'wait' : 'person',
      ...(budget ? { budget } : {}),
      ...(price ? { price } : {}),
      timeoutMs,
      ...(ambiguous ? { ambiguous } : {}),
      ...(policy ? { policy } : {}),
      ...(baseURL === undefined ? {} : { baseURL }),
    }
  }

  #options(
    step: Extract<Step, { do: 'ask' }>,
    { temperature, providerOptions }: ModelRung,
    sends: readonly Taken[],
    hint: string | undefined,
    salt: string,
  ): SendOptions {
    const { question, schema, image } = this.#plan
    const earlier: Earlier[] = sends.map(({ on, text, issues }) => ({ rung: on, text, issues }))
    const prompt = promptOf({ question, step, earlier, salt, ...(hint === undefined ? {} : { hint }) })
    const shown = image && (step.withImage || image.always) ? image : undefined
    return {
      prompt: [
        ...(prompt.system === undefined ? [] : [{ role: 'system', content: prompt.system }]),
        {
          role: 'user',
          content: [
            { type: 'text', text: prompt.text },
            ...(shown
              ? [
                  {
                    type: 'file',
                    mediaType: shown.mediaType,
                    data: { type: 'data', data: shown.data },
                  },
                ]
              : []),
          ],
        },
      ],
      maxOutputTokens: step.maxOutputTokens,
      responseFormat: { type: 'json', ...(schema ? { schema } : {}) },
      ...(temperature === undefined ? {} : { temperature }),
      ...(providerOptions ? { providerOptions } : {}),
    }
  }

  async #person(step: Extract<Step, { do: 'person' }>, rung: PersonRung): Promise<Taken> {
    const { hashes, gate, input } = this.#plan
    const asked = this.#asker.person(`${this.#name}/${rung.name}`, {
      queue: rung.queue,
      ...(step.isLate ? {} : { within: rung.withinMs }),
      question: questionOf(step, this.#plan, this.#takes),
      input: { asked: hashes, round: step.round, after: this.#takes.map(({ answer }) => answer ?? null) },
    })
    const reply = await asked.catch((leave: unknown) => {
      this.#story.goesOn()
      throw leave
    })
    this.#story.replayed()
    const place = { rung: step.rung, on: rung.name, number: step.round }
    const taken = await takenFromReply(reply, place, this.#plan.ladder.rungs, gate, input)
    this.#story.replied(taken)
    return taken
  }

  /** The attempt ends suspended until the budget's window opens again. */
  #wait({ until }: Extract<Step, { do: 'wait' }>, rung: ModelRung): Error {
    const { execution } = this.#asker
    const { leave } = execution.overBudget ?? {}
    const reason = `${this.#name} waits for the budget of ${rung.name}`
    if (leave?.type !== 'budget') return execution.suspend({ type: 'later', at: until, reason }, reason)
    // The rung wants to wait, whatever the budget itself would rather.
    const why = { ...leave.why, params: { ...leave.why.params, next: 'wait' as const } }
    return execution.suspend({ ...leave, why }, reason)
  }

  #answer({ value, on }: Taken): Asked {
    return { value, rung: on, takes: this.#takes.map(toldOf), cost: costOfTakes(this.#takes) }
  }
}

export const costOfTakes = (takes: readonly Taken[]): number =>
  takes.reduce((sum, { sent }) => sum + (sent?.usd ?? 0), 0)

const toldOf = ({ on, number, kind, issues, isRepaired, sent, by }: Taken): AskTake => ({
  ...{ rung: on, take: number, kind, codes: [...new Set(issues.map(({ code }) => code))], repaired: isRepaired },
  ...(sent ? { model: sent.asked, ms: sent.ms } : {}),
  ...(sent?.usd === undefined ? {} : { usd: sent.usd }),
  ...(by === undefined ? {} : { by }),
})

function exhaustedTake(place: Pick<Taken, 'rung' | 'on' | 'number'>, { code, message, facts }: Failure): Taken {
  const resetsAt = facts?.['resetsAt']
  return {
    ...place,
    kind: 'exhausted',
    text: '',
    isRepaired: false,
    issues: [{ path: '', code, message }],
    ...(typeof resetsAt === 'number' ? { until: resetsAt } : {}),
  }
}
