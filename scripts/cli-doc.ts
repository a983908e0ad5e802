/**
 * Writes docs/reference/cli.md from the program's own definition: `node scripts/cli-doc.ts`.
 * With `--check` it writes nothing and fails when the page is not what the definition says.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { argumentTerm, commandGroups, examplesOf, notesOf, optionText } from '../src/cli/help.ts'
import { createProgram } from '../src/cli/program.ts'
import { systemClock } from '../src/time/clock.ts'

const PAGE = new URL('../docs/reference/cli.md', import.meta.url)

/** The program with its commands, to be read and not to be run. */
export function describedProgram(): Command {
  const unused = () => {
    throw new Error('describing the commands runs none of them')
  }
  return createProgram({
    terminal: unused,
    clock: systemClock,
    cwd: '.',
    version: '0.0.0',
    interruption: unused,
    fail: unused,
  })
}

export function commandLinePage(): string {
  const program = describedProgram()
  const help = program.createHelp()
  const groups = [...commandGroups(program, help)]
  const sections = [
    '<!-- Written by scripts/cli-doc.ts from the definition of the commands. Change that, then run it again. -->',
    '# Command line',
    program.description(),
    ...groups.map(([group, commands]) =>
      [
        `**${group}**`,
        '',
        ...commands.map((each) => `- [\`reprise ${each.name()}\`](#reprise-${each.name()}): ${each.summary()}`),
      ].join('\n'),
    ),
    '## In every command',
    optionTable(help.visibleOptions(program)),
    'Colours are written to terminals only; `FORCE_COLOR` asks for them elsewhere. Text that comes from errors, files or a store is shown without control characters.',
    '| exit code | meaning |\n|---|---|\n| 0 | right |\n| 1 | failed |\n| 2 | asked wrongly |\n| 3 | the store cannot be reached |',
    'Errors go to stderr in three words: `error` what happened, `cause` the deepest useful reason, `try` one thing to do.',
    ...groups.flatMap(([, commands]) => commands.map(commandSection)),
  ]
  return `${sections.join('\n\n')}\n`

  function commandSection(command: Command): string {
    const options = help.visibleOptions(command).filter((option) => option.long !== '--help')
    const parts = [
      `## reprise ${command.name()}`,
      command.description(),
      `\`\`\`sh\n${help.commandUsage(command)}\n\`\`\``,
    ]
    const described = command.registeredArguments.filter((argument) => argument.description !== '')
    if (described.length > 0) {
      parts.push(described.map((argument) => `- \`${argumentTerm(argument)}\`: ${argument.description}`).join('\n'))
    }
    if (options.length > 0) parts.push(optionTable(options))
    parts.push(...notesOf(command))
    const examples = examplesOf(command)
    if (examples.length > 0) {
      parts.push(`\`\`\`sh\n${examples.map((example) => `# ${example.says}\n${example.line}`).join('\n\n')}\n\`\`\``)
    }
    return parts.join('\n\n')
  }
}

function optionTable(options: readonly Parameters<typeof optionText>[0][]): string {
  const rows = options.map((option) => `| \`${option.flags}\` | ${optionText(option).replaceAll('|', '\\|')} |`)
  return ['| option | |', '|---|---|', ...rows].join('\n')
}

if (import.meta.main) {
  const page = commandLinePage()
  if (process.argv.includes('--check')) {
    if (readFileSync(PAGE, 'utf8') !== page) {
      console.error('docs/reference/cli.md is out of date: run node scripts/cli-doc.ts')
      process.exitCode = 1
    }
  } else writeFileSync(PAGE, page)
}
