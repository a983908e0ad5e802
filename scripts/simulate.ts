/**
 * `npm run simulate -- --seeds 500 --seed 1`: simulates the engine for many seeds and checks each history.
 * A failing seed is named with the command that replays it alone; `--trace` prints its whole story, `--run r3` one run's.
 */
import { parseArgs } from 'node:util'
import { check } from '../src/testing/simulation/checker.ts'
import { only } from '../src/testing/simulation/history.ts'
import { simulate } from '../src/testing/simulation/simulate.ts'
import { addCounts, type Counts, countsOf } from '../src/testing/simulation/sometimes.ts'
import { trace } from '../src/testing/simulation/trace.ts'

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    seed: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    run: { type: 'string' },
    /** Stops at the first failing seed. */
    first: { type: 'boolean', default: false },
  },
})

const BREACHES_SHOWN_MAX = 10

const whole = (name: 'seeds' | 'seed', least: number): number => {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value >= least) return value
  console.error(`--${name} is ${values[name]}. Allowed: a whole number from ${least}.`)
  process.exit(2)
}

const first = whole('seed', 0)
const count = whole('seeds', 1)
const startedAt = performance.now()
let counts: Counts = {}
let faults = 0
let done = 0
let steps = 0
const failed: number[] = []

for (let seed = first; seed < first + count; seed += 1) {
  const history = await simulate({ seed })
  const breaches = check(history)
  counts = addCounts(counts, countsOf(history))
  faults += only(history, 'fault').length
  done += 1
  steps += history.steps
  if (values.trace) console.log(trace(history, values.run))
  if (breaches.length === 0) continue
  failed.push(seed)
  console.log(`seed ${seed} fails; replay it with: npm run simulate -- --seeds 1 --seed ${seed} --trace`)
  for (const { invariant, found } of breaches.slice(0, BREACHES_SHOWN_MAX)) console.log(`  ${invariant}  ${found}`)
  if (breaches.length > BREACHES_SHOWN_MAX) console.log(`  and ${breaches.length - BREACHES_SHOWN_MAX} more`)
  if (values.first) break
}

const seconds = (performance.now() - startedAt) / 1_000
for (const [name, seen] of Object.entries(counts)) console.log(`${String(seen).padStart(8)}  ${name}`)
console.log(
  `${done} seeds in ${seconds.toFixed(1)} s (${(done / seconds).toFixed(0)}/s), ${Math.round(steps / done)} steps each, ${faults} faults, ${failed.length} failed${failed.length > 0 ? `: ${failed.join(' ')}` : ''}`,
)
process.exitCode = failed.length > 0 ? 1 : 0
