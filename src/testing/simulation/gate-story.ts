/**
 * What holds, retry buckets and limits allowed at each claim, folded from what the store executed and written down a second time
 * on purpose. It finds claims that were given more, and when a lane was closed to its runs.
 */
import type { AnswerChange } from '../../ports/store.ts'
import type { HoldOrder, HoldTarget } from '../../run/hold.ts'
import type { Lane } from '../../run/run.ts'
import { BucketBook } from './bucket-book.ts'
import type { History, StoreLine } from './history.ts'
import type { Draft, Model } from './story.ts'
import { jumped, keysAfter, mayBeParked } from './turn-story.ts'

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
  /** The last token that was given out when its probe got an answer. */
  healedAfter: number | undefined
}

export interface GateStory {
  readonly holdBreaches: readonly string[]
  readonly retryBreaches: readonly string[]
  readonly limitBreaches: readonly string[]
  readonly turnBreaches: readonly string[]
  readonly keyBreaches: readonly string[]
  /** When a run of this lane could not be claimed for reasons that are not the workers'. */
  readonly closed: (lane: Lane, again: boolean) => readonly Span[]
  readonly seen: Readonly<Record<GateEvent, number>>
}

export type GateEvent =
  | 'probe'
  | 'admitted'
  | 'refused'
  | 'vanished'
  | 'ramp'
  | 'failing'
  | 'retry'
  | 'full'
  | 'forward'
  | 'quota'
  | 'keyFull'

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

