/**
 * `reprise sweep`: looks after documents in other services' collections, once or in an interval, and the operators' verbs for them.
 */
import type { Command } from 'commander'
import { type EventLogger, logEvents } from '../../observe/log-events.ts'
import { levelOf, type RepriseEvent, sentenceOf } from '../../run/event.ts'
import { pushMetrics } from '../../sweep/push-metrics.ts'
import { INTERVAL_MIN_MS, type PassReport } from '../../sweep/sweep.ts'
import { addedUp } from '../../sweep/totals.ts'
import { formatDuration } from '../../time/duration.ts'
import { clockTime } from '../../time/zone.ts'
import { usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { durationOf, momentOf, wholeNumberOf } from '../number-option.ts'
import { type OpenedSweep, withSweep } from '../open-sweep.ts'
import { zoneOf } from '../reader.ts'
import { passLines } from '../screens/sweep-lines.ts'
import { sweepEndpoint } from '../sweep-endpoint.ts'
import { checkSweepOptions } from '../sweep-options.ts'
import { shown } from '../terminal/text.ts'
import { watchSweep } from '../watch-incidents.ts'
import { isSweepVerb, runSweepVerb, SWEEP_VERBS, type SweepVerbOptions } from './sweep-verbs.ts'

interface Options extends SweepVerbOptions {
  readonly config?: string
  readonly once?: boolean
  readonly interval?: number
  readonly metricsPort: number
  readonly metricsHost: string
  readonly store?: string
}

const METRICS_PORT = 9_108

export const registerSweep: Register = (program, frame) => {
  const command = program
    .command('sweep')
    .helpGroup('Work')
    .summary("looks after documents in other services' collections")
    .description(
      'Finds documents that failed or fell silent, counts their next attempt and sends its event, ends those that ran out of attempts. Verbs look into it and steer it.',
    )
    .argument('[verb]', `${SWEEP_VERBS.join(', ')}; without one, the sweep itself`)
    .argument(
      '[what...]',
      'a collection and ids of its documents; for `queue`: list, export, requeue or purge, and a queue',
    )
    .option('--config <file>', 'a module that exports defineSweep({ source, bus, collections })')
    .option('--once', 'one pass, as from a timer')
    .option('--interval <duration>', 'from pass to pass; RETRY_JOB_INTERVAL_SECONDS or 15m', durationOf('--interval'))
    .option('--dry-run', 'only look')
    .option('--collection <name>', 'only this one')
    .option('--of <which>', 'failed, open or stuck documents; failed unless given')
    .option('--code <code>', 'only documents whose last failure has this code; a * at the end matches the rest')
    .option('--group <fingerprint>', 'only documents of this failure group')
    .option('--at <moment>', 'when a scheduled retry is due: 2h, or an instant', momentOf('--at'))
    .option(
      '--spread <duration>',
      'spread what is begun again over so long; 5m unless documents are named',
      durationOf('--spread'),
    )
    .option('--out <file>', 'write an export to a new file instead of stdout')
    .option('--from <file>', 'purge what this export names')
    .option('--limit <n>', 'rows of a list, 50 unless given', wholeNumberOf('--limit', 1, 100_000))
    .option('--yes', 'do it, not only look')
    .option('--by <name>', 'who does it; your login unless given')
    .option(
      '--store <address>',
      'where incidents are kept; REPRISE_STORE or reprise.config.ts unless given, else nowhere',
    )
    .option('--metrics-port <n>', 'where /metrics is served', wholeNumberOf('--metrics-port', 0, 65_535), METRICS_PORT)
    .option('--metrics-host <address>', 'and on which address', '127.0.0.1')
    .action((verb: string | undefined, what: string[], options: Options, self: Command) => {
      if (verb !== undefined && !isSweepVerb(verb))
        throw usageError(`${shown(verb)} is not a verb of sweep.`, `${SWEEP_VERBS.join(', ')}.`)
      const typed = self.options.map((option) => option.attributeName())
      checkSweepOptions(
        verb,
        what,
        typed.filter((name) => self.getOptionValueSource(name) === 'cli'),
      )
      if (options.yes && options.dryRun) throw usageError('Either --yes or --dry-run can be given, not both.')
      return withSweep(options.config, frame, (opened) =>
        verb === undefined ? sweep(opened, options, frame) : runSweepVerb(opened.sweep, verb, what, options, frame),
      )
    })
  withNotes(command, [
    'Without `--config` the source is MONGODB_HOST, MONGODB_PORT, MONGODB_DATABASE, MONGODB_USERNAME, MONGODB_PASSWORD, the bus RABBITMQ_HOST and its like, and the collections are archives, messages, chunks and threads. RETRY_JOB_* variables go before what a file says.',
    'METRICS_BACKEND is prometheus (scraped from `/metrics`; with `--once` nothing is kept), prometheus_pushgateway (pushed to PUSHGATEWAY_URL after each pass) or none.',
    'Where a store is named, breaches open incidents: `reprise incidents` lists them, and a webhook hears of them if one is configured.',
    'Any number of sweepers may run at once. Ctrl-C and SIGTERM stop between two batches.',
  ])
  withExamples(command, [
    { line: 'reprise sweep --config sweep.ts', says: 'every 15 minutes, until it is stopped' },
    { line: 'reprise sweep --config sweep.ts --once --dry-run', says: 'what one pass would do' },
    { line: 'reprise sweep stuck --config sweep.ts', says: 'documents without a sign of life' },
    { line: "reprise sweep reset archives --code 'network.*' --spread 10m --yes", says: 'after the cause is mended' },
    { line: 'reprise sweep queue list --config sweep.ts', says: 'the queues of failed messages' },
  ])
}

async function sweep({ sweep, settings }: OpenedSweep, options: Options, frame: Frame): Promise<void> {
  const { out, err, human, json, quiet, env } = frame.terminal()
  const { clock } = frame
  const isOnce = options.once === true || options.dryRun === true
  const intervalMs = options.interval ?? settings.intervalMs
  if (intervalMs < INTERVAL_MIN_MS)
    throw usageError(`--interval ${formatDuration(intervalMs)} is not allowed.`, '1s and more.')
  const { sweepMetrics } = await import('../../sweep/metrics.ts')
  const metrics = sweepMetrics({ intervalMs })
  const only = options.collection === undefined ? {} : { collection: options.collection }
  if (isOnce) {
    // A look writes nothing, but needs the source as a pass does.
    const said = options.dryRun ? await sweep.source.now().then(() => []) : await sweep.prepare()
    if (!quiet) err.lines(...said.map((line) => err.text(line)))
    sweep.on('sweep.ended', (event) => err.lines(err.text(sentenceOf(event, zoneOf(env)))))
    sweep.on('sweep.trouble', (event) => err.lines(err.text(sentenceOf(event, zoneOf(env)))))
    await using watch = options.dryRun
      ? undefined
      : await watchSweep(options.store, frame, {
          isOnce: true,
          tell: (event) => err.lines(err.text(sentenceOf(event, zoneOf(env)))),
        })
    const report = await sweep.pass({ dryRun: options.dryRun === true, signal: frame.interruption(), ...only })
    if (json) out.lines(jsonLine(report))
    else out.lines(...passLines(report, out))
    if (!report.ok) frame.fail()
    if (!report.dryRun) await pushed(report)
    await watch?.saw(report)
    return
  }
  const said = await sweep.prepare()
  // Log lines and words never share a pipe.
  const words = out.isTTY && !json ? out : err
  const tell = out.isTTY && !json ? forPeople : await logLines()
  sweep.on('*', tell)
  await using watch = await watchSweep(options.store, frame, { tell, isOnce: false })
  const signal = frame.interruption()
  let last: PassReport | undefined
  const isFresh = (report: PassReport) => clock.now() - report.endedAt < 3 * intervalMs
  const { metricsHost: host, metricsPort: port } = options
  const endpoint =
    settings.metrics === 'prometheus'
      ? await sweepEndpoint(metrics, () => last?.ok === true && isFresh(last), { host, port })
      : undefined
  try {
    if (!quiet) {
      const where = endpoint ? ` Metrics: http://${host}:${endpoint.port}/metrics` : ''
      words.lines(
        words.text(`Sweeping every ${formatDuration(intervalMs)}.${where}`),
        ...said.map((line) => words.text(line)),
      )
    }
    let pushing: Promise<void> = Promise.resolve()
    await sweep.run({
      interval: intervalMs,
      signal,
      ...only,
      onPass: (report) => {
        last = report
        metrics.observe(report)
        pushing = pushing.then(() => pushed(report)).then(() => watch?.saw(report))
      },
    })
    await pushing
  } finally {
    await endpoint?.close()
  }
  human.lines('Stopped.')

  function forPeople(event: RepriseEvent): void {
    if (levelOf(event) !== 'debug')
      out.lines(out.text(`${clockTime(event.at, zoneOf(env))} ${sentenceOf(event, zoneOf(env))}`))
  }

  async function logLines(): Promise<(event: RepriseEvent) => void> {
    const { pino } = await import('pino')
    const level = env['REPRISE_LOG_LEVEL'] ?? 'info'
    const logger: EventLogger = pino({ level }, { write: (line) => out.write(line) })
    return logEvents(logger)
  }

  /** What was done is done, also when nobody takes the figures: told, and no failure. */
  async function pushed(report: PassReport): Promise<void> {
    const { pushgatewayUrl } = settings
    if (settings.metrics !== 'prometheus_pushgateway' || pushgatewayUrl === undefined) return
    try {
      const pushing = sweepMetrics({ intervalMs })
      pushing.observe(report)
      pushing.restate(await addedUp(sweep.source, report))
      await pushMetrics(pushgatewayUrl, await pushing.text(), clock)
    } catch (error) {
      err.lines(err.text((error as Error).message))
    }
  }
}
