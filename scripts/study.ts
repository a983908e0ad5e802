/**
 * `npm run study -- --seeds 10`: what five strategies get and what they pay, on the sample invoices with a simulated provider.
 * Writes docs/study.md and docs/images/study.svg; every figure in them comes from here, counted by the provider's own log.
 */
import { writeFile } from 'node:fs/promises'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { startSimulator } from '../src/sim/simulator.ts'
import { chart } from './study/chart.ts'
import { type End, STRATEGIES, type Strategy } from './study/strategies.ts'
import { ALWAYS, LEVELS, type Level, pictures, planOf, RATES, studyWorld, usdOf } from './study/world.ts'

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '10' }, seed: { type: 'string', default: '1' } },
})
const [seeds, firstSeed] = [whole('seeds', 1), whole('seed', 0)]

/** Most of the time is spent waiting as providers tell to. */
const SEEDS_AT_ONCE = 5

interface Figures {
  readonly documents: number
  readonly right: number
  /** Given as a result, and not what the document says. */
  readonly wrong: number
  readonly person: number
  /** Of those with a person: the provider refused, and nobody asks again. */
  readonly refused: number
  readonly failed: number
  readonly calls: number
  readonly usd: number
}

const world = await studyWorld()
const images = await pictures()
const measured = new Map<Level, readonly Figures[]>()
for (const level of LEVELS) {
  const figures: Figures[] = []
  for (const strategy of STRATEGIES) {
    figures.push(await measure(strategy, level))
    process.stderr.write(`${level.name}: ${strategy.name}: ${JSON.stringify(figures.at(-1))}\n`)
  }
  measured.set(level, figures)
}
const root = new URL('../', import.meta.url)
await writeFile(new URL('docs/study.md', root), page())
await writeFile(new URL('docs/images/study.svg', root), picture())

async function measure(strategy: Strategy, level: Level): Promise<Figures> {
  const sum = { documents: 0, right: 0, wrong: 0, person: 0, refused: 0, failed: 0, calls: 0, usd: 0 }
  for (let from = 0; from < seeds; from += SEEDS_AT_ONCE) {
    const some = Array.from({ length: Math.min(SEEDS_AT_ONCE, seeds - from) }, (_, index) => firstSeed + from + index)
    for (const { ends, calls, usd } of await Promise.all(some.map((seed) => once(strategy, level, seed)))) {
      for (const [index, end] of ends.entries()) sum[verdictOf(end, world.documents[index]?.right)] += 1
      sum.refused += ends.filter((end) => end.end === 'person' && end.isRefused).length
      sum.documents += ends.length
      sum.calls += calls
      sum.usd += usd
    }
  }
  return sum
}

async function once(strategy: Strategy, level: Level, seed: number) {
  await using simulator = await startSimulator({ seed, faults: planOf(level, images) })
  const ends = await strategy.run(world, simulator.url)
  const requests = simulator.requests()
  return { ends, calls: requests.length, usd: requests.reduce((total, request) => total + usdOf(request), 0) }
}

function verdictOf(end: End, right: unknown): 'right' | 'wrong' | 'person' | 'failed' {
  if (end.end !== 'answered') return end.end
  return isDeepStrictEqual(end.value, right) ? 'right' : 'wrong'
}

