/**
 * Configuration for commands: `--config` and the flags that override it, loaded and told in the program's own words.
 * The config room checks every value; here its complaints become a usage error.
 */
import type { Command } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig } from '../config/load-config.ts'
import type { ResolvedConfig } from '../config/resolve-config.ts'
import { CliError } from './cli-error.ts'
import type { Frame } from './frame.ts'

/** Every flag that a setting has, by its name without dashes. A command takes those that concern it. */
const FLAGS = {
  config: ['<file>', 'the configuration; `reprise.config.ts` here or above unless given'],
  store: ['<address>', 'sqlite:<file>, firestore://<project> or memory:'],
  artifacts: ['<address>', 'folder:<path>, gcs://<bucket>/<prefix> or memory:'],
  bus: ['<address>', 'memory: or amqp://…'],
  app: ['<module>', 'the module with your handlers'],
  concurrency: ['<n>', 'attempts at a time'],
  lease: ['<duration>', 'how long a silent worker keeps its runs'],
  poll: ['<duration>', 'how often the store is asked when no hint comes'],
  drain: ['<duration>', 'how long handlers may go on after a stop'],
  'log-level': ['<level>', 'debug, info, warn, error or silent'],
} as const

export type ConfigFlag = keyof typeof FLAGS

export const CONFIG_FLAGS = Object.keys(FLAGS) as readonly ConfigFlag[]

/** Adds flags to a command, in the order of the settings. */
export function withConfigFlags(command: Command, flags: readonly ConfigFlag[]): Command {
  for (const flag of CONFIG_FLAGS) {
    const [value, says] = FLAGS[flag]
    if (flags.includes(flag)) command.option(`--${flag} ${value}`, says)
  }
  return command
}

/** Loads the configuration with the flags that this command was given. */
export async function configFrom(command: Command, frame: Frame): Promise<ResolvedConfig> {
  const given: Record<string, unknown> = command.opts()
  const flags = Object.fromEntries(CONFIG_FLAGS.map((flag) => [flag, given[camel(flag)]]))
  try {
    return await loadConfig({ cwd: frame.cwd, env: frame.terminal().env, flags })
  } catch (error) {
    if (error instanceof ConfigError) throw refused(error)
    throw error
  }
}

function refused(error: ConfigError): CliError {
  const count = error.problems.length
  return new CliError({
    code: 'CONFIG_INVALID',
    message: count === 1 ? error.message : `The configuration has ${count} mistakes:\n${error.message}`,
    ...(error.cause === undefined ? {} : { cause: error.cause }),
    tryThis: '`reprise config` shows every value and where it comes from.',
    exit: 2,
  })
}

/** As commander names what it parsed. */
const camel = (flag: string) => flag.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
