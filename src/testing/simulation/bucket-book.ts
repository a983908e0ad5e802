/**
 * The health of resources and the retries that it allows, folded from ends and claims: the law of the retry bucket, written down
 * a second time on purpose.
 */
import type { EndChange } from '../../ports/store.ts'
import type { Lane } from '../../run/run.ts'
import { type Given, isWaiting, type Span } from './gate-story.ts'
import type { Model } from './story.ts'

interface Resource {
  health: number
  phase: 'watched' | 'failing' | 'healing'
  since: number
  /** Since it began to fail. */
  firstTries: number
  retries: number[]
  /** The last token that was given out when it began to heal. */
  healedAfter: number
}

/** About the last twenty tries tell how a resource is; below a half it fails. */
const KEPT = 0.95
const FAILING_BELOW = 0.5
const FORGOTTEN_FROM = 0.99

/** Retries in each window: what may have been saved, one a second, and a tenth of the first tries. */
const WINDOW_MS = 10_000
const SAVED_MAX = 10
const PER_SECOND = 1
const PER_FIRST_TRY = 0.1
const SLACK = 1e-6

export class BucketBook {
  readonly breaches: string[] = []
  failings = 0
  /** Retries that were let in while their resource failed. */
  retries = 0
  readonly #resources = new Map<string, Resource>()
  readonly #spans: { readonly resource: string; readonly from: number; to: number | undefined }[] = []

  /** When retries of a resource were kept back. */
  spans(resource: string, endedAt: number): readonly Span[] {
    return this.#spans.filter((span) => span.resource === resource).map(({ from, to = endedAt }) => ({ from, to }))
  }

  /** Resources that answer again, with the last token that was given out before they did. */
  get healed(): readonly { readonly resource: string; readonly healedAfter: number }[] {
    return [...this.#resources].flatMap(([resource, { phase, healedAfter }]) =>
      phase === 'healing' ? [{ resource, healedAfter }] : [],
    )
  }

  ended({ trouble, state }: EndChange, { resource }: Lane, at: number, lastToken: number): void {
    if (trouble !== undefined) this.#failed(trouble, at)
    else if (state === 'succeeded' && resource !== undefined) this.#answered(resource, at, lastToken)
  }

  #failed(name: string, at: number): void {
    const known = this.#resources.get(name) ?? {
      ...{ health: 1, phase: 'watched', since: at, firstTries: 0, retries: [], healedAfter: 0 },
    }
    known.health *= KEPT
    this.#resources.set(name, known)
    if (known.health >= FAILING_BELOW || known.phase === 'failing') return
    if (known.phase === 'watched') this.#spans.push({ resource: name, from: at, to: undefined })
    Object.assign(known, { phase: 'failing', since: at, firstTries: 0, retries: [] })
    this.failings += 1
  }

  #answered(name: string, at: number, healedAfter: number): void {
    const known = this.#resources.get(name)
    if (!known) return
    known.health = 1 - (1 - known.health) * KEPT
    if (known.phase === 'watched' && known.health >= FORGOTTEN_FROM) this.#resources.delete(name)
    if (known.phase === 'failing' && known.health >= FAILING_BELOW)
      Object.assign(known, { phase: 'healing', since: at, healedAfter })
  }

  claimed(given: readonly Given[], at: number, all: readonly Model[]): void {
    for (const [name, known] of this.#resources) {
      if (known.phase === 'watched') continue
      const ofResource = given.filter(({ model }) => model.lane.resource === name)
      const again = ofResource.filter(({ model }) => model.again)
      if (known.phase === 'failing') this.#judge(name, known, again.length, at)
      known.firstTries += ofResource.length - again.length
      const isRetry = (model: Model) => model.again && model.lane.resource === name && isWaiting(model, at)
      if (known.phase === 'healing' && again.length > 0 && !all.some(isRetry)) this.#well(name, known, at)
    }
  }

  #judge(name: string, known: Resource, more: number, at: number): void {
    if (more === 0) return
    known.retries.push(...Array<number>(more).fill(at))
    this.retries += more
    const fresh = known.retries.filter((each) => each > at - WINDOW_MS).length
    const sinceMs = at - known.since
    const fromStart = (sinceMs / 1_000) * PER_SECOND + known.firstTries * PER_FIRST_TRY
    const inWindow = SAVED_MAX + (WINDOW_MS / 1_000) * PER_SECOND + known.firstTries * PER_FIRST_TRY
    if (known.retries.length > fromStart + SLACK)
      this.breaches.push(
        `${name}: ${known.retries.length} retries within ${sinceMs} ms of its failing and ${known.firstTries} first tries, allowed are ${fromStart}`,
      )
    if (fresh > inWindow + SLACK) this.breaches.push(`${name}: ${fresh} retries within ${WINDOW_MS} ms, at ${at}`)
  }

  #well(name: string, known: Resource, at: number): void {
    known.phase = 'watched'
    const open = this.#spans.findLast((span) => span.resource === name && span.to === undefined)
    if (open) open.to = at
  }
}
