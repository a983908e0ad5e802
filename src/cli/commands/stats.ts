/**
 * `reprise stats`: how many runs are where, which failures lead, and one true sentence about it.
 */
import { type Stats, stats } from '../../ops/index.ts'
import { STATE_WORDS, type StateWord } from '../../run/run.ts'
import type { Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'

const CODES_SHOWN = 5

export const registerStats: Register = (program, frame) => {
  const command = program
    .command('stats')
    .helpGroup('Look')
    .summary('how many runs are where, and what leads the failures')
    .description(
      'Counts runs by task and state, names the leading failures of runs that are not done, and says in one sentence how things are.',
    )
  withStoreFlags(command).action(() =>
    withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
      const { json, out } = frame.terminal()
      const counted = await stats(store)
      out.lines(...(json ? [jsonLine(counted)] : statsLines(counted, out)))
    }),
  )
  withExamples(command, [{ line: 'reprise stats --json', says: 'the same as data' }])
}

function statsLines({ sentence, tasks, failures, states }: Stats, screen: Screen): string[] {
  const { paint } = screen
  const present = ORDER.filter((state) => states[state] > 0)
  const cell = (count: number) => (count === 0 ? paint.dim('0') : String(count))
  const byTask = tasks.map((task) => [screen.text(task.task), ...present.map((state) => cell(task.states[state]))])
  const total = ['all', ...present.map((state) => paint.bold(String(states[state])))]
  const headers = present.map((state) => ({ header: state, align: 'right' as const }))
  return [
    ...wrap(screen.text(sentence), screen.columns).map((line) => paint.bold(line)),
    ...(tasks.length === 0
      ? []
      : [
          '',
          ...table(
            screen,
            [{ header: 'task', flexible: true }, ...headers],
            tasks.length > 1 ? [...byTask, total] : byTask,
          ),
        ]),
    ...(failures.length === 0
      ? []
      : [
          '',
          ...table(
            screen,
            [{ header: 'runs', align: 'right' }, { header: 'failed with' }, { header: 'code', flexible: true }],
            failures
              .slice(0, CODES_SHOWN)
              .map(({ kind, code, runs }) => [String(runs), `${screen.kind(kind)} ${kind}`, screen.text(code)]),
          ),
        ]),
  ]
}

/** What needs somebody stands first. */
const ORDER: readonly StateWord[] = [...STATE_WORDS].sort((a, b) => rank(a) - rank(b))

function rank(state: StateWord): number {
  return ['failed', 'review', 'running', 'ready', 'waiting', 'blocked', 'succeeded', 'cancelled'].indexOf(state)
}
