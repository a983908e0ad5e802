/**
 * `reprise vacuum`: gives the space of deleted runs back to the disk, and says how much.
 */
import { vacuum } from '../../stores/sqlite/vacuum.ts'
import { usageError } from '../cli-error.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'

export const registerVacuum: Register = (program, frame) => {
  const command = program
    .command('vacuum')
    .helpGroup('Operate')
    .summary('gives the space of deleted runs back')
    .description(
      'Rewrites a SQLite file without the space of deleted runs, and tells its size before and after. Deleted rows leave room in the file that new runs use, so it is worth while only after much was deleted for good.',
    )
  withStoreFlags(command).action(() =>
    withStore(command, frame, { missing: 'refuse' }, async ({ settings, where }) => {
      const { store } = settings
      if (store.driver !== 'sqlite')
        throw usageError('Only a SQLite file is vacuumed.', 'Other databases do it by themselves.')
      const { json, out } = frame.terminal()
      const { bytesBefore, bytesAfter } = vacuum(store.file)
      if (json) return out.lines(jsonLine({ store: where, bytesBefore, bytesAfter }))
      const sentence = `${where}: ${sizeText(bytesBefore)} → ${sizeText(bytesAfter)}.`
      out.lines(`${out.sign(STATE_SIGNS.succeeded)} ${out.text(sentence)}`)
    }),
  )
  withNotes(command, [
    'Workers wait while it writes: about a second for 100 MB. It needs twice the size of what remains on the same disk.',
  ])
  withExamples(command, [{ line: 'reprise vacuum --store sqlite:./reprise.db', says: 'in a quiet hour' }])
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3))
  const amount = bytes / 1_000 ** power
  return `${power === 0 ? amount : amount.toFixed(1)} ${UNITS[power]}`
}
