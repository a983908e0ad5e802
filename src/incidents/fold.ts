/**
 * Incidents as the audit tells them: notes are only ever appended, and what stands open is folded from them. Pure.
 * Two who see the same breach at once both write; the first opening counts, and the other is as if it had not been written.
 */
import type { Note } from '../ports/store.ts'
import { breachKey } from './breach.ts'
import { type Tier, TRIGGERS, type Trigger } from './tiers.ts'

export type KeptNote = Note & { readonly at: number }

export const INCIDENT_NOTES = 'incident.'

export type IncidentState = 'open' | 'acknowledged' | 'resolved'

export type Late = 'response' | 'resolution'

export interface Incident {
  readonly id: string
  readonly tier: Tier
  readonly trigger: Trigger
  readonly subject: string
  /** What was seen when it opened, and the most that was seen since. */
  readonly value: number
  readonly worst: number
  readonly above: number
  readonly owner: string
  readonly state: IncidentState
  readonly openedAt: number
  readonly openedBy: string
  readonly respondBy?: number
  readonly resolveBy?: number
  readonly acknowledgedAt?: number
  readonly acknowledgedBy?: string
  readonly resolvedAt?: number
  readonly resolvedBy?: string
  readonly note?: string
  /** When it was told that it is late, for what. */
  readonly overdue: Readonly<Partial<Record<Late, number>>>
  /** Oldest first. */
  readonly log: readonly LogLine[]
}

export interface LogLine {
  readonly at: number
  readonly by: string
  readonly text: string
}

type Mutable = { -readonly [Field in keyof Incident]: Incident[Field] } & {
  overdue: Partial<Record<Late, number>>
  log: LogLine[]
}

/** All of them in the order in which they opened. Notes of other things, and those that say nothing, are passed over. */
export function foldIncidents(notes: readonly KeptNote[]): Incident[] {
  const byId = new Map<string, Mutable>()
  const openByBreach = new Map<string, Mutable>()
  for (const note of notes) {
    if (!note.what.startsWith(INCIDENT_NOTES)) continue
    if (note.what === 'incident.opened') {
      const opened = openedFrom(note)
      if (!opened || byId.has(opened.id)) continue
      const key = breachKey(opened.trigger, opened.subject)
      if (openByBreach.has(key)) continue
      byId.set(opened.id, opened)
      openByBreach.set(key, opened)
      continue
    }
    const incident = byId.get(String(note.data?.['id']))
    if (!incident) continue
    apply(incident, note)
    const key = breachKey(incident.trigger, incident.subject)
    if (incident.state === 'resolved' && openByBreach.get(key) === incident) openByBreach.delete(key)
  }
  return [...byId.values()]
}

function openedFrom({ at, by, data = {} }: KeptNote): Mutable | undefined {
  const trigger = TRIGGERS.find((each) => each === data['trigger'])
  const { id, subject, tier, value, above, owner, respondBy, resolveBy } = data
  if (trigger === undefined || typeof id !== 'string' || typeof subject !== 'string') return undefined
  if (tier !== 1 && tier !== 2 && tier !== 3 && tier !== 4) return undefined
  return {
    id,
    tier,
    trigger,
    subject,
    value: Number(value),
    worst: Number(value),
    above: Number(above),
    owner: String(owner),
    state: 'open',
    openedAt: at,
    openedBy: by,
    ...(typeof respondBy === 'number' ? { respondBy } : {}),
    ...(typeof resolveBy === 'number' ? { resolveBy } : {}),
    overdue: {},
    log: [],
  }
}

function apply(incident: Mutable, { what, at, by, data = {} }: KeptNote): void {
  const text = String(data['text'] ?? '')
  switch (what) {
    case 'incident.acknowledged':
      if (incident.state !== 'open') return
      incident.state = 'acknowledged'
      incident.acknowledgedAt = at
      incident.acknowledgedBy = by
      return
    case 'incident.resolved':
      if (incident.state === 'resolved') return
      incident.state = 'resolved'
      incident.resolvedAt = at
      incident.resolvedBy = by
      incident.note = text
      return
    case 'incident.overdue': {
      const of = data['of']
      if (of === 'response' || of === 'resolution') incident.overdue[of] ??= at
      return
    }
    case 'incident.grew':
      incident.worst = Math.max(incident.worst, Number(data['value']) || 0)
      return
    case 'incident.logged':
      incident.log.push({ at, by, text })
  }
}

/** What the owner owes next, and by when; nothing when it is resolved or no time is set. */
export function owedNext({
  state,
  respondBy,
  resolveBy,
}: Incident): { readonly of: Late; readonly by: number } | undefined {
  if (state === 'open' && respondBy !== undefined) return { of: 'response', by: respondBy }
  if (state !== 'resolved' && resolveBy !== undefined) return { of: 'resolution', by: resolveBy }
  return undefined
}
