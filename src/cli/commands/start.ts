/**
 * `reprise start`: a small, honest demonstration of the core, without key, network or store.
 * A scripted model answers over HTTP on 127.0.0.1; classifying, deciding and retrying are the real ones.
 */
import { definePolicy, extraction } from '../../policy/index.ts'
import { retry } from '../../retry/index.ts'
import type { Clock } from '../../time/clock.ts'
import { fastClock } from '../demo/fast-clock.ts'
import { readInvoice } from '../demo/read-invoice.ts'
import { SCENES } from '../demo/scenes.ts'
import { type ScriptedModel, startScriptedModel } from '../demo/scripted-model.ts'
import { endLines, finishedLine, liveLines, nextLines, verdict } from '../demo/show-demo.ts'
import { newStory, outcomeOf, type Story } from '../demo/story.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { type LiveBlock, startLiveBlock } from '../terminal/live-block.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Waits of seconds pass in tenths of it; the block says so. */
const TIMES_FASTER = 10
/** Calls at a time, as a careful client would make them. */
const CONCURRENCY = 4
/** How long the scripted model thinks, in its own time. */
const THINK_MS = 2_500

/** The extraction preset, with one model: a demonstration of the core has no second one to ask, and nobody at a desk. */
const POLICY = definePolicy(
  {
    name: 'demo',
    kinds: { final: { recourse: 'fail' } },
    ladder: [
      { type: 'model', name: 'gemini:flash', attempts: 3 },
      { type: 'person', name: 'accounts', queue: 'accounts', withinMs: '4h' },
    ],
  },
  extraction,
)

export const registerStart: Register = (program, frame) => {
  const command = program
    .command('start')
    .helpGroup('Start here')
    .summary('a demonstration of a few seconds: no key, no network')
    .description(
      'Reads sixteen invoices with a scripted model that fails in the ways real ones do: overload, rate limits, a reset connection, broken and wrong answers, a safety block, a bad key. The answers are simulated and waits pass faster; classification, decisions and retries are the real ones.',
    )
    .action(() => demonstrate(frame))
  withExamples(command, [
    { line: 'reprise start', says: 'watch it' },
    { line: 'reprise start --json', says: 'the same as data: one object per document' },
  ])
}

async function demonstrate(frame: Frame): Promise<void> {
  const terminal = frame.terminal()
  const screen = terminal.human
  const startedAt = frame.clock.monotonic()
  const elapsedMs = () => frame.clock.monotonic() - startedAt
  const stories = SCENES.map((scene) => newStory(scene.document))
  const clock = fastClock(frame.clock, TIMES_FASTER)
  const stop = frame.interruption()

  if (!terminal.quiet) greet(terminal, frame.version)
  const done = () => stories.filter((story) => story.state === 'done').length
  const block = startLiveBlock({
    screen,
    clock: frame.clock,
    quiet: terminal.quiet,
    paint: (columns) => liveLines(stories, elapsedMs(), screen, columns),
    progress: () => ({ share: done() / stories.length, line: `${done()} of ${stories.length}` }),
  })
  try {
    await using model = await startScriptedModel({ scenes: SCENES, clock, thinkMs: THINK_MS })
    await inParallel(stories, CONCURRENCY, async (story) => {
      if (stop.aborted) return
      await readOne(story, model, clock, stop, block)
      if (!stop.aborted) tell(story, terminal, block)
    })
  } finally {
    block.close()
  }
  if (stop.aborted) {
    screen.lines(`Stopped after ${done()} of ${stories.length} invoices. Nothing was stored.`)
    return frame.fail()
  }
  if (terminal.quiet) return screen.lines(verdict(stories, elapsedMs()))
  screen.lines('', ...endLines(stories, elapsedMs(), TIMES_FASTER, screen), '', ...nextLines(NEXT, screen))
}

const NEXT = [
  ['reprise plan --kind transient', 'every step of a failure that stays'],
  ['reprise codes --family gemini', 'what the provider can answer, and what helps'],
  ['reprise classify errors.jsonl', 'your own errors, one JSON value per line'],
] as const

function greet({ human }: Terminal, version: string): void {
  const { paint } = human
  human.lines(
    `${paint.bold('reprise')} ${paint.dim(version)}  No key needed: a scripted model answers on 127.0.0.1 ${paint.dim('(simulated)')}`,
    `${SCENES.length} invoices, four at a time; waits pass ${TIMES_FASTER} times faster than they are told`,
  )
}

async function readOne(
  story: Story,
  model: ScriptedModel,
  clock: Clock,
  stop: AbortSignal,
  block: LiveBlock,
): Promise<void> {
  const call = () => {
    story.state = 'running'
    story.calls += 1
    block.update()
    return readInvoice(`${model.url}/${story.document}`, stop)
  }
  let isRight = true
  try {
    await retry(call, {
      policy: POLICY,
      clock,
      signal: stop,
      onDecision: ({ failure, decision, at }) => {
        const waitMs = decision.act === 'retry' ? (decision.at ?? at) - at : 0
        story.turns.push({ failure, decision, waitMs })
        story.state = waitMs > 0 ? 'waiting' : 'running'
        block.update()
      },
    })
  } catch {
    if (stop.aborted) return
    // What went wrong stands in the story: every failure and what was decided about it.
    isRight = false
  }
  story.state = 'done'
  story.outcome = outcomeOf(story, isRight)
}

function tell(story: Story, { json, out, human }: Terminal, block: LiveBlock): void {
  if (story.turns.length > 0) block.log(finishedLine(story, human))
  block.update()
  if (json) {
    const { document, outcome, calls, turns } = story
    out.lines(jsonLine({ document, outcome, calls, turns }))
  }
}

async function inParallel<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values()
  const lane = async () => {
    for (const item of queue) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
