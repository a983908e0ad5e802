/**
 * What one call through `retry` costs, when it works at once and when it fails once, beside a hand-written loop and the
 * libraries people use. All contenders run in one process, interleaved, so that a noisy machine is noisy for all of them.
 * Usage: npx node bench/retry/retry.bench.ts [repeats]
 */
import { ConstantBackoff, retry as cockatielRetry, handleAll } from 'cockatiel'
import { Effect } from 'effect'
import pRetry from 'p-retry'
import { definePolicy, immediate, inCall } from '../../src/policy/index.ts'
import { retry } from '../../src/retry/index.ts'

type Work = () => Promise<number>

interface Contender {
  readonly name: string
  /** One protected call of `work`; it may try twice, without a delay. */
  readonly call: (work: Work) => Promise<number>
  /** Calls per repeat on the fail-once path, fewer where one takes a millisecond. */
  readonly failOnceCalls?: number
  /** Only on the fail-once path, with an error text that was never seen before. */
  readonly freshMessages?: true
}

const atOnce = definePolicy({ name: 'atOnce', kinds: { transient: { backoff: immediate() } } }, inCall)
const options = { policy: atOnce }
const cockatiel = cockatielRetry(handleAll, { maxAttempts: 1, backoff: new ConstantBackoff(0) })

async function handWritten(work: Work): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (attempt === 2) throw error
    }
  }
}

let current: Work
const wrapped = retry.wrap(() => current(), options)

const CONTENDERS: readonly Contender[] = [
  { name: 'bare call', call: (work) => work() },
  { name: 'hand-written loop (limit)', call: handWritten },
  { name: 'reprise retry', call: (work) => retry(work, options) },
  { name: 'reprise retry, inline options', call: (work) => retry(work, { policy: atOnce, wrap: false }) },
  {
    name: 'reprise retry.wrap',
    call: (work) => {
      current = work
      return wrapped()
    },
  },
  { name: 'reprise retry, errors never seen before', call: (work) => retry(work, options), freshMessages: true },
  { name: 'p-retry 9', call: (work) => pRetry(work, { retries: 1, minTimeout: 0, maxTimeout: 0 }) },
  { name: 'cockatiel 4', call: (work) => cockatiel.execute(work), failOnceCalls: 20 },
  { name: 'effect 4', call: (work) => Effect.runPromise(Effect.retry(Effect.tryPromise(work), { times: 1 })) },
]

const LIMIT = 'hand-written loop (limit)'
/** Short slices, many of them: a neighbour's burst then spoils a few of everyone's and the medians keep still. */
const OK_CALLS = 20_000
const FAIL_ONCE_CALLS = 2_000
const REPEATS = 31
const WARM_UP = 2

const works: Work = async () => 1

const REFUSED = 'connect ECONNREFUSED 127.0.0.1:5432'

/** An error seen before is recalled; with fresh messages each one goes through the whole classifier. */
function failsOnce(freshMessages = false): Work {
  let calls = 0
  return async () => {
    if (calls++ % 2 === 0) throw new Error(freshMessages ? `connect ECONNREFUSED 127.0.0.1:${calls}` : REFUSED)
    return 1
  }
}

/** Nanoseconds per call. */
async function measure(call: Contender['call'], work: Work, calls: number): Promise<number> {
  const start = process.hrtime.bigint()
  for (let index = 0; index < calls; index++) await call(work)
  return Number(process.hrtime.bigint() - start) / calls
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

async function path(
  title: string,
  workFor: (contender: Contender) => Work,
  callsFor: (contender: Contender) => number,
  repeats: number,
) {
  const contenders =
    title === 'fail once'
      ? CONTENDERS.filter(({ name }) => name !== 'bare call')
      : CONTENDERS.filter(({ freshMessages }) => !freshMessages)
  const times = new Map(contenders.map(({ name }) => [name, [] as number[]]))
  const ratios = new Map(contenders.map(({ name }) => [name, [] as number[]]))
  for (const { call, ...rest } of contenders)
    await measure(call, workFor({ call, ...rest }), callsFor({ call, ...rest }) * WARM_UP)
  for (let repeat = 0; repeat < repeats; repeat++) {
    const ofRepeat = new Map<string, number>()
    // Another one begins each time, so that none always runs in the wake of the same neighbour.
    const order = contenders.map((_, index) => contenders[(index + repeat) % contenders.length] as Contender)
    for (const contender of order) {
      ofRepeat.set(contender.name, await measure(contender.call, workFor(contender), callsFor(contender)))
    }
    const limit = ofRepeat.get(LIMIT) ?? Number.NaN
    for (const [name, ns] of ofRepeat) {
      times.get(name)?.push(ns)
      ratios.get(name)?.push(ns / limit)
    }
  }
  return contenders.map(({ name }) => {
    const [ns, ratio] = [times.get(name) ?? [], ratios.get(name) ?? []]
    return {
      path: title,
      name,
      ns: Math.round(median(ns)),
      ratio: median(ratio),
      from: Math.min(...ns),
      to: Math.max(...ns),
    }
  })
}

const repeats = Math.max(5, Number(process.argv[2] ?? REPEATS))
const rows = [
  ...(await path(
    'works',
    () => works,
    () => OK_CALLS,
    repeats,
  )),
  ...(await path(
    'fail once',
    ({ freshMessages }) => failsOnce(freshMessages),
    ({ failOnceCalls }) => failOnceCalls ?? FAIL_ONCE_CALLS,
    repeats,
  )),
]

console.log(
  `Node ${process.version}, ${repeats} interleaved repeats, medians; the ratio is to the loop of the same repeat.\n`,
)
console.log('| path | contender | ns per call | min–max | × loop |')
console.log('|---|---|---|---|---|')
for (const { path: title, name, ns, ratio, from, to } of rows) {
  const range = `${Math.round(from).toLocaleString('en')}–${Math.round(to).toLocaleString('en')}`
  console.log(`| ${title} | ${name} | ${ns.toLocaleString('en')} | ${range} | ${ratio.toFixed(2)} |`)
}

const ratioOf = (title: string, name: string) =>
  rows.find((row) => row.path === title && row.name === name)?.ratio ?? Number.NaN
const ratioOk = ratioOf('works', 'reprise retry')
const slower = ['works', 'fail once'].flatMap((title) =>
  ['p-retry 9', 'cockatiel 4', 'effect 4']
    .filter((peer) => !(ratioOf(title, 'reprise retry') < ratioOf(title, peer)))
    .map((peer) => `${title}: ${peer}`),
)
console.log(
  `\nWorks: ${ratioOk.toFixed(2)} × the loop (goal ≤ 2). Slower than a peer: ${slower.length === 0 ? 'nowhere' : slower.join('; ')}.`,
)
if (slower.length > 0 || !(ratioOk <= 2)) process.exitCode = 1
