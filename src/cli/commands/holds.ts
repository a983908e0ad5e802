/**
 * `reprise holds`: who is told to wait, until when and by whom; and the operator's two verbs, set and release.
 */
import { isRepriseError } from '../../failure/reprise-error.ts'
import { type HoldsNow, listHolds, maskRecord, releaseHold, setHold } from '../../ops/index.ts'
import type { Store } from '../../ports/store.ts'
import { heldName } from '../../run/hold-events.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { durationOf } from '../number-option.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { actorOf, zoneOf } from '../reader.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { shown } from '../terminal/text.ts'

interface HoldsOptions {
  readonly for?: number
  readonly why?: string
  readonly by?: string
}

const VERBS = ['set', 'release'] as const
type HoldVerb = (typeof VERBS)[number]

export const registerHolds: Register = (program, frame) => {
  const command = program
    .command('holds')
    .helpGroup('Operate')
    .summary('who is told to wait; set or release a hold')
    .description(
      'Lists holds: what is held, until when, who said so, how many runs wait. `set` pauses a task, resource or category; `release` opens it at once.',
    )
    .argument('[verb]', '`set` or `release`; without one, the list')
    .argument('[what]', '`task:<name>`, `resource:<name>` or `category:<name>`')
    .option('--for <duration>', 'how long; without it, until released', durationOf('--for'))
    .option('--why <text>', 'the reason, for the audit and for everyone who waits')
    .option('--by <name>', 'who does it; your login unless given')
  withStoreFlags(command).action((verb: string | undefined, what: string | undefined, options: HoldsOptions) => {
    const asked = readVerb(verb, what, options)
    return withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
      if (asked === undefined || what === undefined) show(await listHolds(store), frame)
      else await act(store, asked, what, options, frame)
    })
  })
  withNotes(command, [
    'Nobody is given runs of what is held; runs that are out are not touched, and waiting is never an attempt. A hold that a rate limit set opens by itself: one run goes first, and the others follow once it got an answer.',
  ])
  withExamples(command, [
    { line: 'reprise holds', says: 'the list' },
    { line: "reprise holds set task:summarize --for 1h --why 'new prompt'", says: 'pauses a task' },
    { line: 'reprise holds release resource:gemini:flash', says: 'lifts a wait that was told wrongly' },
  ])
}

function readVerb(verb: string | undefined, what: string | undefined, options: HoldsOptions): HoldVerb | undefined {
  const known = VERBS.find((each) => each === verb)
  const stray = known === 'set' ? undefined : (['for', 'why'] as const).find((name) => options[name] !== undefined)
  if ((verb === undefined || known) && stray !== undefined)
    throw usageError(`--${stray} belongs to \`set\`.`, "`reprise holds set task:summarize --for 1h --why 'new prompt'`")
  if (verb === undefined) return undefined
  if (known === undefined) throw usageError(`${shown(verb)} is not a verb of holds.`, '`set` or `release`.')
  if (what === undefined)
    throw usageError(`There is nothing to ${known}.`, `\`reprise holds ${known} resource:gemini:flash\``)
  if (known === 'set' && options.why === undefined)
    throw usageError('A hold needs a reason.', `\`reprise holds set ${what} --for 1h --why 'maintenance'\``)
  return known
}

async function act(store: Store, verb: HoldVerb, what: string, options: HoldsOptions, frame: Frame): Promise<void> {
  const { env, json, out, human } = frame.terminal()
  const by = actorOf(options.by, env)
  try {
    if (verb === 'set') {
      const forMs = options.for === undefined ? {} : { forMs: options.for }
      const hold = await setHold(store, { what, ...forMs, why: options.why ?? '', by })
      if (json) out.lines(jsonLine(maskRecord({ verb, hold })))
      const length = options.for === undefined ? 'until it is released' : `for ${formatDuration(options.for)}`
      human.lines(human.text(`${heldName(what)} is held ${length}. ${waits(hold?.waiting ?? 0)}`))
      return
    }
    const isReleased = await releaseHold(store, { what, by })
    if (json) out.lines(jsonLine({ verb, what, released: isReleased }))
    human.lines(human.text(isReleased ? `${heldName(what)} is open again.` : `${heldName(what)} is not held.`))
    if (!isReleased) frame.fail()
  } catch (error) {
    if (isRepriseError(error) && error.code.startsWith('hold.')) throw usageError(error.message)
    throw error
  }
}

function show({ now, holds }: HoldsNow, frame: Frame): void {
  const { json, out, human, quiet, env } = frame.terminal()
  if (json) out.lines(...holds.map((hold) => jsonLine(maskRecord({ ...hold, now }))))
  else if (holds.length > 0) out.lines(...holdLines({ now, holds }, out, zoneOf(env)))
  if (holds.length === 0 && !quiet) human.lines('No hold. Nobody is told to wait.')
}

function holdLines({ now, holds }: HoldsNow, screen: Screen, zone: string): string[] {
  return table(
    screen,
    [
      { header: 'held' },
      { header: 'until' },
      { header: 'runs', align: 'right' },
      { header: 'told by' },
      { header: 'why', flexible: true },
    ],
    holds.map(({ what, until, phase, waiting, by, why }) => [
      screen.text(what),
      phase === 'probing' ? 'one run goes first' : phase === 'admitting' ? 'opening' : untilText(until, now, zone),
      String(waiting),
      screen.text(by),
      screen.text(why),
    ]),
  )
}

function untilText(until: number | undefined, now: number, zone: string): string {
  if (until === undefined) return 'released'
  return until <= now ? 'now' : `${clockTime(until, zone, now)}, in ${formatDuration(until - now)}`
}

const waits = (runs: number): string =>
  runs === 0 ? 'No run waits for it.' : runs === 1 ? '1 run waits for it.' : `${runs} runs wait for it.`
