/**
 * `reprise runs`: the list, with what each run does now and why as a column and not as a detail.
 */
import { countsWithout, findRuns, maskRecord } from '../../ops/index.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { wholeNumberOf } from '../number-option.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { zoneOf } from '../reader.ts'
import { filterFrom, QUERY_HELP } from '../run-argument.ts'
import { runTable } from '../screens/run-table.ts'
import { shown } from '../terminal/text.ts'

const LIMIT_MAX = 10_000

export const registerRuns: Register = (program, frame) => {
  const command = program
    .command('runs')
    .helpGroup('Look')
    .summary('the list of runs, with what each does now and why')
    .description('Lists runs, newest first: state, story so far, what each does now and why.')
    .argument('[query...]', QUERY_HELP)
    .option('--limit <n>', 'at most so many', wholeNumberOf('--limit', 1, LIMIT_MAX), 30)
  withStoreFlags(command).action((words: string[], options: { readonly limit: number }) =>
    withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
      const zone = zoneOf(frame.terminal().env)
      const { filter, options: asked } = await filterFrom(store, words, zone)
      const found = await findRuns(store, filter, { limit: options.limit, zone })
      const wider = found.runs.length === 0 ? await countsWithout(store, filter, asked) : []
      show(found, wider, frame)
    }),
  )
  withNotes(command, [
    'The states: blocked, ready, running, waiting, review, succeeded, failed, cancelled. `since` and `before` take a duration back from now, a clock time, or an instant, and mean the time of submit.',
  ])
  withExamples(command, [
    { line: 'reprise runs state:waiting,review since:2h', says: 'what is held up, of the last two hours' },
    {
      line: "reprise runs 'code:gate.*' kestrel",
      says: 'answers that the gate refused, with a word in input or message',
    },
    { line: 'reprise runs state:failed --json', says: 'for a script: one object per line' },
  ])
}

function show(
  found: Awaited<ReturnType<typeof findRuns>>,
  wider: Awaited<ReturnType<typeof countsWithout>>,
  frame: Frame,
): void {
  const { json, out, human, quiet } = frame.terminal()
  if (json) out.lines(...found.runs.map((row) => jsonLine(maskRecord({ ...row, now: found.now }))))
  else if (found.runs.length > 0) out.lines(...runTable(found.runs, out))
  if (quiet) return
  if (found.runs.length === 0) {
    const [first] = wider
    const hint = first
      ? ` Without ${shown(first.token.written)} there ${first.runs === 1 ? 'is 1' : `are ${first.runs}`}.`
      : ''
    human.lines(human.text(`No run matches.${hint}`))
  }
  if (found.partial) human.lines('', human.paint.dim('The search stopped before the oldest run; since: narrows it.'))
  else if (found.more && out.isTTY) human.lines('', human.paint.dim('There are more; --limit shows more of them.'))
}
