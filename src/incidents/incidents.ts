/**
 * Incidents: opened by what somebody saw, answered and resolved by people, kept as notes in the store's audit.
 * Everything durable is one appended note; whoever reads folds them anew, so that any number of processes may look at once.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { Store } from '../ports/store.ts'
import type { Emit } from '../run/event.ts'
import { afterBusinessTime, type BusinessHours, businessHours } from '../time/business-hours.ts'
import { randomId } from '../time/dice.ts'
import { type Breach, breachesOf, breachText, type Sighting } from './breach.ts'
import { foldIncidents, INCIDENT_NOTES, type Incident, type Late, owedNext } from './fold.ts'
import { type IncidentMessage, messagesOf } from './message.ts'
import { TIERS, type TimeLimit, TRIGGER_RULES } from './tiers.ts'

export interface IncidentsOptions {
  readonly store: Store
  /** Business hours of the limits that are counted in them. @default Mon-Fri 09:00-17:00 UTC */
  readonly calendar?: BusinessHours
  /** Who owns what, by subject (`collection:archives`) or by tier (`3`). @default as the tier says */
  readonly owners?: Readonly<Record<string, string>>
  readonly emit?: Emit
  /** Hands a message on. Called again for the same one after a crash, so it must know a message by its id. */
  readonly deliver?: (message: IncidentMessage) => Promise<void>
  /** Makes the random part of ids. */
  readonly ids?: (bytes: number) => string
}

export interface IncidentList {
  readonly now: number
  /** The most urgent first: late, then by tier, then by age. Resolved ones after all open ones, the newest first. */
  readonly incidents: readonly Incident[]
}

export interface Looked {
  readonly opened: readonly Incident[]
  readonly resolved: readonly Incident[]
  readonly overdue: readonly Incident[]
}

/** What a person's act comes to; `unchanged` when somebody was there before, and nothing was written. */
export interface Acted {
  readonly answer: 'ok' | 'unchanged'
  readonly incident: Incident
}

export interface Incidents {
  /**
   * Opens what is new, notes what has grown, resolves what has healed and may, tells what is late.
   * `by` is who looked; `whole` is the beginning of all subjects that were looked at, those without a sighting included.
   */
  look(sightings: readonly Sighting[], options: { readonly by: string; readonly whole?: string }): Promise<Looked>
  list(options?: { readonly all?: boolean }): Promise<IncidentList>
  /** By its id, or the beginning of one that no other shares. Throws `incident.none`. */
  show(id: string): Promise<Incident>
  acknowledge(id: string, by: string): Promise<Acted>
  resolve(id: string, by: string, note: string): Promise<Acted>
  log(id: string, by: string, text: string): Promise<Acted>
}

const TEXT_MAX = 2_000
const BY_MAX = 200

/** Messages of what changed so long ago are surely submitted; keys of runs outlive this many times over. */
const TOLD_AGAIN_MS = 24 * 3_600_000

