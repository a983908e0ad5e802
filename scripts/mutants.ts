/**
 * `npm run mutants`: plants each known bug in a copy of the source and demands that the simulation or the unit tests notice.
 * Ends with the table of what was caught by what, and fails if anything was not. A name as argument tries those that contain it.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firestoreMissing } from '../test/services/firestore-emulator.ts'
import { MUTANTS } from './mutants/list.ts'
import { edited, isForTests, type Mutant } from './mutants/mutant.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Enough for every one of them so far, and a minute at most for one that gets away. */
const SEEDS = 400
const TIME_MAX_MS = 400_000

/** Under the node that runs this, whatever else is installed. */
const VITEST = join(root, 'node_modules/vitest/vitest.mjs')
const UNIT_TESTS = [
  'src/engine',
  'src/review',
  'src/policy/decide',
  'src/stores/sqlite/same-as-memory',
  'src/stores/sqlite/create-in',
]
/** Hours of an outage take long on a busy machine, and every planted bug is found without them. */
const SLOW_TESTS = ['--exclude', 'src/engine/outage.test.ts']

/** What a copy needs to run the simulation and the unit tests. */
const COPIED = ['src', 'scripts', 'test/e2e/faces.ts', 'package.json', 'vitest.config.ts', 'tsconfig.json']
/** What suites outside of the source need besides. */
const COPIED_FOR_SUITES = ['test', 'deploy', 'examples']

type Suites = Pick<Mutant, 'tests' | 'only'>

const isOutside = ({ tests = [] }: Suites): boolean => tests.some((file) => file.startsWith('test/'))

function plant(mutant: Mutant): string {
  const { edits } = mutant
  const folder = mkdtempSync(join(tmpdir(), 'reprise-mutant-'))
  for (const each of isOutside(mutant) ? [...COPIED, ...COPIED_FOR_SUITES] : COPIED)
    cpSync(join(root, each), join(folder, each), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const edit of edits) {
    const path = join(folder, edit.file)
    writeFileSync(path, edited(readFileSync(path, 'utf8'), edit))
  }
  return folder
}

/** Who caught it, or undefined. */
async function caughtBy(mutant: Mutant): Promise<string | undefined> {
  const folder = plant(mutant)
  try {
    if (mutant.tests !== undefined) return await caughtByTests(folder, mutant)
    const [first, second] = isForTests(mutant)
      ? [caughtByTests, caughtBySimulation]
      : [caughtBySimulation, caughtByTests]
    return (await first(folder)) ?? (await second(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function caughtBySimulation(folder: string): Promise<string | undefined> {
  const { status, stdout, stderr } = await run(folder, ['scripts/simulate.ts', '--seeds', String(SEEDS), '--first'])
  if (status === 0) return undefined
  const [, seed] = /^seed (\d+) fails/m.exec(stdout) ?? []
  const [, breach] = /^ {2}(\S+ .*)$/m.exec(stdout) ?? []
  if (seed !== undefined) return `seed ${seed}: ${breach?.slice(0, 90)}`
  return `simulation: ${status === null ? 'does not end' : (/^\w*Error: .*$/m.exec(stderr)?.[0] ?? 'dies')}`
}

async function caughtByTests(folder: string, suites: Suites = {}): Promise<string | undefined> {
  const { tests = [...UNIT_TESTS, ...SLOW_TESTS], only } = suites
  const project = isOutside(suites) ? [] : ['--project', 'unit']
  const args = [VITEST, 'run', ...project, '--bail', '1', ...tests, ...(only === undefined ? [] : ['-t', only])]
  const { status, stdout, stderr } = await run(folder, args)
  if (status === 0) return undefined
  const [, test] = /FAIL .*?\.test\.ts > (.*)$/m.exec(stdout + stderr) ?? []
  const [error] = /^\w*Error: .*$/m.exec(stderr) ?? []
  return `${isOutside(suites) ? 'suite' : 'unit'}: ${(test ?? error)?.slice(0, 90) ?? 'fails'}`
}

interface Ran {
  /** null when it took too long. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Every planted bug is found at the usual size; the full one is a proof of its own. */
const { REPRISE_TEST_CHAOS: _full, ...env } = process.env

function run(cwd: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, args, { cwd, timeout: TIME_MAX_MS, env: { ...env, NO_COLOR: '1' } })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (text: Buffer) => {
    stdout += text
  })
  child.stderr.on('data', (text: Buffer) => {
    stderr += text
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, stdout, stderr }))
  })
}

const startedAt = performance.now()

const wanted = process.argv[2] ?? ''
const missing = firestoreMissing()
const named = MUTANTS.filter(({ name }) => name.includes(wanted))
const chosen = named.filter(({ needs }) => needs === undefined || missing === undefined)
for (const { name } of named)
  if (!chosen.some((each) => each.name === name)) console.log(`– ${name.padEnd(56)} ${missing}`)

/** The suites that the chosen bugs name, each once. */
function namedSuites(): Suites[] {
  const byFiles = Map.groupBy(
    chosen.filter(({ tests }) => tests !== undefined),
    ({ tests = [] }) => tests.join(' '),
  )
  return [...byFiles.values()].map((mutants) => {
    const patterns = new Set(mutants.map(({ only }) => only))
    const { tests = [] } = mutants[0] ?? {}
    return patterns.has(undefined) ? { tests } : { tests, only: [...patterns].join('|') }
  })
}

/** Without a planted bug nobody may cry: else the table below would say nothing. */
async function alarms(): Promise<string[]> {
  const found: (string | undefined)[] = []
  for (const suites of namedSuites()) {
    const sound = plant({ name: 'none', edits: [], ...suites })
    found.push(await caughtByTests(sound, suites))
    rmSync(sound, { recursive: true, force: true })
  }
  if (chosen.some(({ tests }) => tests === undefined)) {
    const sound = plant({ name: 'none', edits: [] })
    found.push(...(await Promise.all([caughtBySimulation(sound), caughtByTests(sound)])))
    rmSync(sound, { recursive: true, force: true })
  }
  return found.filter((alarm) => alarm !== undefined)
}

const crying = await alarms()
for (const alarm of crying) console.error(`The source as it is does not pass: ${alarm}`)
if (crying.length > 0) process.exit(2)

const left = [...chosen]
const escaped: string[] = []

/** One after the other, and as many at a time as there are cores. */
async function tryAll(): Promise<void> {
  for (let mutant = left.shift(); mutant; mutant = left.shift()) {
    const by = await caughtBy(mutant)
    if (by === undefined) escaped.push(mutant.name)
    console.log(`${by === undefined ? '✗' : '✓'} ${mutant.name.padEnd(56)} ${by ?? 'NOT CAUGHT'}`)
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, tryAll))
const minutes = (performance.now() - startedAt) / 60_000
for (const name of escaped) console.log(`✗ not caught: ${name}`)
console.log(
  `${chosen.length - escaped.length} of ${chosen.length} planted bugs caught in ${minutes.toFixed(1)} minutes`,
)
process.exitCode = escaped.length > 0 ? 1 : 0
