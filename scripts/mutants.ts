/**
 * `npm run mutants`: plants each known bug in a copy of the source and demands that the simulation or the unit tests notice.
 * Ends with the table of what was caught by what, and fails if anything was not. A name as argument tries those that contain it.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MUTANTS } from './mutants/list.ts'
import { edited, type Mutant } from './mutants/mutant.ts'

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

/** What a copy needs to run the simulation and the unit tests. */
const COPIED = ['src', 'scripts', 'package.json', 'vitest.config.ts', 'tsconfig.json']

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
function caughtBy(folder: string, tests?: readonly string[]): string | undefined {
  if (tests !== undefined) return caughtByTests(folder, tests)
  const simulated = run(folder, process.execPath, ['scripts/simulate.ts', '--seeds', String(SEEDS), '--first'])
  if (simulated.status !== 0) {
    const [, seed] = /^seed (\d+) fails/m.exec(simulated.stdout) ?? []
    const [, breach] = /^ {2}(\S+ .*)$/m.exec(simulated.stdout) ?? []
    if (seed !== undefined) return `seed ${seed}: ${breach?.slice(0, 90)}`
    return `simulation: ${simulated.timedOut ? 'does not end' : (/^\w*Error: .*$/m.exec(simulated.stderr)?.[0] ?? 'dies')}`
  }
  return caughtByTests(folder, UNIT_TESTS)
}

function caughtByTests(folder: string, tests: readonly string[]): string | undefined {
  const tested = run(folder, process.execPath, [VITEST, 'run', '--project', 'unit', ...tests])
  if (tested.status === 0) return undefined
  const [, test] = /FAIL .*?\.test\.ts > (.*)$/m.exec(tested.stdout + tested.stderr) ?? []
  return `unit: ${test?.slice(0, 90) ?? 'fails'}`
}

function run(cwd: string, command: string, args: readonly string[]) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: TIME_MAX_MS,
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: '1' },
  })
  return { status, stdout, stderr, timedOut: error !== undefined }
}

/** Without a planted bug nobody may cry: else the table below would say nothing. */
const sound = plant({ name: 'none', edits: [] })
const alarm = caughtBy(sound)
rmSync(sound, { recursive: true, force: true })
if (alarm !== undefined) {
  console.error(`The source as it is does not pass: ${alarm}`)
  process.exit(2)
}

const wanted = process.argv[2] ?? ''
const chosen = MUTANTS.filter(({ name }) => name.includes(wanted))
let escaped = 0
for (const mutant of chosen) {
  const folder = plant(mutant)
  const by = caughtBy(folder, mutant.tests)
  rmSync(folder, { recursive: true, force: true })
  if (by === undefined) escaped += 1
  console.log(`${by === undefined ? '✗' : '✓'} ${mutant.name.padEnd(56)} ${by ?? 'NOT CAUGHT'}`)
}
console.log(`${chosen.length - escaped} of ${chosen.length} planted bugs caught`)
process.exitCode = escaped > 0 ? 1 : 0
