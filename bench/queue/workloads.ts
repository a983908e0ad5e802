/**
 * The work that is measured, written once for all contenders. Each answers with figures by name.
 * It knows no contender; what one cannot do it is not asked.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Contender, callOnly, type Handle, type Input, type Queue, type Surroundings } from './queue.ts'

export type Figures = Readonly<Record<string, number>>

export interface Sizes {
  readonly runs: number
  readonly singles: number
  readonly failing: number
  readonly backlog: number
  readonly pickups: number
  readonly calls: number
  readonly memoryRuns: number
}

export interface Cell {
  readonly contender: Contender
  readonly surroundings: Surroundings
  readonly sizes: Sizes
}

const CONCURRENCY = 10
const CALLERS = 100
const BACKLOG_ROUNDS = 5
const CALLS_PER_RUN = 5
const MEMORY_CHUNK = 10_000
/** Between two pickups, so that the worker is idle again. */
const PAUSE_MS = 4
const DAY_MS = 86_400_000
const REFUSED = 'connect ECONNREFUSED 127.0.0.1:5432'

const inputs = (count: number, from = 0): Input[] => Array.from({ length: count }, (_, index) => ({ i: from + index }))
const perSecond = (count: number, ms: number): number => Math.round((count / ms) * 1_000)
const noop: Handle = () => undefined
const withOutput: Handle = ({ i }) => ({ ok: true, i })

async function timed(body: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await body()
  return performance.now() - startedAt
}

const shareOf = (count: number, { share = 1 }: Contender): number => Math.max(100, Math.round(count * share))

async function opened<Answer>(
  { contender, surroundings }: Cell,
  label: string,
  body: (queue: Queue) => Promise<Answer>,
): Promise<Answer> {
  const queue = await contender.open(surroundings, label)
  try {
    return await body(queue)
  } finally {
    await queue.close()
  }
}

async function check(queue: Queue, wanted: number): Promise<void> {
  const found = await queue.succeeded()
  // Acknowledgements may still be under way where the contender does not wait for them.
  if (found !== undefined && found !== wanted) await sleep(1_000)
  const again = found === wanted ? found : await queue.succeeded()
  if (again !== undefined && again !== wanted) throw new Error(`${again} runs have succeeded, not ${wanted}`)
}

/** Bulk submit, then process: the first round of a new process, and a later one when its code is warm. */
async function throughput(cell: Cell, handle: Handle): Promise<Figures> {
  const count = shareOf(cell.sizes.runs, cell.contender)
  return opened(cell, 'w1', async (queue) => {
    const round = async (from: number) => {
      const bulkMs = await timed(() => queue.submitMany(inputs(count, from)))
      const before = process.cpuUsage()
      const ms = await queue.drain(count, handle, CONCURRENCY)
      const { user, system } = process.cpuUsage(before)
      return { bulk: perSecond(count, bulkMs), process: perSecond(count, ms), cpuUs: (user + system) / count }
    }
    const cold = await round(0)
    await round(count)
    const warm = await round(2 * count)
    await check(queue, 3 * count)
    return {
      bulk: cold.bulk,
      process: cold.process,
      bulkWarm: warm.bulk,
      processWarm: warm.process,
      cpuUs: cold.cpuUs,
      cpuWarmUs: warm.cpuUs,
    }
  })
}

/** A hundred callers that each submit one run and wait for it to be acknowledged before the next. */
async function singles(cell: Cell): Promise<Figures> {
  const count = Math.ceil(shareOf(cell.sizes.singles, cell.contender) / CALLERS) * CALLERS
  return opened(cell, 'singles', async (queue) => {
    const caller = async (from: number, own: number) => {
      for (let i = 0; i < own; i += 1) await queue.submit({ i: from + i })
    }
    const all = (own: number) => Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index * own, own)))
    await all(2)
    const ms = await timed(() => all(count / CALLERS))
    return { submits: perSecond(count, ms) }
  })
}