function page(): string {
  const stated = measured.get(LEVELS[1] as Level) ?? []
  const { documents = 0 } = stated[0] ?? {}
  return `# What right answers cost

${world.documents.length} sample invoices × ${seeds} seeds (${firstSeed} to ${firstSeed + seeds - 1}) = ${documents} documents for each strategy and rate, through \`ai\` and \`@ai-sdk/google\` against the
[simulator](guides/simulator.md). Made by \`npm run study${seeds === 10 && firstSeed === 1 ? '' : ` -- --seeds ${seeds} --seed ${firstSeed}`}\`: every figure on this page is counted by the simulator's own log.

![Right answers, money and wasted calls of five strategies](images/study.svg)

${LEVELS.map((level) => section(level)).join('\n\n')}

- **Right**: equal to what a person reads in the document. **Wrong**: passed the gate and is not. **Person**: on a desk, with the draft and
  what is wrong with it. **Failed**: nothing.
- **Calls**: requests that arrived. **Wasted**: those above one for each right answer. **Spent**: tokens that were generated, at the list prices
  of \`src/ladder/prices.ts\`.
- Of Reprise's documents with a person, ${refusedText()} were refused by the provider (safety). Reprise never asks such a one again, of
  no model; the others do, and here the dice are thrown anew for them.
- All are judged by the same schema and gate. The first four send text and picture at once; Reprise sends the picture from the first
  correction on.

## Strategies

| strategy | |
|---|---|
${STRATEGIES.map(({ name, says }) => `| ${name} | ${says} |`).join('\n')}

## Fault rates

Of each request, unless the document itself is beyond the model ("always": drawn once for each document and model). *Half* and *double* are
these times 0.5 and 2. Round numbers for a study, not a claim about any provider: what your own provider does, only your own figures tell.

| fault | cheap | strong |
|---|---:|---:|
${rateRows()}

## What it does not show

How good real models are, and how long anything takes: answers are right unless a fault is drawn, and latencies are zero. A wrong answer that
passes the gate is nobody's to find here; the better the gate, the more of the difference between the rows is real. The same seed gives a
document the same first answer in every strategy, so the rows can be compared with each other.
`
}

/** At the three rates. */
function refusedText(): string {
  const own = LEVELS.map((level) => measured.get(level)?.at(-1))
  return own.map((figures) => `${figures?.refused} of ${figures?.person}`).join(', ')
}

function section(level: Level): string {
  const figures = measured.get(level) ?? []
  const strong = figures[1]?.usd ?? 0
  const share = (part: number, of: number) => `${((part / of) * 100).toFixed(1)} %`
  const rows = STRATEGIES.map(({ name }, index) => {
    const each = figures[index]
    if (!each) return ''
    const { documents, right, wrong, person, failed, calls, usd } = each
    const cells = [
      name === 'Reprise' ? `**${name}**` : name,
      share(right, documents),
      String(wrong),
      String(person),
      String(failed),
      String(calls),
      String(calls - right),
      `$${usd.toFixed(2)}`,
      `$${((usd / Math.max(1, right)) * 1_000).toFixed(2)}`,
      share(usd, strong),
    ]
    return `| ${cells.join(' | ')} |`
  })
  const title = level.times === 1 ? 'Stated rates' : `${level.name === 'half' ? 'Half' : 'Double'} the rates`
  return `## ${title}

| | right | wrong | person | failed | calls | wasted | spent | per 1,000 right | of always strong |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
${rows.join('\n')}`
}

function rateRows(): string {
  const percent = (rate: number | undefined) => (rate === undefined ? '–' : `${(rate * 100).toFixed(1)} %`)
  const rows = (rates: typeof RATES, suffix: string) =>
    [...new Set([...Object.keys(rates.cheap), ...Object.keys(rates.strong)])].map((fault) => {
      const name = fault as keyof typeof rates.cheap
      return `| \`${fault}\`${suffix} | ${percent(rates.cheap[name])} | ${percent(rates.strong[name])} |`
    })
  return [...rows(RATES, ''), ...rows(ALWAYS, ', always')].join('\n')
}

function picture(): string {
  const stated = measured.get(LEVELS[1] as Level) ?? []
  return chart(
    `${stated[0]?.documents ?? 0} documents at the stated fault rates`,
    STRATEGIES.map(({ name }) => name),
    [
      {
        title: 'right',
        unit: (value) => `${value.toFixed(1)} %`,
        values: stated.map(({ right, documents }) => (right / documents) * 100),
      },
      { title: 'spent', unit: (value) => `$${value.toFixed(2)}`, values: stated.map(({ usd }) => usd) },
      { title: 'wasted calls', unit: String, values: stated.map(({ calls, right }) => calls - right) },
    ],
  )
}

function whole(name: 'seeds' | 'seed', least: number): number {
  const value = Number(values[name])
  if (Number.isSafeInteger(value) && value >= least) return value
  console.error(`--${name} is ${values[name]}. Allowed: a whole number from ${least}.`)
  process.exit(2)
}
