/**
 * `reprise incidents`: what is open, whose it is, by when, what to do; and the verbs of people: acknowledge, resolve, log.
 */
import type { Settings } from '../../config/config.ts'
import { createReprise } from '../../engine/reprise.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import {
  createIncidents,
  type Incident,
  type Incidents,
  owedNext,
  runbookOf,
  submitMessage,
  TIERS,
} from '../../incidents/index.ts'
import { maskRecord, storeNow } from '../../ops/index.ts'
import type { Store } from '../../ports/store.ts'
import { CliError, usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { actorOf, zoneOf } from '../reader.ts'
import { incidentLines, incidentTable, incidentVerdict } from '../screens/incident-lines.ts'
import { shown } from '../terminal/text.ts'

const VERBS = ['list', 'show', 'ack', 'resolve', 'log'] as const
type IncidentVerb = (typeof VERBS)[number]

interface Options {
  readonly all?: boolean
  readonly note?: string
  readonly by?: string
}

interface Asked {
  readonly verb: IncidentVerb
  readonly id: string
  readonly text: string
}

export const registerIncidents: Register = (program, frame) => {
  const command = program
    .command('incidents')
    .helpGroup('Operate')
    .summary('what somebody has to look at, and by when')
    .description(
      'Lists open incidents, the most urgent first: whose they are and how much time is left. `show` tells what to do, `ack` says that you look after it, `log` writes down what you find, `resolve` ends it.',
    )
    .argument('[verb]', '`list`, `show`, `ack`, `resolve` or `log`; without one, the list')
    .argument('[id]', 'an incident (`i-4fa2c1`), or the beginning of its id')
    .argument('[text]', 'log: what to write down')
    .option('--all', 'list: resolved ones too')
    .option('--note <text>', 'resolve: what it was, and what was decided')
    .option('--by <name>', 'who does it; your login unless given')
  withStoreFlags(command).action(
    (verb: string | undefined, id: string | undefined, text: string | undefined, options: Options) => {
      const asked = readAsked(verb, id, text, options)
      return withStore(
        command,
        frame,
        { missing: 'refuse', touched: 'No incident was touched.' },
        ({ store, settings }) => act(store, settings, asked, options, frame),
      )
    },
  )
  withNotes(command, [
    'A pass of `reprise sweep` and `reprise work` open incidents: more than 50 stuck or one stuck for more than 24 hours (tier 2), more than 200 stuck or any that ran out of attempts (tier 3), more than 1,000 stuck, more than 1,000 failed or one stuck for more than 7 days (tier 4). At tier 2 they are resolved by themselves when the breach is over; else a person resolves them. One whose breach lasts is opened again.',
    'Business hours are `incidents.hours` in `incidents.zone`; `reprise config incidents` shows them.',
  ])
  withExamples(command, [
    { line: 'reprise incidents', says: 'what is open' },
    { line: 'reprise incidents show i-4fa2c1', says: 'what to do about one' },
    { line: 'reprise incidents ack i-4fa2c1', says: 'you look after it' },
    { line: "reprise incidents log i-4fa2c1 'the parser is out of memory'", says: 'what you found' },
    { line: "reprise incidents resolve i-4fa2c1 --note 'more memory; 63 begun again'", says: 'the decision' },
  ])
}

function readAsked(
  verb: string | undefined,
  id: string | undefined,
  text: string | undefined,
  options: Options,
): Asked {
  const known = VERBS.find((each) => each === (verb ?? 'list'))
  if (known === undefined) throw usageError(`${shown(verb ?? '')} is not a verb of incidents.`, `${VERBS.join(', ')}.`)
  if (known !== 'list' && id === undefined)
    throw usageError(
      `There is no incident to ${known}.`,
      `\`reprise incidents ${known} i-4fa2c1\`; \`reprise incidents\` lists them.`,
    )
  refuseIgnored(known, id, text, options)
  const words = known === 'resolve' ? options.note : text
  if (known === 'resolve' && words === undefined)
    throw usageError(
      'An incident is resolved with a note: what it was, and what was decided.',
      `\`reprise incidents resolve ${shown(id ?? '')} --note '…'\``,
    )
  if (known === 'log' && words === undefined)
    throw usageError('There is nothing to write down.', `\`reprise incidents log ${shown(id ?? '')} '…'\``)
  return { verb: known, id: id ?? '', text: words ?? '' }
}

/** What a verb would not look at is refused: whoever gave it believes that it was heard. */
function refuseIgnored(
  verb: IncidentVerb,
  id: string | undefined,
  text: string | undefined,
  { note, all }: Options,
): void {
  if (note !== undefined && verb !== 'resolve')
    throw usageError(
      `--note is not an option of incidents ${verb}.`,
      `\`reprise incidents log ${shown(id ?? '')} '…'\``,
    )
  if (all === true && verb !== 'list') throw usageError(`--all is not an option of incidents ${verb}.`)
  const extra = verb === 'list' ? id : verb === 'log' ? undefined : text
  if (extra !== undefined) throw usageError(`incidents ${verb} does not know what to do with ${JSON.stringify(extra)}.`)
}

async function act(store: Store, settings: Settings, asked: Asked, options: Options, frame: Frame): Promise<void> {
  const { env } = frame.terminal()
  const { calendar, owners, webhook } = settings.incidents
  // Only handed on: whoever works on this store sends it.
  const reprise = createReprise({ store, clock: frame.clock })
  const incidents = createIncidents({
    store,
    calendar,
    owners,
    ...(webhook ? { deliver: (message) => submitMessage(reprise, message) } : {}),
  })
  try {
    if (asked.verb === 'list') return await list(incidents, options, frame)
    if (asked.verb === 'show') return await show(store, incidents, asked.id, frame)
    await change(incidents, asked, actorOf(options.by, env), frame)
  } catch (error) {
    if (!isRepriseError(error) || !error.code.startsWith('incident.')) throw error
    if (error.code !== 'incident.none') throw usageError(error.message)
    throw new CliError({
      code: 'INCIDENT_NONE',
      message: error.message,
      tryThis: '`reprise incidents --all` lists all of them.',
      exit: 1,
      touched: 'No incident was touched.',
    })
  }
}

async function list(incidents: Incidents, { all = false }: Options, frame: Frame): Promise<void> {
  const { json, out, human, quiet } = frame.terminal()
  const found = await incidents.list({ all })
  if (json) out.lines(...found.incidents.map((incident) => jsonLine(maskRecord(told(incident, found.now)))))
  else if (found.incidents.length > 0) out.lines(...incidentTable(found, out))
  if (!quiet) human.lines(...(json || found.incidents.length === 0 ? [] : ['']), human.text(incidentVerdict(found)))
}

async function show(store: Store, incidents: Incidents, id: string, frame: Frame): Promise<void> {
  const { json, out, env } = frame.terminal()
  const incident = await incidents.show(id)
  const now = await storeNow(store)
  if (json) out.lines(jsonLine(maskRecord(told(incident, now))))
  else out.lines(...incidentLines(incident, out, { now, zone: zoneOf(env) }))
}

/** With what is to be done and how much time is left, so that a script needs no second question. */
const told = (incident: Incident, now: number) => ({
  ...incident,
  now,
  steps: TIERS[incident.tier].steps,
  runbook: runbookOf(incident),
  leftMs: (owedNext(incident)?.by ?? now) - now,
})

async function change(incidents: Incidents, { verb, id, text }: Asked, by: string, frame: Frame): Promise<void> {
  const { json, out, human } = frame.terminal()
  const { answer, incident } = await (verb === 'ack'
    ? incidents.acknowledge(id, by)
    : verb === 'resolve'
      ? incidents.resolve(id, by, text)
      : incidents.log(id, by, text))
  if (json) out.lines(jsonLine(maskRecord({ verb, answer, incident })))
  human.lines(human.text(changeText(verb, answer, incident)))
  if (answer === 'unchanged') frame.fail()
}

function changeText(verb: IncidentVerb, answer: 'ok' | 'unchanged', incident: Incident): string {
  const { id, state, acknowledgedBy, resolvedBy, tier } = incident
  if (answer === 'unchanged')
    return state === 'resolved'
      ? `Incident ${id} was resolved before, by ${resolvedBy}.`
      : `Incident ${id} is with ${acknowledgedBy} already.`
  if (verb === 'ack')
    return `Incident ${id} is with ${acknowledgedBy}. \`reprise incidents show ${id}\` tells what to do.`
  if (verb === 'log') return `Written down in the log of incident ${id}.`
  return `Incident ${id} is resolved.${tier === 3 ? '' : ' If the breach lasts, the next pass opens another.'}`
}