export function createIncidents(options: IncidentsOptions): Incidents {
  const { store, calendar = businessHours(), owners = {}, emit = () => {}, deliver, ids = randomId } = options

  async function read(): Promise<{ readonly now: number; readonly all: Incident[] }> {
    const { now } = await store.find({ limit: 1 })
    return { now, all: foldIncidents(await store.notes({ what: INCIDENT_NOTES })) }
  }

  const note = (by: string, what: string, data: Record<string, string | number | boolean>): Promise<void> =>
    store.note({ by, what: `${INCIDENT_NOTES}${what}`, data })

  async function open(breach: Breach, by: string, now: number): Promise<string> {
    const { tier } = TRIGGER_RULES[breach.trigger]
    const { respond, resolve, owner } = TIERS[tier]
    const id = `i-${ids(3)}`
    await note(by, 'opened', {
      id,
      trigger: breach.trigger,
      subject: breach.subject,
      tier,
      value: breach.value,
      above: breach.above,
      owner: owners[breach.subject] ?? owners[String(tier)] ?? owner,
      ...(respond ? { respondBy: limitFrom(now, respond, calendar) } : {}),
      ...(resolve ? { resolveBy: limitFrom(now, resolve, calendar) } : {}),
    })
    return id
  }

  async function look(
    sightings: readonly Sighting[],
    { by, whole }: { readonly by: string; readonly whole?: string },
  ): Promise<Looked> {
    checkBy(by)
    const { now, all } = await read()
    const openNow = all.filter(({ state }) => state !== 'resolved')
    const find = ({ trigger, subject }: Breach) =>
      openNow.find((each) => each.trigger === trigger && each.subject === subject)
    const breaches = sightings.flatMap(breachesOf)
    const mine = new Set<string>()
    for (const breach of breaches) {
      const known = find(breach)
      if (!known) mine.add(await open(breach, by, now))
      // Told when it has doubled, so that a long incident has a handful of notes and not one for every pass.
      else if (breach.value >= 2 * known.worst) await note(by, 'grew', { id: known.id, value: breach.value })
    }
    const healed = openNow.filter(
      (incident) => TIERS[incident.tier].heals && isHealed(incident, sightings, breaches, whole),
    )
    for (const { id } of healed) {
      await note(by, 'resolved', { id, text: 'The breach is over.' })
      mine.add(id)
    }
    for (const incident of openNow)
      for (const of of lateNow(incident, now)) {
        if (healed.includes(incident)) continue
        await note(by, 'overdue', { id: incident.id, of })
        mine.add(`${incident.id}/${of}`)
      }
    // Read again: of two who wrote the same, the fold says who was first, and only that one tells.
    const after = mine.size === 0 ? all : (await read()).all
    const changed = (test: (incident: Incident) => boolean) => after.filter(test)
    const opened = changed(({ id }) => mine.has(id) && !all.some((each) => each.id === id))
    const resolved = changed(({ id, state }) => mine.has(id) && state === 'resolved')
    const overdue = changed(({ id }) => LATE.some((of) => mine.has(`${id}/${of}`)))
    for (const incident of opened) tellOpened(incident)
    for (const incident of resolved) tellResolved(incident)
    for (const incident of overdue)
      for (const of of LATE) if (mine.has(`${incident.id}/${of}`)) tellOverdue(incident, of)
    await hand(after, now)
    return { opened, resolved, overdue }
  }

  /** Messages are made from what is stored, so whoever looks next hands on what a crash kept back. */
  async function hand(incidents: readonly Incident[], now: number): Promise<void> {
    if (!deliver) return
    for (const incident of incidents) {
      const changedAt = incident.resolvedAt ?? now
      if (now - changedAt > TOLD_AGAIN_MS) continue
      for (const message of messagesOf(incident)) await deliver(message)
    }
  }

  async function act(id: string, by: string, does: (incident: Incident) => Promise<boolean>): Promise<Acted> {
    checkBy(by)
    const before = await show(id)
    const isDone = await does(before)
    const { now, all } = await read()
    const incident = all.find((each) => each.id === before.id) ?? before
    if (isDone) await hand([incident], now)
    return { answer: isDone ? 'ok' : 'unchanged', incident }
  }

  async function show(id: string): Promise<Incident> {
    const { all } = await read()
    const wanted = id.startsWith('i-') ? id : `i-${id}`
    const matches = all.filter((each) => each.id === wanted || (wanted.length > 2 && each.id.startsWith(wanted)))
    const [found] = matches
    if (found && (matches.length === 1 || found.id === wanted)) return found
    throw new RepriseError(
      'incident.none',
      found
        ? `${JSON.stringify(id)} is the beginning of ${matches.length} incidents: ${matches.map((each) => each.id).join(', ')}.`
        : `There is no incident ${JSON.stringify(id.slice(0, 50))}.`,
    )
  }

  const tellOpened = (incident: Incident): void => {
    const { id, tier, owner, subject, openedAt: at, respondBy, resolveBy } = incident
    const limits = {
      ...(respondBy === undefined ? {} : { respondBy }),
      ...(resolveBy === undefined ? {} : { resolveBy }),
    }
    emit({ name: 'incident.opened', at, incident: id, tier, owner, subject, says: breachText(incident), ...limits })
  }
  const tellResolved = ({ id, tier, subject, resolvedAt, resolvedBy, openedAt, note: text }: Incident): void => {
    const at = resolvedAt ?? openedAt
    const words = { by: resolvedBy ?? '', note: text ?? '', lastedMs: at - openedAt }
    emit({ name: 'incident.resolved', at, incident: id, tier, subject, ...words })
  }
  const tellOverdue = (incident: Incident, of: Late): void => {
    const { id, tier, owner, subject, overdue, respondBy, resolveBy, openedAt } = incident
    const since = (of === 'response' ? respondBy : resolveBy) ?? openedAt
    emit({ name: 'incident.overdue', at: overdue[of] ?? since, incident: id, tier, owner, subject, of, since })
  }

  return {
    look,
    show,
    async list({ all: isAll = false } = {}) {
      const { now, all } = await read()
      return { now, incidents: all.filter(({ state }) => isAll || state !== 'resolved').sort(byUrgency(now)) }
    },
    acknowledge: (id, by) =>
      act(id, by, async (incident) => {
        if (incident.state !== 'open') return false
        await note(by, 'acknowledged', { id: incident.id })
        const acknowledged = await show(incident.id)
        if (acknowledged.acknowledgedBy !== by) return false
        const { id: name, tier, subject, acknowledgedAt: at = incident.openedAt } = acknowledged
        emit({ name: 'incident.acknowledged', at, incident: name, tier, subject, by, afterMs: at - incident.openedAt })
        return true
      }),
    resolve: async (id, by, text) => {
      const words = checkText('note', text)
      return act(id, by, async (incident) => {
        if (incident.state === 'resolved') return false
        await note(by, 'resolved', { id: incident.id, text: words })
        const resolved = await show(incident.id)
        if (resolved.resolvedBy !== by || resolved.note !== words) return false
        tellResolved(resolved)
        return true
      })
    },
    log: async (id, by, text) => {
      const words = checkText('text', text)
      return act(id, by, async (incident) => {
        await note(by, 'logged', { id: incident.id, text: words })
        return true
      })
    },
  }
}

