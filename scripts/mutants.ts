/**
 * `npm run mutants`: plants each known bug in a copy of the source and demands that the simulation or the unit tests notice.
 * Ends with the table of what was caught by what, and fails if anything was not. A name as argument tries those that contain it.
 */
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
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

function plant({ edits }: Mutant): string {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-mutant-'))
  for (const each of COPIED) cpSync(join(root, each), join(folder, each), { recursive: true })
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
    if (mutant.tests !== undefined) return await caughtByTests(folder, mutant.tests)
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

async function caughtByTests(
  folder: string,
  tests: readonly string[] = [...UNIT_TESTS, ...SLOW_TESTS],
): Promise<string | undefined> {
  const args = [VITEST, 'run', '--project', 'unit', '--bail', '1', ...tests]
  const { status, stdout, stderr } = await run(folder, args)
  if (status === 0) return undefined
  const [, test] = /FAIL .*?\.test\.ts > (.*)$/m.exec(stdout + stderr) ?? []
  const [error] = /^\w*Error: .*$/m.exec(stderr) ?? []
  return `unit: ${(test ?? error)?.slice(0, 90) ?? 'fails'}`
}

interface Ran {
  /** null when it took too long. */
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

function run(cwd: string, args: readonly string[]): Promise<Ran> {
  const child = spawn(process.execPath, args, { cwd, timeout: TIME_MAX_MS, env: { ...process.env, NO_COLOR: '1' } })
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

/** Without a planted bug nobody may cry: else the table below would say nothing. */
const sound = plant({ name: 'none', edits: [] })
const alarms = await Promise.all([caughtBySimulation(sound), caughtByTests(sound)])
rmSync(sound, { recursive: true, force: true })
for (const alarm of alarms) if (alarm !== undefined) console.error(`The source as it is does not pass: ${alarm}`)
if (alarms.some((alarm) => alarm !== undefined)) process.exit(2)

const wanted = process.argv[2] ?? ''
const chosen = MUTANTS.filter(({ name }) => name.includes(wanted))
const left = [...chosen]
let escaped = 0

/** One after the other, and as many at a time as there are cores. */
async function tryAll(): Promise<void> {
  for (let mutant = left.shift(); mutant; mutant = left.shift()) {
    const by = await caughtBy(mutant)
    if (by === undefined) escaped += 1
    console.log(`${by === undefined ? '✗' : '✓'} ${mutant.name.padEnd(56)} ${by ?? 'NOT CAUGHT'}`)
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, tryAll))
const minutes = (performance.now() - startedAt) / 60_000
console.log(`${chosen.length - escaped} of ${chosen.length} planted bugs caught in ${minutes.toFixed(1)} minutes`)
process.exitCode = escaped > 0 ? 1 : 0
