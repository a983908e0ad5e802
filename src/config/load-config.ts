/**
 * Finds and loads `reprise.config.*`, and hands it with the environment and the flags to the door.
 * The only part of the room that touches files.
 */
import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from './config-error.ts'
import { isPlain, type Layers, type Origin } from './layers.ts'
import { type ResolvedConfig, resolveConfig } from './resolve-config.ts'
import { shown } from './shown.ts'

export const CONFIG_FILES = ['reprise.config.ts', 'reprise.config.js', 'reprise.config.mjs'] as const

export interface LoadConfigOptions {
  readonly cwd?: string
  readonly env?: Layers['env']
  /** By name without dashes; `config` names the file. */
  readonly flags?: Layers['flags']
}

/** Everything from everywhere, checked. Throws a ConfigError that names each field, value and origin that is wrong. */
export async function loadConfig(options: LoadConfigOptions = {}): Promise<ResolvedConfig> {
  const { cwd = process.cwd(), env = process.env, flags = {} } = options
  const path = namedFile(cwd, env, flags) ?? findFile(cwd)
  const layers = { cwd, env, flags }
  return resolveConfig(path === undefined ? layers : { ...layers, file: { path, config: await loadFile(path) } })
}

/** The file that was asked for by flag or variable; it must exist, because somebody counts on it. */
function namedFile(cwd: string, env: Layers['env'], flags: Layers['flags']): string | undefined {
  const asked: [unknown, Origin, string] | undefined =
    flags['config'] !== undefined
      ? [flags['config'], 'flag:--config', '--config']
      : env['REPRISE_CONFIG'] !== undefined
        ? [env['REPRISE_CONFIG'], 'env:REPRISE_CONFIG', 'REPRISE_CONFIG']
        : undefined
  if (!asked) return undefined
  const [given, origin, field] = asked
  const path = typeof given === 'string' && given !== '' ? resolve(cwd, given) : undefined
  if (path !== undefined && existsSync(path)) return path
  throw problem(
    origin,
    `${field}: ${shown(given)} is not a file; allowed is the path of a file such as ${CONFIG_FILES[0]}`,
  )
}

/** The nearest one, from the working folder upward. Two in one folder are refused: one of them would be ignored in silence. */
function findFile(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const found = CONFIG_FILES.filter((name) => existsSync(join(folder, name)))
    const [first, second] = found
    if (second !== undefined) {
      throw problem(`file:${join(folder, second)}`, `${found.join(' and ')} are both in ${folder}; keep one of them`)
    }
    if (first !== undefined) return join(folder, first)
    if (dirname(folder) === folder) return undefined
  }
}

async function loadFile(path: string): Promise<unknown> {
  let loaded: { readonly default?: unknown }
  try {
    loaded = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as { readonly default?: unknown }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw problem(`file:${path}`, `${basename(path)} cannot be loaded: ${message}`, cause)
  }
  if (isPlain(loaded.default)) return loaded.default
  const found = loaded.default === undefined ? 'nothing' : shown(loaded.default)
  throw problem(
    `file:${path}`,
    `the default export is ${found}; allowed is an object: export default defineConfig({ … })`,
  )
}

function problem(origin: Origin, message: string, cause?: unknown): ConfigError {
  return new ConfigError([{ origin, message }], cause === undefined ? undefined : { cause })
}
