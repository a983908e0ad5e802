/**
 * `reprise budget`: what is used and reserved of each budget, when it is empty at this pace and what then; and `set`, its one verb.
 */
import { isRepriseError } from '../../failure/reprise-error.ts'
import {
  type BudgetLine,
  type BudgetStatus,
  type BudgetsNow,
  emptyUnder,
  listBudgets,
  type SetBudget,
  setBudget,
} from '../../ops/index.ts'
import { money } from '../../run/budget-events.ts'
import { clockTime, zoneName } from '../../time/zone.ts'
import { usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { amountOf, wholeNumberOf } from '../number-option.ts'
import { type Opened, withStore, withStoreFlags } from '../open-store.ts'
import { actorOf } from '../reader.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { shown } from '../terminal/text.ts'

interface BudgetFlags {
  readonly day?: number
  readonly month?: number
  readonly dayUsd?: number
  readonly monthUsd?: number
  readonly clear?: boolean
  readonly yes?: boolean
  readonly by?: string
}

const VERBS = ['show', 'set'] as const

const CALLS_MAX = 999_999_999

export const registerBudget: Register = (program, frame) => {
  const command = program
    .command('budget')
    .helpGroup('Operate')
    .summary('what is used of each budget; set other limits')
    .description(
      'Shows each budget: used, reserved, limit, when it is empty at this pace, and what happens then. `set` gives it other limits, for every process from the next call on.',
    )
    .argument('[verb]', '`show` or `set`; without one, `show`')
    .argument('[name]', 'the budget; `show` without one shows all')
    .option('--day <calls>', 'calls per day', wholeNumberOf('--day', 0, CALLS_MAX))
    .option('--month <calls>', 'calls per month', wholeNumberOf('--month', 0, CALLS_MAX))
    .option('--day-usd <dollars>', 'US dollars per day', amountOf('--day-usd'))
    .option('--month-usd <dollars>', 'US dollars per month', amountOf('--month-usd'))
    .option('--clear', 'back to the limits that the code or the configuration defines')
    .option('--yes', 'also if it stops all calls')
    .option('--by <name>', 'who does it; your login unless given')
  withStoreFlags(command).action((verb: string | undefined, name: string | undefined, flags: BudgetFlags) => {
    const asked = readVerb(verb, name, flags)
    return withStore(command, frame, { missing: 'refuse' }, async (opened) => {
      if (asked === 'set' && name !== undefined) await set(opened, name, flags, frame)
      else show(await listBudgets(opened.store, opened.settings.budgets), name, frame)
    })
  })
  withNotes(command, [
    'A limit is hard: each send reserves before it goes out, over all processes. Limits that are set here win over those of the code, each by itself, until they are cleared.',
  ])
  withExamples(command, [
    { line: 'reprise budget', says: 'all of them' },
    { line: 'reprise budget set pro --day 80', says: 'more calls today, and every day after' },
    { line: 'reprise budget set pro --clear', says: 'back to the defined limits' },
  ])
}

function readVerb(verb: string | undefined, name: string | undefined, flags: BudgetFlags): (typeof VERBS)[number] {
  const known = VERBS.find((each) => each === (verb ?? 'show'))
  if (known === undefined) throw usageError(`${shown(verb ?? '')} is not a verb of budget.`, '`show` or `set`.')
  if (known === 'show') return known
  if (name === undefined) throw usageError('There is no budget to set.', '`reprise budget set pro --day 80`')
  const limits = limitsIn(flags)
  if (flags.clear ? limits : !limits)
    throw usageError(
      flags.clear ? '--clear takes no limits.' : 'There is no limit to set.',
      `\`reprise budget set ${name} --day 80\`, or \`--clear\``,
    )
  return known
}

function limitsIn({ day, month, dayUsd, monthUsd }: BudgetFlags): SetBudget['limits'] {
  const window = (calls: number | undefined, usd: number | undefined) => ({
    ...(calls === undefined ? {} : { calls }),
    ...(usd === undefined ? {} : { usd }),
  })
  const [ofDay, ofMonth] = [window(day, dayUsd), window(month, monthUsd)]
  const limits = {
    ...(Object.keys(ofDay).length > 0 ? { day: ofDay } : {}),
    ...(Object.keys(ofMonth).length > 0 ? { month: ofMonth } : {}),
  }
  return Object.keys(limits).length > 0 ? limits : undefined
}

async function set({ store, settings }: Opened, name: string, flags: BudgetFlags, frame: Frame): Promise<void> {
  const { env, json, out, human } = frame.terminal()
  const limits = limitsIn(flags)
  const order: SetBudget = { name, by: actorOf(flags.by, env), ...(limits ? { limits } : {}) }
  try {
    const { now, budgets } = await listBudgets(store, settings.budgets)
    const zone = budgets.find((budget) => budget.name === name)?.zone ?? 'UTC'
    const [empty] = await emptyUnder(store, order)
    if (empty && !flags.yes) {
      if (json) out.lines(jsonLine({ verb: 'set', budget: name, changed: false, empty }))
      human.lines(human.text(`${stops(empty, zone, 'would stop')} Nothing has changed yet. Add \`--yes\` to set it.`))
      frame.fail()
      return
    }
    const status = await setBudget(store, order, settings.budgets)
    if (json) out.lines(jsonLine({ verb: 'set', budget: name, changed: true, status }))
    const done = limits ? `${name} has its new limits from the next call on.` : `${name} is back to its defined limits.`
    human.lines(human.text(empty ? `${done} ${stops(empty, zone, 'stops')}` : done))
    if (!json && status) out.lines(...budgetLines({ now, budgets: [status] }, out))
  } catch (error) {
    if (isRepriseError(error) && error.code.startsWith('budget.')) throw usageError(error.message)
    throw error
  }
}

function stops(line: BudgetLine, zone: string, word: string): string {
  const { unit, spent, reserved } = line
  const given = spent + reserved
  const verb = unit === 'calls' && given !== 1 ? 'are' : 'is'
  return `${figure(unit, given)} ${verb} used already. The cap ${word} all calls until ${endOf(line, zone)}.`
}

function show({ now, budgets }: BudgetsNow, name: string | undefined, frame: Frame): void {
  const { json, out, human, quiet } = frame.terminal()
  const wanted = name === undefined ? budgets : budgets.filter((budget) => budget.name === name)
  if (name !== undefined && wanted.length === 0)
    throw usageError(
      `There is no budget ${shown(name)}.`,
      budgets.length > 0
        ? `One of ${budgets.map((budget) => budget.name).join(', ')}.`
        : 'None was defined or used yet.',
    )
  if (json) out.lines(...wanted.map((budget) => jsonLine({ ...budget, now })))
  else if (wanted.length > 0) out.lines(...budgetLines({ now, budgets: wanted }, out))
  if (wanted.length === 0 && !quiet) human.lines('No budget. Nothing limits what calls may cost.')
}

function budgetLines({ now, budgets }: BudgetsNow, screen: Screen): string[] {
  const hasReserved = budgets.some(({ lines }) => lines.some(({ reserved }) => reserved > 0))
  const rows = budgets.flatMap((budget) =>
    budget.lines.map((line, index) => [
      index === 0 ? screen.text(`${budget.name}${budget.set ? ' *' : ''}`) : '',
      line.window,
      figure(line.unit, line.spent),
      ...(hasReserved ? [line.reserved > 0 ? figure(line.unit, line.reserved) : ''] : []),
      line.limit === undefined ? 'none' : figure(line.unit, line.limit),
      line.share === undefined ? '' : `${Math.floor(line.share * 100)} %`,
      forecastText(line, budget, now),
    ]),
  )
  const columns = [
    { header: 'budget' },
    { header: 'per' },
    { header: 'used', align: 'right' },
    ...(hasReserved ? [{ header: 'reserved', align: 'right' } as const] : []),
    { header: 'limit', align: 'right' },
    { header: '', align: 'right' },
    { header: 'at this pace', flexible: true },
  ] as const
  const setBy = budgets.flatMap(({ name, set, zone }) =>
    set ? [screen.paint.dim(screen.text(`* ${name}: limits set by ${set.by} at ${whenIn(set.at, zone, now)}.`))] : [],
  )
  return [...table(screen, columns, rows), ...setBy]
}

const NOW = { person: 'to a person', wait: 'runs wait' } as const

function forecastText(line: BudgetLine, { onExhausted, zone }: BudgetStatus, now: number): string {
  const { emptyAt, expected, limit, unit, spent, reserved } = line
  const ends = endOf(line, zone)
  if (limit === undefined) return ''
  if (spent + reserved >= limit) return `empty: ${NOW[onExhausted]} until ${ends}`
  if (emptyAt !== undefined) return `empty at ${clockTime(emptyAt, zone, now)}, then ${NOW[onExhausted]}`
  if (expected === undefined) return 'nothing used yet'
  return `lasts: about ${figure(unit, unit === 'calls' ? Math.round(expected) : expected)} by ${ends}`
}

/** `00:00 Berlin` for a day, `1 Dec` for a month: midnight goes without saying. */
function endOf({ window, endsAt }: BudgetLine, zone: string): string {
  if (window === 'day') return `${clockTime(endsAt, zone, endsAt)} ${zoneName(zone)}`
  return clockTime(endsAt, zone, endsAt - DAY_MS).replace(/^.* on /, '')
}

const DAY_MS = 86_400_000

const figure = (unit: BudgetLine['unit'], value: number): string => (unit === 'usd' ? money(value) : String(value))

/** In the budget's own zone, because that is where its days end. */
const whenIn = (at: number, zone: string, now: number): string => `${clockTime(at, zone, now)} ${zoneName(zone)}`
