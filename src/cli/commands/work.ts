/**
 * `reprise work`: a worker in this process, with the user's handlers; told as JSON lines in a pipe and for people on a terminal.
 * How runs are claimed and executed is the engine's affair.
 */
import type { Settings } from '../../config/config.ts'
import type { RunningWorker } from '../../engine/reprise.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import { type EventLogger, logEvents } from '../../observe/log-events.ts'
import { levelOf, type RepriseEvent } from '../../run/event.ts'
import { LEVELS } from '../../run/event-entry.ts'
import { serveSignals } from '../../server/signals.ts'
import { formatDuration } from '../../time/duration.ts'
import { usageError } from '../cli-error.ts'
import { configFrom, withConfigFlags } from '../config-option.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { wholeNumberOf } from '../number-option.ts'
import { type OpenedApp, openApp } from '../open-app.ts'
import { zoneOf } from '../reader.ts'
import { createWorkBoard, eventLine, isOfInterest, type WorkBoard } from '../screens/work-board.ts'
import { type LiveBlock, startLiveBlock } from '../terminal/live-block.ts'
import type { Screen } from '../terminal/terminal.ts'
import { watchStore } from '../watch-incidents.ts'
import { oneOf } from '../word-option.ts'

interface Options {
  readonly once?: boolean
  readonly until?: 'settled'
  readonly tasks?: string
  readonly categories?: string
  readonly metricsPort?: number
}

export const registerWork: Register = (program, frame) => {
  const command = program
    .command('work')
    .helpGroup('Work')
    .summary('runs a worker with your handlers')
    .description(
      'Runs a worker: claims runs of the tasks that your module has handlers for, executes them, and writes down what came of each. Any number of workers may share a store.',
    )
    .option('--once', 'stop when nothing can be claimed now')
    .option('--until <what>', 'settled: stop when no run waits any more, people not counted', oneOf('end', ['settled']))
    .option('--tasks <names>', 'only these of the tasks, joined by commas')
    .option('--categories <names>', 'only runs of these categories, joined by commas')
    .option(
      '--metrics-port <port>',
      'serve /metrics, /healthz and /readyz on 127.0.0.1; 0 takes a free port',
      wholeNumberOf('--metrics-port', 0, 65_535),
    )
  withConfigFlags(command, [
    'config',
    'store',
    'artifacts',
    'app',
    'concurrency',
    'lease',
    'poll',
    'drain',
    'log-level',
  ])
  command.action(async (options: Options) => {
    const config = await configFrom(command, frame)
    if (config.settings.app === undefined)
      throw usageError('There is no app to work with.', '`reprise work --app ./app.ts`, or `app` in reprise.config.ts.')
    const app = await openApp(config, frame)
    try {
      await work(app, config.settings, options, frame)
    } finally {
      await app.reprise.close()
    }
  })
  withNotes(command, [
    'The module exports, as default or as `app` or `reprise`, an instance made by createReprise, or a function that is given one on the configured store.',
    'Ctrl-C and SIGTERM stop it gracefully: calls under way end first, the rest is given back, and no attempt is lost.',
  ])
  withExamples(command, [
    { line: 'reprise work --app ./app.ts', says: 'until it is stopped' },
    { line: 'reprise work --app ./app.ts --metrics-port 9464', says: 'with metrics for Prometheus' },
    { line: 'reprise work --app ./app.ts --once', says: 'what can be done now, as from a timer' },
    {
      line: 'reprise work --app ./app.ts --until settled',
      says: 'until every run has ended or lies with a person',
    },
  ])
}

