/**
 * Reads single settings from the layers that may hold them: flag over environment over file over default.
 * Every layer that gives a value is checked, also when another one wins; what nobody read at the end is refused by name.
 */
import { dirname } from 'node:path'
import type { ConfigProblem } from './config-error.ts'
import { nearest } from './nearest.ts'
import { shown } from './shown.ts'

/** `default`, `file:<path>`, `env:<name>` or `flag:--<name>`. */
export type Origin = 'default' | `file:${string}` | `env:${string}` | `flag:--${string}`

export interface Layers {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** By name without dashes: `{ lease: '30s' }`. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly file?: { readonly path: string; readonly config: unknown }
}

/** A value and how to speak of it. */
export interface Given {
  readonly raw: unknown
  readonly origin: Origin
  /** What the value is called there: `worker.leaseMs`, `REPRISE_LEASE`, `--lease`. */
  readonly field: string
  /** It came as text, so digits may be a number. */
  readonly isText: boolean
  /** Where relative paths begin. */
  readonly folder: string
}

export interface SettingNames {
  readonly env?: `REPRISE_${string}`
  readonly flag?: string
}

/** One setting as `reprise config` shows it. */
export interface ConfigEntry extends SettingNames {
  readonly name: string
  /** Absent: not set. Secrets are masked. */
  readonly value?: string | number | boolean
  readonly origin: Origin
}

export interface SettingOptions<Value> extends SettingNames {
  readonly parse: (given: Given) => Value
  /** As one would write it in the file. */
  readonly fallback?: unknown
  /** How to print it; the written form unless given. */
  readonly print?: (value: Value, given: Given) => string | number | boolean
}

/** Variables that other parts of the house read. */
const FOREIGN_VARIABLE = /^REPRISE_(?:CONFIG|CORPUS|CRASH_AT|MODE|TEST_\w+)$/

const FOREIGN_FLAGS = new Set(['config'])

export class SettingReader {
  readonly entries: ConfigEntry[] = []
  readonly problems: ConfigProblem[] = []
  readonly #layers: Layers
  readonly #paths = new Set<string>()
  readonly #variables = new Set<string>()
  readonly #flags = new Set<string>()

  constructor(layers: Layers) {
    this.#layers = layers
  }

  /** The value of one setting. A refused value is a problem, and the answer is then never used. */
  read<Value>(name: string, options: SettingOptions<Value>): Value | undefined {
    this.#paths.add(name)
    let value: Value | undefined
    let winner: Given | undefined
    for (const given of this.#given(name, options)) {
      const parsed = this.attempt(given.origin, () => options.parse(given))
      if (winner !== undefined) continue
      winner = given
      value = parsed
    }
    this.#enter(name, options, winner, value)
    return value
  }

  /** The same for settings that have a default, and so always a value. */
  need<Value>(name: string, options: SettingOptions<Value> & { readonly fallback: unknown }): Value {
    return this.read(name, options) as Value
  }

  /** A section of the file whose names the user chooses; each member is handed over by itself. */
  records(section: string): Given[] {
    this.#paths.add(section)
    const config = this.#section(section)
    return Object.keys(config).flatMap((key) => {
      const given = this.#fromFile(`${section}.${key}`, config[key])
      if (RECORD_NAME.test(key)) return [given]
      this.#problem(given.origin, `${section}: ${shown(key)} is not a name; allowed are ${RECORD_NAME.source}`)
      return []
    })
  }

  enter(entry: ConfigEntry): void {
    this.entries.push(entry)
  }

  /** Runs a check and turns what it throws into a problem. */
  attempt<Value>(origin: Origin, check: () => Value): Value | undefined {
    try {
      return check()
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.#problem(origin, error.message)
      return undefined
    }
  }

