/**
 * `reprise export`: runs with their attempts, journal and notes, one JSON object per line, secrets masked.
 */
import { exportRuns } from '../../ops/index.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { openSink } from '../line-sink.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { zoneOf } from '../reader.ts'
import { filterFrom, QUERY_HELP } from '../run-argument.ts'

export const registerExport: Register = (program, frame) => {
  const command = program
    .command('export')
    .helpGroup('Operate')
    .summary('runs with all that belongs to them, as JSON lines')
    .description(
      'Writes runs with their attempts, journal and notes, one JSON object per line, newest first. Secrets are masked.',
    )
    .argument('[query...]', QUERY_HELP)
    .option('--out <file>', 'write to a new file instead of stdout')
  withStoreFlags(command).action((words: string[], options: { readonly out?: string }) =>
    withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
      const terminal = frame.terminal()
      const { filter } = await filterFrom(store, words, zoneOf(terminal.env))
      await using sink = await openSink(options.out, frame)
      let count = 0
      for await (const record of exportRuns(store, filter)) {
        await sink.line(jsonLine(record))
        count += 1
      }
      if (options.out === undefined || terminal.quiet) return
      terminal.human.lines(terminal.human.text(`${count} ${count === 1 ? 'run' : 'runs'} in ${options.out}.`))
    }),
  )
  withNotes(command, ['A file that exists is not replaced.'])
  withExamples(command, [
    { line: 'reprise export state:failed since:7d --out failed.jsonl', says: 'what failed in a week' },
    { line: "reprise export 'code:gate.*' | jq .run.input", says: 'into another program' },
  ])
}
