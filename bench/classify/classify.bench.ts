/**
 * How fast `classify` is on real errors: errors per second on one core, and the spread of single calls.
 * Run with `REPRISE_CORPUS=<file of JSON lines with a field "thrown"> node bench/classify/classify.bench.ts`; without it a few built-in shapes are used.
 */
import { readFileSync } from 'node:fs'
import { classify } from '../../src/failure/index.ts'

const ROUND_MS = 2_000
const BUILT_IN: unknown[] = [
  {
    name: 'AxiosError',
    message: 'Request failed with status code 503',
    response: { status: 503, headers: { 'retry-after': '3' } },
  },
  {
    name: 'ApiError',
    status: 429,
    message:
      '{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Quota exceeded","details":[{"retryDelay":"26s"}]}}',
  },
  { name: 'Error', code: 'ECONNRESET', message: 'read ECONNRESET' },
  { name: 'error', severity: 'ERROR', code: '40001', message: 'could not serialize access due to concurrent update' },
]

function load(): unknown[] {
  const path = process.env['REPRISE_CORPUS']
  if (path === undefined) return BUILT_IN
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => (JSON.parse(line) as { thrown: unknown }).thrown)
}

function throughput(errors: readonly unknown[]): number {
  const end = performance.now() + ROUND_MS
  const start = performance.now()
  let done = 0
  while (performance.now() < end) {
    for (const error of errors) classify(error)
    done += errors.length
  }
  return Math.round(done / ((performance.now() - start) / 1_000))
}

function latencies(errors: readonly unknown[]): Float64Array {
  const rounds = Math.max(20, Math.ceil(20_000 / errors.length))
  const times = new Float64Array(rounds * errors.length)
  let i = 0
  for (let round = 0; round < rounds; round++) {
    for (const error of errors) {
      const before = performance.now()
      classify(error)
      times[i++] = (performance.now() - before) * 1_000
    }
  }
  return times.sort()
}

const errors = load()
const cold = performance.now()
for (const error of errors) classify(error)
const coldMs = performance.now() - cold
throughput(errors)
const perSecond = throughput(errors)
const times = latencies(errors)
const at = (share: number): string =>
  `${(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(1)} µs`
const hostile = `${'retry after '.repeat(40_000)}${'{"a":'.repeat(100_000)}`.slice(0, 1_000_000)
const before = performance.now()
classify(new Error(hostile))
console.log(
  JSON.stringify({
    errors: errors.length,
    errorsPerSecond: perSecond,
    p50: at(0.5),
    p99: at(0.99),
    worst: at(1),
    firstPassMs: Number(coldMs.toFixed(1)),
    hostileMegabyteMs: Number((performance.now() - before).toFixed(2)),
  }),
)
