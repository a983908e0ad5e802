/**
 * `reprise show`: the story of one run: what now, what happened, what comes next, what is used up.
 */
import { maskRecord, story } from '../../ops/index.ts'
import type { Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { zoneOf } from '../reader.ts'
import { RUN_HELP, runNamed } from '../run-argument.ts'
import { storyLines } from '../screens/story-lines.ts'

export const registerShow: Register = (program, frame) => {
  const command = program
    .command('show')
    .helpGroup('Look')
    .summary('the story of one run')
    .description(
      'Tells the story of one run in the order one asks for it: what it does now and why, what happened, what comes next, and how much of each bound is used.',
    )
    .argument('<run>', RUN_HELP)
    .option('--all', 'every entry, however long the story is')
  withStoreFlags(command).action((word: string, options: { readonly all?: boolean }) =>
    withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
      const { json, out, env } = frame.terminal()
      const zone = zoneOf(env)
      const { id } = await runNamed(store, word)
      const told = await story(store, id, { zone })
      // It may have been pruned between two reads; then the name is as unknown as any other.
      if (!told) return void (await runNamed(store, id))
      if (json) out.lines(jsonLine(maskRecord(told)))
      else out.lines(...storyLines(told, out, { zone, all: options.all ?? false }))
    }),
  )
  withExamples(command, [
    { line: 'reprise show r42', says: 'by id' },
    { line: 'reprise show invoice.read/INV-20431', says: 'by task and key; the key alone will do if one task has it' },
  ])
}
