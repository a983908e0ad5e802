/**
 * How `--help` looks: what it is for, usage, options in groups, examples. Short enough for one screen.
 * Everything shown comes from the program's definition; only examples and notes are kept beside it, here.
 */
import type { Argument, Command, Help, Option } from 'commander'
import { emphasise } from './terminal/emphasis.ts'
import type { Screen } from './terminal/terminal.ts'
import { pad, wrap } from './terminal/text.ts'

export interface Example {
  readonly line: string
  readonly says: string
}

const examples = new WeakMap<Command, readonly Example[]>()
const notes = new WeakMap<Command, readonly string[]>()

export function withExamples(command: Command, list: readonly Example[]): Command {
  examples.set(command, list)
  return command
}

export function examplesOf(command: Command): readonly Example[] {
  return examples.get(command) ?? []
}

/** Paragraphs that stand below the options. */
export function withNotes(command: Command, paragraphs: readonly string[]): Command {
  notes.set(command, paragraphs)
  return command
}

export function notesOf(command: Command): readonly string[] {
  return notes.get(command) ?? []
}

const TERM_COLUMNS_MAX = 24
const EXIT_CODES = 'Exit codes: 0 right, 1 failed, 2 asked wrongly, 3 the store cannot be reached.'

export function formatHelp(command: Command, help: Help, screen: Screen): string {
  const { paint } = screen
  const isProgram = command.parent === null
  const lines: string[] = []
  const heading = (text: string) => lines.push('', paint.dim(text))
  const paragraph = (text: string, indent = '') =>
    lines.push(
      ...emphasise(wrap(screen.block(text), screen.columns - indent.length), screen).map((line) => indent + line),
    )

  lines.push(
    paint.bold(isProgram ? `${command.name()} ${command.version() ?? ''}`.trim() : `reprise ${command.name()}`),
  )
  paragraph(command.description())

  heading('Usage')
  lines.push(`  ${help.commandUsage(command)}`)

  const entries = (list: readonly (readonly [string, string])[], termColumns?: number) =>
    lines.push(...definitions(screen, list, termColumns))
  if (isProgram) {
    const groups = commandGroups(command, help)
    const widest = Math.max(...[...groups.values()].flat().map((each) => commandTerm(each).length))
    for (const [group, members] of groups) {
      heading(group)
      entries(
        members.map((each) => [commandTerm(each), each.summary() || each.description()]),
        widest,
      )
    }
  }
  const described = command.registeredArguments.filter((argument) => argument.description !== '')
  if (described.length > 0) {
    heading('Arguments')
    entries(described.map((argument) => [argumentTerm(argument), argument.description]))
  }
  const options = help.visibleOptions(command).filter((option) => isProgram || option.long !== '--help')
  if (options.length > 0) {
    heading(isProgram ? 'Options, in every command' : 'Options')
    entries(options.map((option) => [option.flags, optionText(option)]))
  }
  for (const note of notesOf(command)) {
    lines.push('')
    paragraph(note)
  }
  if (examplesOf(command).length > 0) {
    heading(examplesOf(command).length === 1 ? 'Example' : 'Examples')
    for (const example of examplesOf(command)) {
      lines.push(`  ${paint.bold(screen.block(example.line))}`)
      paragraph(example.says, '      ')
    }
  }
  lines.push('')
  if (isProgram) {
    paragraph(EXIT_CODES)
    paragraph('`reprise help <command>` tells more about one command.')
  } else {
    const everywhere = (command.parent?.options ?? []).filter((option) => option.long !== '--version')
    paragraph(`In every command: ${everywhere.map((option) => option.long ?? option.flags).join(' ')}`)
  }
  return `${lines.join('\n')}\n`
}

/** Visible commands by their group, in the order in which they were added. */
export function commandGroups(program: Command, help: Help): Map<string, Command[]> {
  const groups = new Map<string, Command[]>()
  for (const each of help.visibleCommands(program)) {
    const group = each.helpGroup() || 'Commands'
    groups.set(group, [...(groups.get(group) ?? []), each])
  }
  return groups
}

export function commandTerm(command: Command): string {
  return [command.name(), ...command.registeredArguments.map(argumentTerm)].join(' ')
}

export function argumentTerm(argument: Argument): string {
  const name = argument.name() + (argument.variadic ? '...' : '')
  return argument.required ? `<${name}>` : `[${name}]`
}

export function optionText(option: Option): string {
  const value = option.defaultValueDescription ?? option.defaultValue
  const isWorthSaying = value !== undefined && value !== false && option.long !== '--no-color'
  return isWorthSaying ? `${option.description} (default: ${String(value)})` : option.description
}

/** Terms on the left, sentences on the right; a term that is too long stands on a line of its own. */
function definitions(
  screen: Screen,
  list: readonly (readonly [string, string])[],
  widest = Math.max(...list.map(([term]) => term.length)),
): string[] {
  const termColumns = Math.min(TERM_COLUMNS_MAX, widest)
  const indent = 2 + termColumns + 2
  return list.flatMap(([term, text]) => {
    const body = emphasise(wrap(screen.block(text), screen.columns - indent), screen)
    const name = screen.paint.bold(term)
    if (term.length > termColumns) return [`  ${name}`, ...body.map((line) => ' '.repeat(indent) + line)]
    return body.map((line, index) => (index === 0 ? `  ${pad(name, termColumns)}  ${line}` : ' '.repeat(indent) + line))
  })
}
