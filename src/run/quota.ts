/**
 * What follows from an answer that says how much may still be asked of a resource: a short hold before the refusal comes.
 * Pure: the runs that are out are counted by the store, which keeps the hold in the write that keeps the answer.
 */
import type { HoldOrder } from './hold.ts'

/** Told by an answer; the engine adds what the call needed and when it is full again. */
export interface Quota {
  readonly resource: string
  /** Who said so: the name of a header. */
  readonly by: string
  readonly unit: 'requests' | 'tokens'
  readonly remaining: number
  readonly limit?: number
  readonly resetAt: number
  /** In the words of whoever refused; absent: what is left. */
  readonly why?: string
}

/** Longer is asked again: a reset that was read wrongly must not close a resource for a day. */
const HOLD_MAX_MS = 3_600_000

/** More runs are never out, and so much left concerns nobody. */
const REMAINING_MAX = 10_000

/** Of tokens a call uses an unknown amount: hardly any are left when it is less than this share. */
const TOKENS_LOW_SHARE = 0.02
/** Then it is paused for this share of the time to the reset, in which as much comes back. */
const TOKENS_PAUSE_SHARE = 0.1

/** Whether it can lead to a hold at all, whoever else is out: most answers leave plenty. */
export function isQuotaLow({ unit, remaining, limit }: Pick<Quota, 'unit' | 'remaining' | 'limit'>): boolean {
  if (unit === 'tokens') return remaining <= (limit ?? 0) * TOKENS_LOW_SHARE
  return remaining <= REMAINING_MAX && (limit === undefined || remaining <= limit / 2)
}

/**
 * The hold that these quotas ask for, the longest of them. `out` are the runs of the resource that are out, the one with the answer
 * among them. Each of the others may still send one: when that uses up what is left, nobody else begins before the reset; when hardly
 * more is left, what is left is spread over the time to the reset.
 */
export function holdByQuotas(quotas: readonly Quota[], out: number, now: number): HoldOrder | undefined {
  const holds = quotas.flatMap((quota) => {
    const resetMs = Math.min(HOLD_MAX_MS, quota.resetAt - now)
    const pauseMs = resetMs > 0 && isQuotaLow(quota) ? Math.ceil(resetMs * shareOf(quota, out)) : 0
    return pauseMs > 0 ? { quota, until: now + pauseMs } : []
  })
  const [longest] = holds.sort((a, b) => b.until - a.until)
  if (!longest) return undefined
  const { quota, until } = longest
  // It knows when it is full again, so nobody has to find out first.
  return { what: `resource:${quota.resource}`, until, why: words(quota), by: quota.by, probe: false }
}

/** Which part of the time to the reset nobody else may begin. */
function shareOf({ unit, remaining }: Quota, out: number): number {
  if (unit === 'tokens') return remaining <= 0 ? 1 : TOKENS_PAUSE_SHARE
  const room = remaining - Math.max(0, out - 1)
  if (room <= 0) return 1
  return room <= 2 * out ? 1 / (room + 1) : 0
}

const words = ({ unit, remaining, limit, why }: Quota): string =>
  why ?? `${remaining}${limit === undefined ? '' : ` of ${limit}`} ${unit} are left`
