/**
 * The parser's complaints in our own words, with the nearest right word where there is one.
 * Commander tells what was wrong by a code and a sentence; the values are read back from that sentence.
 */
import type { Command, CommanderError } from 'commander'
import { nearest } from '../config/nearest.ts'
import { type CliError, usageError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

export function fromCommander(error: CommanderError, program: Command, command: Command | undefined): CliError {
  const about = command
    ? `\`reprise help ${command.name()}\` shows what it takes.`
    : '`reprise --help` lists the commands.'
  const quoted = /'(.*?)'(?:[\s.]|$)/s.exec(error.message)?.[1] ?? ''
  switch (error.code) {
    case 'commander.unknownCommand': {
      const names = program
        .createHelp()
        .visibleCommands(program)
        .map((each) => each.name())
      return unknownWord('command', quoted, names, about)
    }
    case 'commander.unknownOption': {
      const flag = quoted.split('=', 1)[0] ?? quoted
      const options = [...(command?.options ?? []), ...program.options].flatMap((each) => each.long ?? [])
      return unknownWord('option', flag, [...options, '--help'], about)
    }
    case 'commander.missingArgument':
      return usageError(`${nameOf(command)} needs <${quoted}>.`, about)
    case 'commander.optionMissingArgument':
      return usageError(`The option ${quoted} needs a value.`, about)
    case 'commander.excessArguments': {
      const given = (command?.args ?? program.args).map((word) => shown(word)).join(' ')
      return usageError(`${nameOf(command)} was given more words than it takes: ${given}`, about)
    }
    default:
      return usageError(sentence(error.message), about)
  }
}

/** "There is no command retyr. Did you mean retry?" */
export function unknownWord(
  noun: string,
  word: string,
  allowed: readonly string[],
  tryThis: string | undefined,
): CliError {
  const meant = nearest(word, allowed)
  const message = `There is no ${noun} ${shown(word)}.`
  return meant === undefined ? usageError(message, tryThis) : usageError(`${message} Did you mean \`${meant}\`?`)
}

function nameOf(command: Command | undefined): string {
  return command ? `\`${command.name()}\`` : '`reprise`'
}

/** Commander's own words for what has none of ours: "error: option '--x' …" becomes "Option '--x' …". */
function sentence(message: string): string {
  const text = message.replace(/^error: /, '').trim()
  const capital = text.charAt(0).toUpperCase() + text.slice(1)
  return capital.endsWith('.') ? capital : `${capital}.`
}