async function work(app: OpenedApp, settings: Settings, options: Options, frame: Frame): Promise<void> {
  const { out, err, json, quiet, env } = frame.terminal()
  const isForPeople = out.isTTY && !json
  // Log lines and words never share a pipe.
  const words = isForPeople ? out : err
  const zone = zoneOf(env)
  const board = createWorkBoard()
  let foot = 'Ctrl-C is safe: nothing paid for is lost. The same command goes on.'
  const block = startLiveBlock({
    screen: words,
    clock: frame.clock,
    quiet: quiet || !isForPeople,
    paint: () => board.lines(words, frame.clock.now(), foot),
    progress: () => ({ share: 0, line: board.summary() }),
  })
  const startedAt = frame.clock.monotonic()
  const signals = await startSignals(app, settings, options, frame)
  try {
    const log = isForPeople
      ? (event: RepriseEvent) => logForPeople(event, settings, words, zone, block)
      : await logLines(settings, out)
    const tell = (event: RepriseEvent) => {
      board.hear(event)
      log(event)
      block.update()
    }
    app.reprise.on('*', tell)
    await using _watch = watchStore(app.reprise, settings, frame, tell)
    const worker = startWorker(app, settings, options)
    if (!quiet) {
      say(block, words, isForPeople, words.text(`Working on ${app.where}, ${settings.worker.concurrency} at a time.`))
      if (signals) say(block, words, isForPeople, words.text(`Metrics at ${signals.url}/metrics.`))
    }
    const isStopped = await endOf(worker, options, frame.interruption())
    if (isStopped) {
      foot = stoppingText(board)
      if (!quiet) say(block, words, isForPeople, foot)
    }
    await worker.stop()
  } finally {
    block.close()
    await signals?.close()
  }
  const elapsed = formatDuration(frame.clock.monotonic() - startedAt)
  words.lines(words.text(`Worked for ${elapsed}: ${board.summary()}.`))
}

async function startSignals(
  { reprise }: OpenedApp,
  { incidents: { stuckAfterMs } }: Settings,
  { metricsPort: port }: Options,
  { clock }: Frame,
) {
  if (port === undefined) return undefined
  const { store } = reprise
  const { createMetrics } = await import('../../observe/metrics/index.ts')
  const metrics = createMetrics({ store, clock, processMetrics: true, stuckAfterMs })
  reprise.on('*', metrics.listen)
  try {
    return await serveSignals({ port, page: metrics.page, ready: () => store.notes({ limit: 1 }) })
  } catch (error) {
    throw usageError(
      `--metrics-port ${port} cannot be listened on: ${(error as NodeJS.ErrnoException).code ?? String(error)}.`,
      'Another port, or 0 for a free one.',
    )
  }
}

function say(block: LiveBlock, words: Screen, isForPeople: boolean, line: string): void {
  if (isForPeople) block.log(line)
  else words.lines(line)
}

function stoppingText({ running }: WorkBoard): string {
  if (running === 0) return 'Stopping: nothing is under way.'
  const calls = running === 1 ? '1 call ends' : `${running} calls end`
  return `Stopping: ${calls} first (Ctrl-C again leaves now; nothing paid for is lost).`
}

function startWorker({ reprise }: OpenedApp, { worker, timeouts }: Settings, options: Options): RunningWorker {
  const listed = (text: string | undefined) => text?.split(',').filter((name) => name !== '')
  const [tasks, categories] = [listed(options.tasks), listed(options.categories)]
  const { finalizeReserveMs } = timeouts
  try {
    return reprise.work({
      ...worker,
      ...(finalizeReserveMs === undefined ? {} : { finalizeReserveMs }),
      ...(tasks ? { tasks } : {}),
      ...(categories ? { categories } : {}),
    })
  } catch (error) {
    if (isRepriseError(error) && error.code.startsWith('work.')) throw usageError(error.message)
    throw error
  }
}

/** Resolves when the work is done as asked (false) or the process was told to stop (true). */
function endOf(worker: RunningWorker, { once, until }: Options, interruption: AbortSignal): Promise<boolean> {
  const stopped = new Promise<boolean>((resolve) => {
    if (interruption.aborted) resolve(true)
    interruption.addEventListener('abort', () => resolve(true), { once: true })
  })
  if (!once && until === undefined) return stopped
  return Promise.race([stopped, worker.idle(until === undefined ? {} : { until }).then(() => false)])
}

function logForPeople(event: RepriseEvent, { log }: Settings, screen: Screen, zone: string, block: LiveBlock): void {
  if (log.level === 'silent' || LEVELS.indexOf(levelOf(event)) < LEVELS.indexOf(log.level)) return
  // At `debug` everything is wanted, the usual too.
  if (log.level === 'debug' || isOfInterest(event)) block.log(eventLine(event, screen, zone))
}

/** pino's lines, safe to look at: what JSON leaves raw and a terminal would obey is escaped. */
async function logLines({ log }: Settings, screen: Screen): Promise<(event: RepriseEvent) => void> {
  const { pino } = await import('pino')
  const logger: EventLogger = pino(
    { level: log.level },
    { write: (line) => screen.write(UNSAFE.test(line) ? `${jsonLine(JSON.parse(line))}\n` : line) },
  )
  return logEvents(logger)
}

const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
