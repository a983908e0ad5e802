/**
 * The sweep that `--config` and the variables describe, opened for one command and closed after it.
 * The only place of the command line that picks sources and buses.
 */
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rabbitmqBus } from '../bus/rabbitmq/index.ts'
import { maskSecrets } from '../failure/mask-secrets.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import type { Bus } from '../ports/bus.ts'
import type { Source } from '../ports/source.ts'
import { mongodbSource } from '../sources/mongodb/index.ts'
import { sqliteSource } from '../sources/sqlite/index.ts'
import { defineCollection } from '../sweep/collection.ts'
import type { SweepConfig } from '../sweep/define-sweep.ts'
import { shippedCollections } from '../sweep/shipped.ts'
import { createSweep, INTERVAL_MIN_MS, type Sweep } from '../sweep/sweep.ts'
import { type JobSettings, readVariables } from '../sweep/variables.ts'
import type { Clock } from '../time/clock.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { CliError, usageError } from './cli-error.ts'
import type { Frame } from './frame.ts'
import { shown } from './terminal/text.ts'

export interface OpenedSweep {
  readonly sweep: Sweep
  readonly settings: JobSettings
}

export async function withSweep<Answer>(
  config: string | undefined,
  frame: Frame,
  act: (opened: OpenedSweep) => Promise<Answer>,
): Promise<Answer> {
  const opened = await open(config, frame)
  try {
    return await act(opened)
  } catch (error) {
    throw sweepTrouble(error)
  } finally {
    await opened.sweep.close()
  }
}

async function open(path: string | undefined, frame: Frame): Promise<OpenedSweep> {
  const { env } = frame.terminal()
  try {
    const config = path === undefined ? {} : checked(await load(path, frame.cwd))
    const settings = readVariables(env, config.collections ?? shippedCollections)
    const intervalMs =
      config.interval === undefined || env['RETRY_JOB_INTERVAL_SECONDS']
        ? settings.intervalMs
        : intervalOf(config.interval)
    const source = sourceOf(config, settings, frame)
    const bus = busOf(config, settings, frame.clock)
    const { policy, rules, sendLease } = config
    const sweep = createSweep({
      source,
      collections: settings.collections,
      clock: frame.clock,
      ...(bus ? { bus } : {}),
      ...(policy === undefined ? {} : { policy }),
      ...(rules === undefined ? {} : { rules }),
      ...(sendLease === undefined ? {} : { sendLease }),
    })
    return { sweep, settings: { ...settings, intervalMs } }
  } catch (error) {
    if (error instanceof RangeError || (isRepriseError(error) && /^(sweep|amqp|mongodb)\./.test(error.code)))
      throw new CliError({
        code: 'CONFIG_INVALID',
        message: maskSecrets(error.message),
        exit: 2,
        tryThis: '`reprise help sweep` names the file and the variables.',
      })
    throw error
  }
}

async function load(path: string, cwd: string): Promise<SweepConfig> {
  const file = isAbsolute(path) ? path : resolve(cwd, path)
  let module: Readonly<Record<string, unknown>>
  try {
    module = await import(/* @vite-ignore */ pathToFileURL(file).href)
  } catch (cause) {
    throw new CliError({ code: 'CONFIG_INVALID', message: `The file ${shown(path)} cannot be loaded.`, cause, exit: 2 })
  }
  const config = module['default'] ?? module['sweep']
  if (typeof config === 'object' && config !== null) return config as SweepConfig
  throw usageError(
    `The file ${shown(path)} exports no sweep.`,
    '`export default defineSweep({ source, bus, collections })`, from `reprise/sweep`.',
  )
}

const CONFIG_FIELDS: readonly string[] = [
  'source',
  'bus',
  'exchange',
  'collections',
  'interval',
  'policy',
  'rules',
  'sendLease',
] satisfies (keyof SweepConfig)[]

/** What the types of `defineSweep` say, for files that nobody compiled. */
function checked(config: SweepConfig): SweepConfig {
  for (const field of Object.keys(config))
    if (!CONFIG_FIELDS.includes(field))
      throw new RangeError(`${shown(field)} is not a field of a sweep; allowed are ${CONFIG_FIELDS.join(', ')}`)
  const refuse = (field: keyof SweepConfig, allowed: string): never => {
    throw new RangeError(`${field}: ${shown(JSON.stringify(config[field]))} is not allowed; allowed is ${allowed}`)
  }
  const { collections, exchange, rules } = config
  if (collections !== undefined) {
    if (!Array.isArray(collections)) refuse('collections', 'a list of collections')
    // The rest is checked when the variables have had their say.
    for (const each of collections) if (typeof each?.name !== 'string') defineCollection(each)
  }
  if (exchange !== undefined && (typeof exchange !== 'string' || !/^\S{1,200}$/.test(exchange)))
    refuse('exchange', 'a word of 1 to 200 characters without spaces')
  if (rules !== undefined && (typeof rules !== 'object' || rules === null)) refuse('rules', 'what defineRules answers')
  return config
}

function intervalOf(interval: Duration): number {
  const ms = parseDuration(interval, 'interval')
  if (ms >= INTERVAL_MIN_MS) return ms
  throw new RangeError(`interval: ${shown(String(interval))} is not allowed; allowed is 1s and more`)
}

const SOURCES = 'mongodb://<host>/<database> or sqlite:<file>'

function sourceOf({ source }: SweepConfig, settings: JobSettings, { cwd, clock }: Frame): Source {
  if (typeof source === 'object') return source
  if (source === undefined) {
    if (settings.source) return mongodbSource(settings.source)
    throw usageError(
      'There is nothing to sweep: no source is named.',
      '`reprise sweep --config sweep.ts`, or MONGODB_HOST and MONGODB_DATABASE.',
    )
  }
  const [, scheme, rest = ''] = /^([a-z+]+):(.*)$/s.exec(source) ?? []
  if (scheme === 'sqlite' && rest !== '' && !rest.startsWith('//'))
    return sqliteSource({ file: rest === ':memory:' ? rest : resolve(cwd, rest), clock })
  if ((scheme === 'mongodb' || scheme === 'mongodb+srv') && URL.canParse(source)) {
    const database = new URL(source).pathname.slice(1)
    if (database !== '') return mongodbSource({ url: source, database: decodeURIComponent(database) })
  }
  throw new RangeError(`source: ${shown(maskSecrets(source))} is not allowed; allowed is ${SOURCES}`)
}

function busOf({ bus, exchange }: SweepConfig, settings: JobSettings, clock: Clock): Bus | undefined {
  if (typeof bus === 'object') return bus
  const named = exchange === undefined ? {} : { exchange }
  if (bus !== undefined) return rabbitmqBus({ url: bus, clock, ...named })
  return settings.bus ? rabbitmqBus({ ...named, ...settings.bus, clock }) : undefined
}

/** What a source or a bus threw, as the command line tells it; every other error as it is. */
function sweepTrouble(error: unknown): unknown {
  if (!isRepriseError(error)) return error
  const isAsked = error.code.startsWith('sweep.')
  if (!isAsked && !/^(source|bus|mongodb|amqp|sqlite|metrics)\./.test(error.code)) return error
  return new CliError({
    code: isAsked ? 'USAGE' : 'SOURCE_UNAVAILABLE',
    message: error.message,
    exit: isAsked ? 2 : 3,
    ...(isAsked ? {} : { touched: 'What was done before is kept; the same command goes on.' }),
  })
}
