/**
 * What holds, retry buckets and limits allowed at each claim, folded from what the store executed and written down a second time
 * on purpose. It finds claims that were given more, and when a lane was closed to its runs.
 */
import type { HoldOrder, HoldTarget } from '../../run/hold.ts'
import type { Lane } from '../../run/run.ts'
import { BucketBook } from './bucket-book.ts'
import type { History, StoreLine } from './history.ts'
import { only } from './history.ts'
import { type Model, type Story, type StoryStep, stories } from './story.ts'

export interface Span {
  readonly from: number
  readonly to: number
}

/** A run that a claim gave out, as it was just before. */
export interface Given {
  readonly run: string
  readonly model: Model
}

type ClaimLine = Extract<StoreLine, { verb: 'claim' }>

interface HoldBook {
  readonly order: HoldOrder
  readonly setAt: number
  phase: 'held' | 'probing' | 'admitting'
  probe: { readonly run: string; readonly token: number } | undefined
  since: number
  admitted: number
}

export interface GateStory {
  readonly holdBreaches: readonly string[]
  readonly retryBreaches: readonly string[]
  readonly limitBreaches: readonly string[]
  /** When a run of this lane could not be claimed for reasons that are not the workers'. */
  readonly closed: (lane: Lane, again: boolean) => readonly Span[]
  readonly seen: Readonly<Record<GateEvent, number>>
}

export type GateEvent = 'probe' | 'admitted' | 'refused' | 'vanished' | 'ramp' | 'failing' | 'retry' | 'full'

/** The straight ramp: so many runs may have been let in, so long after. */
export const rampAllows = (ms: number): number => Math.floor(2.5 * (Math.max(0, ms) / 1_000) ** 2) + 1

/** A ramp that nobody finished is over. */
const RAMP_MAX_MS = 600_000

/** A ramp for as many runs as a seed has. */
const RAMP_USUAL_MS = 8_000

export function covers(what: HoldTarget, lane: Lane): boolean {
  const [, scope, name] = /^(task|resource|category):(.*)$/.exec(what) ?? []
  return name !== undefined && lane[scope as 'task' | 'resource' | 'category'] === name
}

const told = new WeakMap<History, GateStory>()

export function gateStory(history: History): GateStory {
  const known = told.get(history) ?? new GateFold(history).story()
  told.set(history, known)
  return known
}