/** Follows the store line by line, beside the stories of the runs: it is told before a line is applied to them and after. */
export class GateFold {
  readonly #history: Pick<History, 'limits' | 'ageingMs'>
  readonly #drafts: ReadonlyMap<string, Draft>
  readonly #holds = new Map<HoldTarget, HoldBook>()
  readonly #buckets = new BucketBook()
  readonly #nonces = new Set<string>()
  readonly #given = new Map<string, number[]>()
  readonly #holdBreaches: string[] = []
  readonly #limitBreaches: string[] = []
  readonly #turnBreaches: string[] = []
  readonly #keyBreaches: string[] = []
  readonly #closed: { readonly what: HoldTarget; readonly from: number; to: number }[] = []
  readonly #seen: Record<GateEvent, number> = {
    ...{ probe: 0, admitted: 0, refused: 0, vanished: 0, ramp: 0, failing: 0, retry: 0, full: 0 },
    ...{ forward: 0, quota: 0, keyFull: 0 },
  }
  /** The last token that was given out. */
  #token = 0

  constructor(history: Pick<History, 'limits' | 'ageingMs'>, drafts: ReadonlyMap<string, Draft>) {
    this.#history = history
    this.#drafts = drafts
  }

  story(endedAt: number): GateStory {
    for (const [what, hold] of this.#holds) this.#close(what, hold, endedAt)
    const closed = this.#closed
    const buckets = this.#buckets
    return {
      holdBreaches: this.#holdBreaches,
      retryBreaches: buckets.breaches,
      limitBreaches: this.#limitBreaches,
      turnBreaches: this.#turnBreaches,
      keyBreaches: this.#keyBreaches,
      closed: (lane, again) => [
        ...closed.filter(({ what }) => covers(what, lane)),
        ...(again && lane.resource !== undefined ? buckets.spans(lane.resource, endedAt) : []),
      ],
      seen: { ...this.#seen, failing: buckets.failings, retry: buckets.retries },
    }
  }

  /** Answers with the runs that the line brings forward: they waited to try again what answers now. */
  before(line: StoreLine): readonly Draft[] {
    if (line.verb === 'hold') this.#set(line.order, line.at)
    else if (line.verb === 'release' && line.answer === 'ok') {
      this.#drop(line.what, line.at)
      return this.#waitingFor(line.what, Number.POSITIVE_INFINITY)
    } else if (line.verb === 'commit' && line.answer === 'ok' && line.change.type === 'end') {
      const lane = this.#drafts.get(line.change.run)?.last.lane
      this.#verdict(line.change, line.at)
      if (lane) this.#buckets.ended(line.change, lane, line.at, this.#token)
    } else if (line.verb === 'commit' && line.answer === 'ok' && line.change.type === 'answer') {
      this.#answered(line.change, line.hold, line.at)
    } else if (line.verb === 'claim' && !this.#nonces.has(line.nonce)) return this.#broughtForward()
    return []
  }

  after(line: StoreLine): void {
    if (line.verb === 'claim') this.#claim(line)
  }

  #broughtForward(): readonly Draft[] {
    const healed = [
      ...[...this.#holds].map(([what, { phase, healedAfter }]) => ({
        what,
        healedAfter,
        heals: phase === 'admitting',
      })),
      ...this.#buckets.healed.map(({ resource, healedAfter }) => ({
        ...{ what: `resource:${resource}` as const, healedAfter, heals: true },
      })),
    ]
    const brought = new Set(
      healed.flatMap(({ what, healedAfter, heals }) =>
        heals && healedAfter !== undefined ? this.#waitingFor(what, healedAfter) : [],
      ),
    )
    this.#seen.forward += brought.size
    return [...brought]
  }

  /** Those that were claimed under this token or an earlier one, and wait to try it again. */
  #waitingFor(what: HoldTarget, healedAfter: number): Draft[] {
    return [...this.#drafts.values()].filter(({ last: { state, dueAt, again, lane, endedBy = 0 } }) => {
      const waits = state === 'waiting' && dueAt !== undefined && again
      return waits && covers(what, lane) && endedBy <= healedAfter
    })
  }

  get #models(): Model[] {
    return [...this.#drafts.values()].map(({ last }) => last)
  }

  #set(order: HoldOrder, at: number): void {
    this.#drop(order.what, at)
    this.#holds.set(order.what, {
      order,
      setAt: at,
      phase: 'held',
      probe: undefined,
      since: at,
      admitted: 0,
      healedAfter: undefined,
    })
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
      const healedAfter = this.#token
      Object.assign(hold, { phase: 'admitting', probe: undefined, since: at, admitted: 0, healedAfter })
      this.#seen.admitted += 1
    }
    if (!order) return
    const known = this.#holds.get(order.what)
    if (known?.phase === 'probing') this.#seen.refused += 1
    const knownUntil = known?.order.until ?? Number.POSITIVE_INFINITY
    const lasts = known?.phase === 'held' && knownUntil >= (order.until ?? Number.POSITIVE_INFINITY)
    if (!lasts) this.#set(order, at)
  }

  /** An answer that says how much is left: nobody else begins while those that are out may use it up, or hardly more. */
  #answered({ quotas = [] }: AnswerChange, order: HoldOrder | undefined, at: number): void {
    const untils = quotas.map(({ resource, remaining, resetAt }) => {
      const out = this.#models.filter(
        ({ holder, lane }) => holder && !holder.isPerson && lane.resource === resource,
      ).length
      const room = remaining - Math.max(0, out - 1)
      const share = room <= 0 ? 1 : room <= 2 * out ? 1 / (room + 1) : 0
      return resetAt <= at ? at : at + Math.ceil((resetAt - at) * share)
    })
    const until = Math.max(at, ...untils)
    const known = quotas[0] && this.#holds.get(`resource:${quotas[0].resource}`)
    const lasts = known?.phase === 'held' && (known.order.until ?? Number.POSITIVE_INFINITY) >= until
    const expected = until > at && !lasts ? until : undefined
    if (order?.until !== expected)
      this.#holdBreaches.push(`an answer at ${at} held until ${order?.until}, what it said asks for ${expected}`)
    if (!order) return
    this.#set(order, at)
    this.#seen.quota += 1
  }

  #claim(line: ClaimLine): void {
    const isNew = !this.#nonces.has(line.nonce)
    if (line.runs.length > 0) this.#nonces.add(line.nonce)
    this.#token = Math.max(this.#token, line.token)
    const given = line.runs.flatMap(({ id }): Given[] => {
      const step = this.#drafts.get(id)?.steps.at(-1)
      return step?.kind === 'claimed' && step.line === line && step.before ? [{ run: id, model: step.before }] : []
    })
    this.#refresh(line.at)
    if (!isNew) return
    for (const [what, hold] of [...this.#holds]) this.#pass(what, hold, given, line)
    for (const limit of this.#history.limits) this.#limited(limit, given, line)
    this.#turnBreaches.push(...jumped(this.#drafts, given, line, this.#history.ageingMs))
    const keys = keysAfter(this.#drafts, given, line)
    this.#keyBreaches.push(...keys.breaches)
    this.#seen.keyFull += keys.full
    this.#buckets.claimed(given, line.at, this.#models)
  }

  /** What time alone does to holds, found out at a claim. */
  #refresh(at: number): void {
    for (const [what, hold] of [...this.#holds]) {
      const { order, probe } = hold
      if (probe && this.#drafts.get(probe.run)?.last.holder?.token !== probe.token) {
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
      const waits = [...this.#drafts.values()].some(
        (draft) => isWaiting(draft.last, at) && covers(what, draft.last.lane) && !mayBeParked(this.#drafts, draft, at),
      )
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
      const out = this.#models.filter(({ holder, lane }) => holder && !holder.isPerson && covers(what, lane)).length
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
