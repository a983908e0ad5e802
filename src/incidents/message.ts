/**
 * What is sent out about an incident, made from what is stored: the same incident always makes the same messages, with the same ids.
 */
import { breachText } from './breach.ts'
import type { Incident, Late } from './fold.ts'
import { runbookOf, TIERS } from './tiers.ts'

export interface IncidentMessage {
  /** The same for every delivery of this message: receivers that have seen it do nothing. */
  readonly id: string
  readonly type: 'incident.opened' | 'incident.acknowledged' | 'incident.overdue' | 'incident.resolved'
  /** Epoch milliseconds of the store. */
  readonly at: number
  readonly incident: {
    readonly id: string
    readonly tier: number
    readonly says: string
    readonly subject: string
    readonly trigger: string
    readonly owner: string
    readonly openedAt: number
    readonly respondBy?: number
    readonly resolveBy?: number
    readonly steps: readonly string[]
    readonly runbook: string
  }
  /** Who acknowledged or resolved it, and what they wrote. */
  readonly by?: string
  readonly note?: string
  /** What is late. */
  readonly late?: Late
}

export function messagesOf(incident: Incident): IncidentMessage[] {
  const { id, tier, subject, trigger, owner, openedAt, respondBy, resolveBy, overdue } = incident
  const about: IncidentMessage['incident'] = {
    id,
    tier,
    says: `${breachText(incident)}.`,
    subject,
    trigger,
    owner,
    openedAt,
    ...(respondBy === undefined ? {} : { respondBy }),
    ...(resolveBy === undefined ? {} : { resolveBy }),
    steps: TIERS[tier].steps,
    runbook: runbookOf(incident),
  }
  const messages: IncidentMessage[] = [{ id: `${id}/opened`, type: 'incident.opened', at: openedAt, incident: about }]
  const { acknowledgedAt, acknowledgedBy, resolvedAt, resolvedBy, note } = incident
  if (acknowledgedAt !== undefined && acknowledgedBy !== undefined)
    messages.push({
      id: `${id}/acknowledged`,
      type: 'incident.acknowledged',
      at: acknowledgedAt,
      incident: about,
      by: acknowledgedBy,
    })
  for (const late of ['response', 'resolution'] as const) {
    const at = overdue[late]
    if (at !== undefined)
      messages.push({ id: `${id}/late-${late}`, type: 'incident.overdue', at, incident: about, late })
  }
  if (resolvedAt !== undefined && resolvedBy !== undefined)
    messages.push({
      id: `${id}/resolved`,
      type: 'incident.resolved',
      at: resolvedAt,
      incident: about,
      by: resolvedBy,
      ...(note === undefined ? {} : { note }),
    })
  return messages
}