const LATE: readonly Late[] = ['response', 'resolution']

const limitFrom = (now: number, { ms, hours }: TimeLimit, calendar: BusinessHours): number =>
  hours === 'clock' ? now + ms : afterBusinessTime(now, ms, calendar)

/** Seen whole and without its breach. Somebody who could not look everywhere has seen nothing heal. */
function isHealed(
  { trigger, subject }: Incident,
  sightings: readonly Sighting[],
  breaches: readonly Breach[],
  whole: string | undefined,
): boolean {
  const seen = sightings.find((each) => each.subject === subject)
  const isSeen = seen ? !seen.isPartial : whole !== undefined && subject.startsWith(whole)
  return isSeen && !breaches.some((each) => each.trigger === trigger && each.subject === subject)
}

function lateNow({ state, respondBy, resolveBy, overdue }: Incident, now: number): Late[] {
  return LATE.filter((of) => {
    const by = of === 'response' ? (state === 'open' ? respondBy : undefined) : resolveBy
    return by !== undefined && by < now && overdue[of] === undefined
  })
}

/** Whether its owner is late with what is owed next. */
export const isLate = (incident: Incident, now: number): boolean => (owedNext(incident)?.by ?? now) < now

const byUrgency =
  (now: number) =>
  (a: Incident, b: Incident): number => {
    const isOver = Number(a.state === 'resolved') - Number(b.state === 'resolved')
    if (isOver !== 0) return isOver
    if (a.state === 'resolved') return b.openedAt - a.openedAt
    return Number(isLate(b, now)) - Number(isLate(a, now)) || b.tier - a.tier || a.openedAt - b.openedAt
  }

function checkBy(by: unknown): void {
  if (typeof by === 'string' && by.trim() !== '' && by.length <= BY_MAX) return
  throw new RepriseError('incident.by', `by is ${JSON.stringify(by)}. Allowed: a name of 1 to ${BY_MAX} characters.`)
}

function checkText(field: string, text: string): string {
  const words = text.trim()
  if (words !== '' && words.length <= TEXT_MAX) return words
  throw new RepriseError(
    `incident.${field}`,
    `${field} has ${words.length} characters. Allowed: a text of 1 to ${TEXT_MAX}.`,
  )
}
