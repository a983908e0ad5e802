/**
 * `reprise help [command]`: the same text as `--help`, and a near word when there is no such command.
 */

import type { Register } from '../frame.ts'
import { unknownWord } from '../usage-errors.ts'

export const registerHelp: Register = (program) => {
  program
    .command('help', { hidden: true })
    .argument('[command]')
    .description('Shows the help of the program or of one command.')
    .action((name: string | undefined) => {
      if (name === undefined) return program.outputHelp()
      const command = program.commands.find((each) => each.name() === name)
      if (command) return command.outputHelp()
      const names = program
        .createHelp()
        .visibleCommands(program)
        .map((each) => each.name())
      throw unknownWord('command', name, names, '`reprise --help` lists the commands.')
    })
}
