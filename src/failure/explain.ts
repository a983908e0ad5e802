/**
 * `classify.explain`: the verdict with its reasons, as data that a person can read.
 * It only retells what the classifier did; it decides nothing.
 */
import type { Evidence } from './evidence.ts'
import type { Failure, Kind } from './failure.ts'
import { safeText } from './mask-secrets.ts'
import { SPEAKERS } from './rule.ts'
import type { UserHit } from './user-rules.ts'
import { type Hit, unmet, type Verdict } from './weigh.ts'

export interface Considered {
  readonly rule: string
  readonly code: string
  readonly kind: Kind
  /** How telling its evidence is, 0 to 100. */
  readonly rank: number
  readonly on: string
  /** Why it lost; absent for the one that won. */
  readonly lost?: string
}

export interface Explanation {
  readonly failure: Failure
  readonly rule: string
  /** The piece of evidence that decided. */
  readonly on: string
  readonly considered: readonly Considered[]
  readonly evidence: {
    readonly statuses: readonly string[]
    readonly words: readonly string[]
    readonly texts: readonly string[]
    readonly speakers: readonly string[]
    readonly delays: readonly string[]
  }
}

const SHOWN_MAX = 12
const SHOWN_LENGTH_MAX = 160

const evidenceOf = (hit: Hit): string =>
  hit.where === 'status' ? `status ${hit.on}` : `${hit.where} ${JSON.stringify(safeText(String(hit.on), 80))}`

export function explainVerdict(
  failure: Failure,
  evidence: Evidence,
  verdict: Verdict | undefined,
  user: UserHit | undefined,
): Explanation {
  const winner = verdict?.winner
  const considered = (verdict?.hits ?? []).map((hit) => considerHit(hit, winner, evidence, user))
  const unique = [...new Map(considered.map((one) => [`${one.rule} ${one.on}`, one])).values()].sort(
    (a, b) => b.rank - a.rank,
  )
  if (user !== undefined)
    unique.unshift({ rule: failure.rule, code: failure.code, kind: failure.kind, rank: 100, on: user.on })
  return {
    failure,
    rule: failure.rule,
    on: onWhat(evidence, verdict, user),
    considered: unique.slice(0, SHOWN_MAX),
    evidence: {
      statuses: evidence.statuses.map((status) => `${status.value} (${status.trust})`),
      words: evidence.tokens.slice(0, SHOWN_MAX).map((token) => `${token.field}=${safeText(token.value, 80)}`),
      texts: evidence.texts.slice(0, SHOWN_MAX).map((text) => safeText(text, SHOWN_LENGTH_MAX)),
      speakers: SPEAKERS.filter((_, bit) => (evidence.speakers & (1 << bit)) !== 0),
      delays: evidence.told.slice(0, SHOWN_MAX).map((told) => `${told.ms} ms from ${told.source} ${told.from}`),
    },
  }
}

function onWhat(evidence: Evidence, verdict: Verdict | undefined, user: UserHit | undefined): string {
  if (evidence.own !== undefined) return 'a Failure inside the error'
  if (user !== undefined) return user.on
  if (verdict?.winner === undefined) return 'nothing: no rule knows this error'
  return verdict.overruled ? `${evidenceOf(verdict.winner)}, overruled by a told delay` : evidenceOf(verdict.winner)
}

function considerHit(hit: Hit, winner: Hit | undefined, evidence: Evidence, user: UserHit | undefined): Considered {
  const { match } = hit
  const rank = match.rank - hit.off
  const base = { rule: match.rule, code: match.entry.code, kind: match.entry.kind, rank, on: evidenceOf(hit) }
  if (user !== undefined) return { ...base, lost: 'a user rule comes first' }
  if (hit === winner) return base
  const reason = unmet(match, evidence)
  if (reason !== undefined) return { ...base, lost: `does not hold: ${reason}` }
  const best = winner === undefined ? 0 : winner.match.rank - winner.off
  return {
    ...base,
    lost: rank < best ? `less telling than ${evidenceOf(winner as Hit)}` : 'equally telling, but found later',
  }
}