  /** To be called after everything was read: what is left is a slip of the pen. */
  refuseUnknown(): void {
    this.#unknownFields()
    for (const name of Object.keys(this.#layers.env)) {
      if (!name.startsWith('REPRISE_') || FOREIGN_VARIABLE.test(name) || this.#variables.has(name)) continue
      this.#unknown(`env:${name}`, `${name} is not a variable of Reprise`, name, [...this.#variables])
    }
    for (const flag of Object.keys(this.#layers.flags)) {
      if (FOREIGN_FLAGS.has(flag) || this.#flags.has(flag)) continue
      this.#unknown(`flag:--${flag}`, `--${flag} is not a flag of the configuration`, flag, [...this.#flags], '--')
    }
  }

  #given(name: string, { env, flag, fallback }: Omit<SettingOptions<unknown>, 'parse' | 'print'>): Given[] {
    const { cwd, env: variables, flags } = this.#layers
    const given: Given[] = []
    if (flag !== undefined) {
      this.#flags.add(flag)
      const raw = Object.hasOwn(flags, flag) ? flags[flag] : undefined
      const isText = typeof raw === 'string'
      if (raw !== undefined) given.push({ raw, origin: `flag:--${flag}`, field: `--${flag}`, isText, folder: cwd })
    }
    if (env !== undefined) {
      this.#variables.add(env)
      const raw = variables[env]
      if (raw !== undefined) given.push({ raw, origin: `env:${env}`, field: env, isText: true, folder: cwd })
    }
    const written = this.#written(name)
    if (written !== undefined) given.push(this.#fromFile(name, written))
    if (fallback !== undefined) {
      given.push({ raw: fallback, origin: 'default', field: name, isText: false, folder: cwd })
    }
    return given
  }

  #fromFile(field: string, raw: unknown): Given {
    const path = this.#layers.file?.path ?? ''
    return { raw, origin: `file:${path}`, field, isText: false, folder: dirname(path) }
  }

  #written(name: string): unknown {
    const [section = '', field] = name.split('.')
    if (field === undefined) return own(this.#layers.file?.config, section)
    return own(this.#section(section), field)
  }

  #section(name: string): Readonly<Record<string, unknown>> {
    const section = own(this.#layers.file?.config, name)
    return isPlain(section) ? section : {}
  }

  #enter<Value>(name: string, options: SettingOptions<Value>, winner?: Given, value?: Value): void {
    const { env, flag, print } = options
    const names = { ...(env === undefined ? {} : { env }), ...(flag === undefined ? {} : { flag: `--${flag}` }) }
    if (winner === undefined || value === undefined) {
      this.entries.push({ name, origin: 'default', ...names })
      return
    }
    const printed = print ? print(value, winner) : plain(value)
    this.entries.push({ name, value: printed, origin: winner.origin, ...names })
  }

  #unknownFields(): void {
    const { file } = this.#layers
    if (!file || !isPlain(file.config)) return
    const sections = new Set([...this.#paths].flatMap((path) => path.split('.').slice(0, -1)))
    const top = [...new Set([...this.#paths].map((path) => path.split('.')[0] ?? ''))]
    for (const key of Reflect.ownKeys(file.config)) {
      const name = String(key)
      const value = own(file.config, name)
      if (typeof key === 'symbol' || !top.includes(name)) {
        this.#unknown(`file:${file.path}`, `${name} is not a setting`, name, top)
      } else if (sections.has(name)) this.#unknownMembers(name, value, file.path)
      else if (isRecordSection(name) && value !== undefined && !isPlain(value)) {
        this.#problem(`file:${file.path}`, `${name}: ${shown(value)} is not allowed; allowed are plain objects`)
      }
    }
  }

  #unknownMembers(section: string, value: unknown, path: string): void {
    const known = [...this.#paths]
      .filter((each) => each.startsWith(`${section}.`))
      .map((each) => each.slice(section.length + 1))
    if (value === undefined) return
    if (!isPlain(value)) {
      const allowed = `an object with the fields ${known.join(', ')}`
      this.#problem(`file:${path}`, `${section}: ${shown(value)} is not allowed; allowed is ${allowed}`)
      return
    }
    for (const key of Reflect.ownKeys(value)) {
      if (known.includes(String(key))) continue
      this.#unknown(`file:${path}`, `${section}.${String(key)} is not a setting`, String(key), known, `${section}.`)
    }
  }

  #unknown(origin: Origin, what: string, word: string, known: readonly string[], prefix = ''): void {
    const meant = nearest(word, known)
    const allowed = `allowed are ${known.map((each) => `${prefix}${each}`).join(', ')}`
    this.#problem(origin, meant === undefined ? `${what}; ${allowed}` : `${what}; did you mean ${prefix}${meant}?`)
  }

  #problem(origin: Origin, message: string): void {
    this.problems.push({ origin, message })
  }
}

/** As in ids elsewhere, with the colon of resources; `__proto__` and its like are no names. */
const RECORD_NAME = /^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,127}$/

const isRecordSection = (name: string) => name === 'policies' || name === 'budgets' || name === 'limits'

export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Own fields only: what a poisoned prototype holds is not configuration. */
function own(value: unknown, name: string): unknown {
  return isPlain(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function plain(value: unknown): string | number | boolean {
  return typeof value === 'number' || typeof value === 'boolean' ? value : String(value)
}
