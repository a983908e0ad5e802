/**
 * `reprise sim`: the model simulator as a process, until it is stopped; every request is told in one line.
 * It opens the port and shows; what is answered, and how it fails, is the sim room's.
 */
import { resolve } from 'node:path'
import { checkPlan } from '../../sim/check-plan.ts'
import { FAULTS } from '../../sim/fault.ts'
import type { FaultPlan } from '../../sim/fault-plan.ts'
import { PRESET_NAMES } from '../../sim/presets.ts'
import type { LoggedRequest } from '../../sim/request-log.ts'
import type { Simulator } from '../../sim/simulator.ts'
import { CliError, usageError } from '../cli-error.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { wholeNumberOf } from '../number-option.ts'
import { readJson } from '../read-json-file.ts'
import { definition } from '../terminal/definition.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'
import type { Screen, Terminal } from '../terminal/terminal.ts'

interface Options {
  readonly port: number
  readonly seed: number
  readonly faults: string
  readonly log?: string
  readonly list?: boolean
}

const PORT = 4410
const SEED_MAX = 999_999_999

export const registerSim: Register = (program, frame) => {
  const command = program
    .command('sim')
    .helpGroup('Start here')
    .summary('a simulated model on 127.0.0.1 that fails on purpose')
    .description(
      'Serves a simulated provider on 127.0.0.1 in the formats of Gemini and OpenAI, for the real SDKs. It reads invoices by rules, so its answers are right, unless a script or the dice say otherwise: rate limits, overload, resets, broken and wrong answers, safety blocks.',
    )
    .option('--port <number>', 'where to listen; 0 takes a free one', wholeNumberOf('--port', 0, 65_535), PORT)
    .option(
      '--seed <number>',
      'of the dice: the same seed gives the same faults',
      wholeNumberOf('--seed', 0, SEED_MAX),
      1,
    )
    .option('--faults <plan>', `a JSON file, or a preset: ${PRESET_NAMES.join(', ')}`, 'calm')
    .option('--log <file>', 'one JSON line per request, on the disk before the answer leaves')
    .option('--list', 'the faults it knows, and nothing else')
    .action((options: Options) => (options.list ? listFaults(frame.terminal()) : simulate(options, frame)))
  withNotes(command, [
    'A plan has rates per fault, for all models or for some, and scripts per document. docs/guides/simulator.md describes it.',
  ])
  withExamples(command, [
    { line: 'reprise sim', says: 'a good day, on port 4410' },
    { line: 'reprise sim --faults storm --seed 7', says: 'everything goes wrong, and again in the same way' },
    { line: 'reprise sim --faults plan.json --log log.jsonl', says: 'by a plan of your own, with a log' },
  ])
}

function listFaults({ json, out }: Terminal): void {
  const faults = Object.entries(FAULTS)
  out.lines(...(json ? faults.map(([fault, says]) => jsonLine({ fault, says })) : definition(out, faults, '')))
}

async function simulate(options: Options, frame: Frame): Promise<void> {
  const terminal = frame.terminal()
  const { json, quiet, human, out } = terminal
  const faults = await planFrom(options.faults, frame)
  const stop = frame.interruption()
  await using simulator = await opened(options, faults, frame, (request) => {
    if (json) out.lines(jsonLine(request))
    else if (!quiet) out.lines(requestLine(request, out))
  })
  if (json) out.lines(jsonLine({ url: simulator.url, seed: options.seed }))
  if (!quiet) human.lines(...greeting(simulator.url, options, human))
  await new Promise<void>((done) => {
    if (stop.aborted) done()
    stop.addEventListener('abort', () => done(), { once: true })
  })
  if (!quiet) human.lines('', human.text(farewell(simulator)))
}

async function planFrom(name: string, frame: Frame): Promise<FaultPlan> {
  const isPreset = (PRESET_NAMES as readonly string[]).includes(name)
  // A word without dot or slash is meant as a preset; the mistake is told with the right ones.
  const value = isPreset || /^[\w-]+$/.test(name) ? name : await readJson(name, frame.cwd, frame.terminal().stdin)
  try {
    return checkPlan(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw usageError(`--faults ${name} is not a fault plan.`, '`reprise sim --list` names the faults.', error)
  }
}

async function opened(
  { port, seed, log }: Options,
  faults: FaultPlan,
  { clock, cwd }: Frame,
  onRequest: (request: LoggedRequest) => void,
): Promise<Simulator> {
  try {
    const file = log === undefined ? {} : { log: resolve(cwd, log) }
    const { startSimulator } = await import('../../sim/simulator.ts')
    return await startSimulator({ port, seed, faults, clock, onRequest, ...file })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    const isTaken = code === 'EADDRINUSE'
    throw new CliError({
      code: isTaken ? 'PORT_TAKEN' : 'SIMULATOR_FAILED',
      message: isTaken ? `Port ${port} is taken.` : 'The simulator cannot be started.',
      cause: isTaken ? 'something else listens on 127.0.0.1 there' : cause,
      ...(isTaken ? { tryThis: '`reprise sim --port 0` takes a free one.' } : {}),
      exit: 1,
    })
  }
}

function greeting(url: string, { faults, seed, log }: Options, screen: Screen): string[] {
  const { bold, dim } = screen.paint
  return [
    `${bold('A simulated model')} answers on ${url} ${dim(screen.text(`(faults ${faults}, seed ${seed})`))}`,
    '',
    ...definition(screen, [
      ['Gemini', `createGoogleGenerativeAI({ baseURL: '${url}/v1beta', apiKey: 'any' })`],
      ['OpenAI', `createOpenAI({ baseURL: '${url}/v1', apiKey: 'any' })`],
      ...(log === undefined ? [] : [['log', log] as const]),
    ]),
    '',
    dim('Ctrl-C ends it.'),
    '',
  ]
}

function requestLine({ seq, model, document, take, fault, status, tokens }: LoggedRequest, screen: Screen): string {
  const sign = screen.sign(STATE_SIGNS[fault === 'ok' ? 'succeeded' : 'failed'])
  const counted = tokens.input === 0 ? '' : `  ${tokens.input} + ${tokens.output + tokens.thoughts} tokens`
  const came = status === null ? 'no answer' : String(status)
  const cells = [document, model, `take ${take}`, fault, came].map(screen.text)
  return `${screen.paint.dim(String(seq).padStart(4))}  ${sign} ${cells.join('  ')}${screen.paint.dim(counted)}`
}

function farewell(simulator: Simulator): string {
  const requests = simulator.requests()
  const faults = requests.filter(({ fault }) => fault !== 'ok').length
  return `Ended after ${requests.length} requests, ${faults} of them with a fault.`
}
