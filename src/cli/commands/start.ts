/**
 * `reprise start`: the product at work on sample invoices, with a simulated model unless a real one is asked for.
 * Only the model is simulated: store, ladder, budget, gate and desk are those of `reprise extract`.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { findDocuments } from '../../extract/index.ts'
import type { JsonSchema } from '../../gate/schema.ts'
import { CHEAP, STRONG } from '../../ladder/ladder.ts'
import type { FaultPlan } from '../../sim/fault-plan.ts'
import type { Simulator } from '../../sim/simulator.ts'
import { usageError } from '../cli-error.ts'
import { configFrom, withConfigFlags } from '../config-option.ts'
import { extractSession, type SessionOptions } from '../extract-session.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import type { Screen } from '../terminal/terminal.ts'
import { ladderOf, loadGate, nextOf } from './extract.ts'

interface Options {
  readonly live?: boolean
}

const SAMPLES = fileURLToPath(new URL('../../../samples/', import.meta.url))
/** Built beside the program, because Node strips no types of an installed package. */
const GATE = import.meta.url.endsWith('.ts')
  ? `${SAMPLES}invoice.gate.ts`
  : fileURLToPath(new URL('../../samples/invoice.gate.js', import.meta.url))
const KEY = 'GOOGLE_GENERATIVE_AI_API_KEY'
const OUT = 'out/results.jsonl'
const CONCURRENCY = 8
const DESK = 'accounts'

export const registerStart: Register = (program, frame) => {
  const command = program
    .command('start')
    .helpGroup('Start here')
    .summary('48 sample invoices, start to story: no key, no network')
    .description(
      'Extracts 48 sample invoices on a SQLite file, eight at a time. A simulated Gemini answers on 127.0.0.1 and fails in the ways real ones do: rate limits, overload, resets, broken, cut-off and wrong answers, a safety block. Everything else is real, and a second start buys nothing twice.',
    )
    .option('--live', `ask the real Gemini; needs ${KEY} and costs about ten cents`)
  withConfigFlags(command, ['config', 'store'])
  command.action((options: Options) => start(options, frame, command))
  withNotes(command, [`Results are written to ${OUT}.`])
  withExamples(command, [
    { line: 'reprise start', says: 'watch it; then once more' },
    { line: 'reprise start --json', says: 'the same as data: one object per document' },
  ])
}

async function start({ live }: Options, frame: Frame, command: Parameters<typeof configFrom>[0]): Promise<void> {
  const { human, env } = frame.terminal()
  if (live && !env[KEY])
    throw usageError(
      `--live needs ${KEY}, which is not set.`,
      'Set it, or leave --live out: a simulated model answers.',
    )
  const config = await configFrom(command, frame)
  const isLive = live === true
  const simulator = isLive ? undefined : await simulated(frame)
  const program = env['npm_lifecycle_event'] === undefined ? 'reprise' : 'npx reprise'
  try {
    const { isStopped } = await extractSession(config, frame, {
      documents: await findDocuments([`${SAMPLES}invoices`], { cwd: frame.cwd }),
      question: {
        schema: (await sample('invoice.schema.json')) as JsonSchema,
        gate: await loadGate(GATE, frame.cwd),
        ladder: ladderOf([CHEAP, STRONG], DESK, config.settings),
        ...(isLive ? {} : { variant: 'simulated' }),
      },
      ...(simulator ? { models: { baseURLs: { google: `${simulator.url}/v1beta` } } } : {}),
      noun: 'invoices',
      out: OUT,
      concurrency: CONCURRENCY,
      greet: (where) => greeting(frame.version, isLive, where, human),
      next: (accounts) => nextOf(accounts, program),
    })
    if (isStopped) frame.fail()
  } finally {
    await simulator?.close()
  }
}

async function simulated({ clock }: Frame): Promise<Simulator> {
  const { startSimulator } = await import('../../sim/simulator.ts')
  return startSimulator({ faults: (await sample('faults.json')) as FaultPlan, clock })
}

const sample = async (name: string): Promise<unknown> => JSON.parse(await readFile(`${SAMPLES}${name}`, 'utf8'))

function greeting(
  version: string,
  isLive: boolean,
  { store, out }: Parameters<SessionOptions['greet']>[0],
  screen: Screen,
): readonly string[] {
  const { bold, dim } = screen.paint
  const who = isLive
    ? `The real Gemini answers ${dim('(this costs money)')}`
    : `No API key, so a simulated Gemini answers ${dim('(--live: the real one)')}`
  const to = screen.ascii ? '->' : '→'
  return [
    `${bold('reprise')} ${dim(version)}  ${who}`,
    `48 invoices ${to} ${screen.text(out ?? '')}  ${dim('store')} ${screen.text(store.replace(/^sqlite:/, ''))}`,
  ]
}
