/**
 * Incidents on a terminal: the list by urgency, and one with what was seen, who owes what by when, what to do, and what was done.
 */
import {
  breachText,
  type Incident,
  type IncidentList,
  isLate,
  owedNext,
  runbookOf,
  TIERS,
} from '../../incidents/index.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { definition } from '../terminal/definition.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'

const LOG_LINES_MAX = 100

export function incidentTable({ now, incidents }: IncidentList, screen: Screen): string[] {
  return table(
    screen,
    [
      { header: 'incident' },
      { header: 'tier', align: 'right' },
      { header: 'state' },
      { header: 'owner' },
      { header: 'due' },
      { header: 'what', flexible: true },
    ],
    incidents.map((incident) => [
      screen.text(incident.id),
      String(incident.tier),
      stateText(incident, screen),
      screen.text(incident.owner),
      dueText(incident, now),
      screen.text(breachText(incident)),
    ]),
  )
}

/** The shapes of runs: one that nobody has is as bad as a failed one, one in hand is with a person. */
function stateText({ state }: Incident, screen: Screen): string {
  const sign = { open: 'failed', acknowledged: 'review', resolved: 'succeeded' } as const
  const words = { open: 'open', acknowledged: 'in hand', resolved: 'resolved' } as const
  return `${screen.state(sign[state])} ${words[state]}`
}

function dueText(incident: Incident, now: number): string {
  const owed = owedNext(incident)
  if (!owed) return '–'
  const distance = formatDuration(Math.abs(owed.by - now))
  return isLate(incident, now) ? `late ${distance}` : `in ${distance}`
}

export function incidentVerdict({ now, incidents }: IncidentList): string {
  const open = incidents.filter(({ state }) => state !== 'resolved')
  if (open.length === 0) return 'No incident is open.'
  const late = open.filter((incident) => isLate(incident, now)).length
  const nobody = open.filter(({ state }) => state === 'open').length
  const words = [
    `${open.length} ${open.length === 1 ? 'incident is' : 'incidents are'} open.`,
    nobody === 0 ? '' : `${nobody} ${nobody === 1 ? 'is' : 'are'} with nobody yet.`,
    late === 0 ? '' : `${late} ${late === 1 ? 'is' : 'are'} late.`,
  ]
  return words.filter((each) => each !== '').join(' ')
}

export function incidentLines(
  incident: Incident,
  screen: Screen,
  { now, zone }: { readonly now: number; readonly zone: string },
): string[] {
  const { id, tier, value, worst, log } = incident
  const rule = TIERS[tier]
  const time = (at: number) => clockTime(at, zone, now)
  const grown = worst > value ? ` At its worst: ${breachText({ ...incident, value: worst })}.` : ''
  const fact = (label: string, words: string | undefined): [string, string][] =>
    words === undefined ? [] : [[label, words]]
  const steps = rule.steps.flatMap((step, index) =>
    wrap(step, screen.columns - 5).map((line, place) => `  ${place === 0 ? `${index + 1}.` : '  '} ${line}`),
  )
  return [
    `${screen.paint.bold(screen.text(id))}  tier ${tier}, ${rule.name}  ${stateText(incident, screen)}`,
    ...wrap(screen.text(`${breachText(incident)}.${grown}`), screen.columns),
    '',
    ...definition(
      screen,
      [
        ['owner', incident.owner],
        ['within', rule.within],
        ['due', owedText(incident, now, zone)],
        ['opened', `${time(incident.openedAt)} by ${incident.openedBy}`],
        ...fact(
          'with',
          incident.acknowledgedBy && `${incident.acknowledgedBy}, since ${time(incident.acknowledgedAt ?? 0)}`,
        ),
        ...fact(
          'resolved',
          incident.resolvedBy && `${time(incident.resolvedAt ?? 0)} by ${incident.resolvedBy}: ${incident.note ?? ''}`,
        ),
        ['runbook', runbookOf(incident)],
      ],
      '',
    ),
    ...(incident.state === 'resolved' ? [] : ['', screen.paint.dim('what to do'), ...steps]),
    ...(log.length === 0 ? [] : ['', screen.paint.dim('log')]),
    ...log
      .slice(-LOG_LINES_MAX)
      .flatMap(({ at, by, text }) =>
        wrap(screen.text(`${time(at)} ${by}: ${text}`), screen.columns - 2).map((line) => `  ${line}`),
      ),
    ...(incident.state === 'resolved' ? [] : ['', ...nextLines(incident, screen)]),
  ]
}

function owedText(incident: Incident, now: number, zone: string): string {
  const owed = owedNext(incident)
  if (!owed) return incident.state === 'resolved' ? 'nothing' : 'no limit; it is in hand'
  const distance = formatDuration(Math.abs(owed.by - now))
  const when = clockTime(owed.by, zone, now)
  return owed.by < now ? `${owed.of} late since ${when}, by ${distance}` : `${owed.of} by ${when}, ${distance} left`
}

/** What can be typed next. */
function nextLines({ id, state }: Incident, screen: Screen): string[] {
  const lines = [
    ...(state === 'open' ? [`reprise incidents ack ${id}`] : []),
    `reprise incidents log ${id} '…'`,
    `reprise incidents resolve ${id} --note '…'`,
  ]
  return lines.map((line) => screen.paint.bold(screen.text(line)))
}
