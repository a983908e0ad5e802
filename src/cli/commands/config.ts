/**
 * `reprise config`: every setting with its value and where that value comes from. Secrets are masked.
 * It only shows; settings, files and variables are the config room's.
 */
import { relative } from 'node:path'
import { type ConfigRow, printConfig } from '../../config/print-config.ts'
import type { ResolvedConfig } from '../../config/resolve-config.ts'
import { CONFIG_FLAGS, configFrom, withConfigFlags } from '../config-option.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { table } from '../terminal/table.ts'
import { unknownWord } from '../usage-errors.ts'

export const registerConfig: Register = (program, frame) => {
  const command = program
    .command('config')
    .helpGroup('Operate')
    .summary('every setting, and where its value comes from')
    .description(
      'Shows the configuration as every other command would read it: defaults, then `reprise.config.ts`, then `REPRISE_*` variables, then flags. Secrets are masked.',
    )
    .argument('[setting]', 'one setting (`worker.leaseMs`), or a section (`worker`)')
  withConfigFlags(command, CONFIG_FLAGS)
  command.action(async (setting: string | undefined) => showConfig(await configFrom(command, frame), setting, frame))
  withNotes(command, ['A mistake anywhere is told by name, value and origin, and ends with exit code 2.'])
  withExamples(command, [
    { line: 'reprise config', says: 'all of it' },
    { line: 'REPRISE_LEASE=45s reprise config worker', says: 'one section, as a variable changes it' },
    { line: 'reprise config --json', says: 'for a script: one object per setting' },
  ])
}

function showConfig(resolved: ResolvedConfig, setting: string | undefined, frame: Frame): void {
  const { json, out, human, quiet } = frame.terminal()
  const wanted = (name: string) => setting === undefined || name === setting || name.startsWith(`${setting}.`)
  const rows = printConfig(resolved).filter((row) => wanted(row.name))
  if (rows.length === 0 && setting !== undefined) {
    const names = resolved.entries.map((entry) => entry.name)
    throw unknownWord('setting', setting, names, '`reprise config` lists the settings.')
  }
  if (json) {
    out.lines(...resolved.entries.filter((entry) => wanted(entry.name)).map(jsonLine))
    return
  }
  const short = (row: ConfigRow) => {
    const path = row.origin.startsWith('file:') ? row.origin.slice('file:'.length) : undefined
    return path === undefined ? row.origin : `file:${relative(frame.cwd, path)}`
  }
  out.lines(
    ...table(
      out,
      [{ header: 'setting' }, { header: 'value' }, { header: 'origin' }, { header: 'variable', droppable: true }],
      rows.map((row) => [
        out.text(row.name),
        out.text(row.value),
        row.origin === 'default' ? out.paint.dim('default') : out.text(short(row)),
        out.paint.dim(row.env ?? ''),
      ]),
    ),
  )
  if (!quiet && out.isTTY && resolved.file === undefined) {
    human.lines('', out.paint.dim('No reprise.config.ts here or above.'))
  }
}