async function failOnce(cell: Cell): Promise<Figures> {
  const count = shareOf(cell.sizes.failing, cell.contender)
  return opened(cell, 'w2', async (queue) => {
    const seen = new Set<number>()
    const handle: Handle = ({ i }) => {
      if (seen.has(i)) return undefined
      seen.add(i)
      throw new Error(REFUSED)
    }
    await queue.submitMany(inputs(count))
    const ms = await (queue.drainFailingOnce ?? queue.drain)(count, handle, CONCURRENCY)
    await check(queue, count)
    return { runs: perSecond(count, ms), runsWaited: perSecond(count, ms + (queue.retryWaitMs ?? 0)) }
  })
}

/** The same due runs in an empty store and in one with a past and a future, turn by turn. */
async function backlog(cell: Cell): Promise<Figures> {
  const { backlog: size, runs } = cell.sizes
  const count = shareOf(runs, cell.contender)
  const drained = async (queue: Queue) => {
    await queue.submitMany(inputs(count))
    return perSecond(count, await queue.drain(count, noop, CONCURRENCY))
  }
  return opened(cell, 'filled', async (filled) => {
    const ownPast = cell.contender.needs === undefined && cell.contender.share === undefined
    await filled.submitMany(inputs(size), DAY_MS)
    if (ownPast) {
      await filled.submitMany(inputs(size))
      await filled.drain(size, noop, CONCURRENCY)
    }
    if (filled.submitHeld) await filled.submitHeld(inputs(size / 2))
    const pairs: { readonly empty: number; readonly filled: number }[] = []
    for (let round = 0; round < BACKLOG_ROUNDS; round += 1) {
      const ofEmpty = () => opened(cell, `empty-${round}`, drained)
      const first = round % 2 === 0 ? await ofEmpty() : await drained(filled)
      const second = round % 2 === 0 ? await drained(filled) : await ofEmpty()
      pairs.push(round % 2 === 0 ? { empty: first, filled: second } : { empty: second, filled: first })
    }
    return {
      empty: median(pairs.map(({ empty }) => empty)),
      filled: median(pairs.map((pair) => pair.filled)),
      kept: median(pairs.map((pair) => pair.filled / pair.empty)),
    }
  })
}

/** From the submit call to the start of the handler, one at a time, with a worker that has nothing to do. */
async function pickup(cell: Cell): Promise<Figures> {
  return opened(cell, 'pickup', async (queue) => {
    let started = (_at: number): void => {}
    const stop = await queue.listen(() => {
      started(performance.now())
      return undefined
    })
    const times: number[] = []
    for (let i = 0; i < cell.sizes.pickups + 20; i += 1) {
      const begun = new Promise<number>((resolve) => {
        started = resolve
      })
      const submittedAt = performance.now()
      const [at] = await Promise.all([begun, queue.submit({ i })])
      if (i >= 20) times.push(at - submittedAt)
      await sleep(PAUSE_MS)
    }
    await stop()
    return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) }
  })
}

/** The same when the worker is another process, which has to notice the submit by itself. */
async function pickupAcross(cell: Cell): Promise<Figures> {
  return opened(cell, 'across', async (queue) => {
    let started = (_i: number, _at: number): void => {}
    const stop = await queue.listenElsewhere?.((i, at) => started(i, at))
    if (!stop) throw new Error('it has no worker in another process')
    const times: number[] = []
    for (let i = 0; i < cell.sizes.pickups + 20; i += 1) {
      const begun = new Promise<number>((resolve) => {
        started = (which, at) => which === i && resolve(at)
      })
      const submittedAt = Number(process.hrtime.bigint()) / 1e6
      const [at] = await Promise.all([begun, queue.submit({ i })])
      if (i >= 20) times.push(at - submittedAt)
      await sleep(PAUSE_MS)
    }
    await stop()
    return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) }
  })
}

/** A store with a long past: how fast it goes on, and how long people wait for a page of it. */
async function finished(cell: Cell): Promise<Figures> {
  const { backlog: size, runs } = cell.sizes
  const drained = async (queue: Queue) => {
    await queue.submitMany(inputs(runs))
    return perSecond(runs, await queue.drain(runs, noop, CONCURRENCY))
  }
  return opened(cell, 'finished', async (queue) => {
    for (let done = 0; done < size; done += MEMORY_CHUNK) {
      await queue.submitMany(inputs(MEMORY_CHUNK, done))
      await queue.drain(MEMORY_CHUNK, noop, CONCURRENCY)
    }
    const kept: number[] = []
    for (let round = 0; round < BACKLOG_ROUNDS; round += 1) {
      const empty = await opened(cell, `fresh-${round}`, drained)
      kept.push((await drained(queue)) / empty)
    }
    const looks: number[] = []
    for (let look = 0; look < 20; look += 1) looks.push(await timed(async () => queue.look?.()))
    return { finished: size, kept: median(kept), lookMs: median(looks) }
  })
}