class GateFold {
  readonly #history: History
  readonly #steps: ReadonlyMap<number, readonly { readonly story: Story; readonly step: StoryStep }[]>
  readonly #models = new Map<string, Model>()
  readonly #holds = new Map<HoldTarget, HoldBook>()
  readonly #buckets = new BucketBook()
  readonly #nonces = new Set<string>()
  readonly #given = new Map<string, number[]>()
  readonly #holdBreaches: string[] = []
  readonly #limitBreaches: string[] = []
  readonly #closed: { readonly what: HoldTarget; readonly from: number; to: number }[] = []
  readonly #seen: Record<GateEvent, number> = {
    ...{ probe: 0, admitted: 0, refused: 0, vanished: 0, ramp: 0, failing: 0, retry: 0, full: 0 },
  }

  constructor(history: History) {
    this.#history = history
    const steps = new Map<number, { story: Story; step: StoryStep }[]>()
    for (const story of stories(history).values()) {
      for (const step of story.steps) {
        const ofLine = steps.get(step.line.seq)
        if (ofLine) ofLine.push({ story, step })
        else steps.set(step.line.seq, [{ story, step }])
      }
    }
    this.#steps = steps
  }

  story(): GateStory {
    for (const line of only(this.#history, 'store')) this.#follow(line)
    for (const [what, hold] of this.#holds) this.#close(what, hold, this.#history.dump.at)
    const closed = this.#closed
    const buckets = this.#buckets
    return {
      holdBreaches: this.#holdBreaches,
      retryBreaches: buckets.breaches,
      limitBreaches: this.#limitBreaches,
      closed: (lane, again) => [
        ...closed.filter(({ what }) => covers(what, lane)),
        ...(again && lane.resource !== undefined ? buckets.spans(lane.resource, this.#history.dump.at) : []),
      ],
      seen: { ...this.#seen, failing: buckets.failings, retry: buckets.retries },
    }
  }

  #follow(line: StoreLine): void {
    if (line.verb === 'hold') this.#set(line.order, line.at)
    else if (line.verb === 'release' && line.answer === 'ok') this.#drop(line.what, line.at)
    else if (line.verb === 'commit' && line.answer === 'ok' && line.change.type === 'end') {
      const lane = this.#models.get(line.change.run)?.lane
      this.#verdict(line.change, line.at)
      if (lane) this.#buckets.ended(line.change, lane, line.at)
    }
    if (line.verb === 'claim') this.#claim(line)
    else for (const { story, step } of this.#steps.get(line.seq) ?? []) this.#models.set(story.run, step.after)
  }

  #set(order: HoldOrder, at: number): void {
    this.#drop(order.what, at)
    this.#holds.set(order.what, { order, setAt: at, phase: 'held', probe: undefined, since: at, admitted: 0 })
  }

  #drop(what: HoldTarget, at: number): void {
    const known = this.#holds.get(what)
    if (known) this.#close(what, known, at)
    this.#holds.delete(what)
  }

  /** Notes when the lane was closed: until the end of the hold, while its probe was out, and for a while on the ramp. */
  #close(what: HoldTarget, { order, setAt, phase, since }: HoldBook, at: number): void {
    const { until = Number.POSITIVE_INFINITY } = order
    this.#closed.push({ what, from: setAt, to: Math.min(at, until) })
    if (phase === 'probing') this.#closed.push({ what, from: since, to: at })
    if (phase === 'admitting') this.#closed.push({ what, from: since, to: Math.min(at, since + RAMP_USUAL_MS) })
  }

  #verdict({ run, token, state, admits, hold: order }: Parameters<BucketBook['ended']>[0], at: number): void {
    for (const [what, hold] of this.#holds) {
      const isProbe = hold.phase === 'probing' && hold.probe?.run === run && hold.probe.token === token
      if (!isProbe || what === order?.what || !(state === 'succeeded' || admits)) continue
      this.#closed.push({ what, from: hold.since, to: at })
      Object.assign(hold, { phase: 'admitting', probe: undefined, since: at, admitted: 0 })
      this.#seen.admitted += 1
    }
    if (!order) return
    const known = this.#holds.get(order.what)
    if (known?.phase === 'probing') this.#seen.refused += 1
    const knownUntil = known?.order.until ?? Number.POSITIVE_INFINITY
    const lasts = known?.phase === 'held' && knownUntil >= (order.until ?? Number.POSITIVE_INFINITY)
    if (!lasts) this.#set(order, at)
  }

  #claim(line: ClaimLine): void {
    const isNew = !this.#nonces.has(line.nonce)
    if (line.runs.length > 0) this.#nonces.add(line.nonce)
    const steps = this.#steps.get(line.seq) ?? []
    const given: Given[] = []
    for (const { story, step } of steps) {
      if (step.kind === 'claimed' && step.before) given.push({ run: story.run, model: step.before })
      this.#models.set(story.run, step.after)
    }
    this.#refresh(line.at)
    if (!isNew) return
    for (const [what, hold] of [...this.#holds]) this.#pass(what, hold, given, line)
    for (const limit of this.#history.limits) this.#limited(limit, given, line)
    this.#buckets.claimed(given, line.at, [...this.#models.values()])
  }

  /** What time alone does to holds, found out at a claim. */
  #refresh(at: number): void {
    for (const [what, hold] of [...this.#holds]) {
      const { order, probe } = hold
      if (probe && this.#models.get(probe.run)?.holder?.token !== probe.token) {
        // It may have been given out just now: then it is not gone.
        this.#closed.push({ what, from: hold.since, to: at })
        Object.assign(hold, { phase: 'held', probe: undefined })
        this.#seen.vanished += 1
      }
      const isOver = order.until !== undefined && order.until <= at
      if (hold.phase === 'held' && !order.probe && isOver)
        Object.assign(hold, { phase: 'admitting', since: order.until, admitted: 0 })
      if (hold.phase === 'admitting' && at - hold.since >= RAMP_MAX_MS) this.#drop(what, at)
    }
  }

  #pass(what: HoldTarget, hold: HoldBook, given: readonly Given[], { at, token, worker }: ClaimLine): void {
    const covered = given.filter(({ model }) => covers(what, model.lane))
    const left = this.#left(hold, at)
    if (covered.length > left)
      this.#holdBreaches.push(
        `${worker} got ${covered.map(({ run }) => run).join(' ')} at ${at}: ${what} is ${hold.phase} until ${hold.order.until ?? 'released'} and allows ${left}`,
      )
    const [first] = covered
    if (!first) return
    if (hold.phase === 'held') {
      Object.assign(hold, { phase: 'probing', probe: { run: first.run, token }, since: at })
      this.#seen.probe += 1
    } else if (hold.phase === 'admitting') {
      hold.admitted += covered.length
      this.#seen.ramp += covered.length
      const waits = [...this.#models.values()].some((model) => isWaiting(model, at) && covers(what, model.lane))
      if (!waits) this.#drop(what, at)
    }
  }

  #left(hold: HoldBook, at: number): number {
    if (hold.phase === 'held') return hold.order.until !== undefined && hold.order.until <= at ? 1 : 0
    return hold.phase === 'probing' ? 0 : Math.max(0, rampAllows(at - hold.since) - hold.admitted)
  }

  #limited(
    { what, running, rate }: History['limits'][number],
    given: readonly Given[],
    { at, worker }: ClaimLine,
  ): void {
    const covered = given.filter(({ model }) => covers(what, model.lane))
    if (covered.length === 0) return
    if (running !== undefined) {
      const out = [...this.#models.values()].filter((model) => model.holder && covers(what, model.lane)).length
      if (out >= running) this.#seen.full += 1
      if (out > running)
        this.#limitBreaches.push(`${worker} made it ${out} of ${what} at ${at}, allowed are ${running}`)
    }
    if (rate) {
      const name = `${what} ${rate.perMs}`
      const times = [...(this.#given.get(name) ?? []), ...covered.map(() => at)].filter(
        (each) => each > at - rate.perMs,
      )
      this.#given.set(name, times)
      if (times.length > rate.max)
        this.#limitBreaches.push(`${times.length} of ${what} within ${rate.perMs} ms at ${at}, allowed are ${rate.max}`)
    }
  }
}

/** Whether it could have been claimed but for what is closed. */
export const isWaiting = ({ state, dueAt, holder, suspect }: Model, at: number): boolean =>
  !holder &&
  !suspect &&
  (state === 'ready' || ((state === 'waiting' || state === 'review') && dueAt !== undefined && dueAt <= at))
