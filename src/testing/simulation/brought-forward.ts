/**
 * Whether a run may be claimed before it is due: it waited to try its resource again, and since the claim that failed something of
 * its resource was answered. The history names no resource, so any answer will do.
 */
import { type History, only } from './history.ts'
import type { StoryStep } from './story.ts'

export function isBroughtForward(history: History, steps: readonly StoryStep[], claimed: StoryStep): boolean {
  const before = steps.slice(0, steps.indexOf(claimed))
  const ended = before.findLast(({ kind }) => kind === 'ended')
  const change = ended?.change
  if (change?.type !== 'end' || (change.trouble === undefined && !change.again)) return false
  const from = before.findLast(({ kind, line }) => kind === 'claimed' && line.seq < (ended?.line.seq ?? 0))
  return only(history, 'store').some(
    (line) =>
      line.seq > (from?.line.seq ?? 0) &&
      line.seq < claimed.line.seq &&
      line.verb === 'commit' &&
      line.answer === 'ok' &&
      line.change.type === 'end' &&
      (line.change.state === 'succeeded' || line.change.admits === true),
  )
}