/** What a journalled call costs beyond its send: runs with calls against the same runs that send without a journal. */
async function calls(cell: Cell): Promise<Figures> {
  const count = Math.ceil(cell.sizes.calls / CALLS_PER_RUN)
  const answer = { text: 'x'.repeat(1_000) }
  const send = async () => answer
  const times: number[] = []
  return opened(cell, 'calls', async (queue) => {
    const bare: Handle = async () => {
      for (let index = 0; index < CALLS_PER_RUN; index += 1) await callOnly(`c${index}`, send)
    }
    const journalled: Handle = async (_input, call) => {
      for (let index = 0; index < CALLS_PER_RUN; index += 1) {
        const at = performance.now()
        await call(`c${index}`, send)
        times.push(performance.now() - at)
      }
    }
    const round = async (handle: Handle) => {
      await queue.submitMany(inputs(count))
      return queue.drain(count, handle, CALLERS)
    }
    await round(bare)
    await round(journalled)
    times.length = 0
    const bareMs = await round(bare)
    const journalledMs = await round(journalled)
    return {
      usPerCall: ((journalledMs - bareMs) * 1_000) / (count * CALLS_PER_RUN),
      waitP50Ms: quantile(times, 0.5),
      waitP99Ms: quantile(times, 0.99),
    }
  })
}

/** Resident memory over many runs; what it was after the first tenth is the base. */
async function memory(cell: Cell): Promise<Figures> {
  const { memoryRuns } = cell.sizes
  const mb = () => process.memoryUsage().rss / 1_048_576
  return opened(cell, 'memory', async (queue) => {
    const samples: number[] = []
    for (let done = 0; done < memoryRuns; done += MEMORY_CHUNK) {
      await queue.submitMany(inputs(MEMORY_CHUNK, done))
      await queue.drain(MEMORY_CHUNK, noop, CONCURRENCY)
      samples.push(mb())
    }
    const tenth = Math.max(1, Math.floor(samples.length / 10))
    const [early, late] = [samples.slice(tenth, 2 * tenth + 1), samples.slice(-tenth - 1)]
    return { earlyMb: median(early), lateMb: median(late), peakMb: Math.max(...samples), runs: memoryRuns }
  })
}

export const median = (values: readonly number[]): number => quantile(values, 0.5)

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export interface Workload {
  readonly title: string
  /** Contenders it makes sense for; all without it. */
  readonly only?: RegExp
  /** Paired inside one process, so that once is enough. */
  readonly once?: true
  readonly outputs?: true
  measure(cell: Cell): Promise<Figures>
}

export const WORKLOADS: Readonly<Record<string, Workload>> = {
  w1: { title: 'submit in bulk, process no-ops', measure: (cell) => throughput(cell, noop) },
  output: {
    title: 'process no-ops that return a small value',
    outputs: true,
    measure: (cell) => throughput(cell, withOutput),
  },
  singles: { title: '100 concurrent single submits', measure: singles },
  w2: { title: 'fail once, then succeed', measure: failOnce },
  pickup: { title: 'pickup by an idle worker', measure: pickup },
  across: { title: 'pickup by an idle worker of another process', only: /^reprise/, measure: pickupAcross },
  calls: { title: 'journalled calls', only: /^(raw-500|reprise)/, measure: calls },
  backlog: { title: 'backlog', only: /^(?!raw-10|bullmq-always|plainjob-full)/, once: true, measure: backlog },
  finished: { title: 'a long past', only: /^reprise-power$/, once: true, measure: finished },
  memory: { title: 'memory', only: /^(raw-500|reprise-power)$/, once: true, measure: memory },
}
