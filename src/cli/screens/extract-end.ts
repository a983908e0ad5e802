/**
 * The end of an extraction on a screen: the verdict, what it took, the money beside that of the strongest model, and what to do next.
 * Every figure comes from accounts that were read from the store.
 */
import { type Account, type AlwaysStrongest, RECOURSES, type Recourse } from '../../extract/index.ts'
import type { Kind } from '../../failure/failure.ts'
import { formatDuration } from '../../time/duration.ts'
import { KIND_SIGNS, type Sign } from '../terminal/palette.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'
import { usdText } from './extract-board.ts'

export interface EndFacts {
  readonly accounts: readonly Account[]
  /** What the documents are called: `invoices`. */
  readonly noun: string
  readonly elapsedMs: number
  /** Sends and money of this process. */
  readonly here: { readonly calls: number; readonly usd: number; readonly documents: number }
  /** About what the strongest rung would have cost for all. */
  readonly always?: AlwaysStrongest
  /** Kinds that were seen here and that no store keeps: repeats inside calls. */
  readonly seen: ReadonlyMap<string, ReadonlySet<Kind>>
}

const WORDS: Readonly<Record<Recourse, string>> = {
  first: 'first take',
  waited: 'waited',
  repaired: 'repaired here',
  asked: 'asked again',
  stronger: 'stronger model',
  person: 'a person',
  nothing: 'nothing',
}

export function verdict({ accounts, noun, elapsedMs, here }: EndFacts): string {
  const of = (outcome: Account['outcome']) => accounts.filter((account) => account.outcome === outcome).length
  const parts = [
    `${of('right')} right`,
    `${of('person')} with a person`,
    `${of('failed')} failed`,
    ...(of('open') > 0 ? [`${of('open')} not done`] : []),
  ]
  const seconds = elapsedMs < 60_000 ? `${(elapsedMs / 1_000).toFixed(1)} s` : formatDuration(elapsedMs)
  const time = here.documents === 0 ? '' : ` in ${seconds}`
  return `${accounts.length} ${noun}${time}: ${parts.join(', ')}`
}

export function endLines(facts: EndFacts, screen: Screen): string[] {
  const { accounts, here, always } = facts
  const { paint } = screen
  const isOpen = accounts.some(({ outcome }) => outcome === 'open')
  const rows = RECOURSES.map((recourse) => [recourse, accounts.filter((each) => each.recourse === recourse)] as const)
    .filter(([, some]) => some.length > 0)
    .map(([recourse, some]) => [
      WORDS[recourse],
      paint.bold(String(some.length)),
      String(callsOf(some)),
      usdText(usdOf(some)),
      `${signsOf(some, facts, screen)}${paint.dim(screen.text(noteOf(recourse, some)))}`,
    ])
  const total = [
    '',
    paint.bold(String(accounts.length)),
    paint.bold(String(callsOf(accounts))),
    paint.bold(usdText(usdOf(accounts))),
    always ? paint.dim(screen.text(alwaysText(always))) : '',
  ]
  const lines = table(
    screen,
    [
      { header: 'What it took' },
      { header: 'docs', align: 'right' },
      { header: 'calls', align: 'right' },
      { header: 'spent', align: 'right' },
      { header: '', flexible: true },
    ],
    [...rows, total],
  )
  const ruler = (screen.ascii ? '-' : '─').repeat(44)
  return [
    `${screen.state(isOpen ? 'waiting' : 'succeeded')} ${paint.bold(screen.text(verdict(facts)))}`,
    '',
    ...lines.slice(0, -1),
    paint.dim(ruler),
    ...lines.slice(-1),
    ...boughtLines(here, accounts, screen),
  ]
}

const alwaysText = ({ rung, usd, isFloor }: AlwaysStrongest) =>
  `always ${rung}: ${isFloor ? 'at least' : 'about'} ${usdText(usd)}`

/** What was bought now, when something had been bought before. */
function boughtLines(here: EndFacts['here'], accounts: readonly Account[], screen: Screen): string[] {
  const calls = callsOf(accounts)
  if (calls === here.calls) return []
  const before = usdText(Math.max(0, usdOf(accounts) - here.usd))
  const line =
    here.calls === 0
      ? `Nothing was bought this time: all ${calls} calls (${before}) were paid for before.`
      : `This time ${here.calls} calls for ${usdText(here.usd)}; ${calls - here.calls} calls (${before}) were paid for before.`
  return ['', ...wrap(screen.text(line), screen.columns)]
}

const callsOf = (accounts: readonly Account[]) => accounts.reduce((sum, { calls }) => sum + calls, 0)
const usdOf = (accounts: readonly Account[]) => accounts.reduce((sum, { usd }) => sum + usd, 0)

function signsOf(accounts: readonly Account[], { seen }: EndFacts, screen: Screen): string {
  const kinds = new Set(accounts.flatMap(({ kinds: own, run }) => [...own, ...(seen.get(run) ?? [])]))
  const signs: Sign[] = [...kinds].map((kind) => KIND_SIGNS[kind])
  const width = screen.ascii ? 10 : 6
  const shown = signs.slice(0, 3).map((sign) => screen.sign(sign))
  const taken = signs.slice(0, 3).reduce((sum, sign) => sum + sign[screen.ascii ? 'ascii' : 'glyph'].length + 1, 0)
  return `${shown.join(' ')}${shown.length > 0 ? ' ' : ''}${' '.repeat(Math.max(0, width - taken))}`
}

function noteOf(recourse: Recourse, accounts: readonly Account[]): string {
  switch (recourse) {
    case 'first':
      return ''
    case 'waited':
      return 'then the same again'
    case 'repaired':
      return 'no extra call'
    case 'asked':
      return 'with the errors and the image'
    case 'stronger':
      return [...new Set(accounts.flatMap(({ rung }) => (rung === undefined ? [] : [rung])))].join(', ')
    case 'person': {
      const waiting = accounts.filter(({ outcome }) => outcome === 'person')
      return waiting.length === 0
        ? 'answered'
        : `${waiting.length === accounts.length ? '' : `${waiting.length} of them `}waiting for you`
    }
    case 'nothing': {
      const [only, second] = accounts
      return second ? `${accounts.map(({ name }) => name).join(', ')}` : (only?.reason ?? '')
    }
  }
}

export function nextLines(commands: readonly (readonly [string, string])[], screen: Screen): string[] {
  return [
    screen.paint.dim('Next'),
    ...table(
      screen,
      [{ header: '' }, { header: '', flexible: true }],
      commands.map(([line, says]) => [screen.paint.bold(screen.text(line)), says]),
      '  ',
    ),
  ]
}

/** One document as data: what `--out` and `--json` write. */
export function resultOf(account: Account, files: readonly string[]): Readonly<Record<string, unknown>> {
  const { name, outcome, recourse, value, rung, calls, hidden, usd, kinds, codes, reason, run } = account
  return {
    document: name,
    files,
    outcome,
    ...(value === undefined ? {} : { value }),
    ...(recourse === undefined ? {} : { recourse }),
    ...(rung === undefined ? {} : { rung }),
    ...(reason === undefined ? {} : { reason }),
    ...(codes.length === 0 ? {} : { codes }),
    ...(kinds.length === 0 ? {} : { kinds }),
    calls,
    ...(hidden === 0 ? {} : { hidden }),
    usd,
    run,
  }
}
