/**
 * `npm test`: format, lint, types, dead code, then every test suite, each with its time, and one closing line
 * `N passed, N failed, N skipped` that counts all of it. With REPRISE_TEST_STRICT=1 a skipped test is a failure, unless
 * its reason says that it is optional: data that not every machine can have.
 * Arguments are passed to vitest as filters and run the tests alone.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'
import { LEFT_OUT } from './long-suites.ts'
import { enterRunFolder } from './run-folder.ts'
import { SuiteReporter } from './suite-reporter.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const strict = process.env['REPRISE_TEST_STRICT'] === '1'
const filters = process.argv.slice(2)
enterRunFolder()

type Check = readonly [name: string, command: string, ...args: string[]]

/** Checks that are not tests by themselves; each counts as one. The first makes what the others and the tests look at. */
const BUILD: Check = ['build', 'node', 'scripts/build.ts', '--types-apart']
const CHECKS: readonly Check[] = [
  ['format and lint', 'biome', 'check', '.'],
  ['types', 'tsc', '--noEmit'],
  ['dead code', 'knip'],
]

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
let passed = 0
let failed = 0

async function check([name, command, ...args]: Check): Promise<void> {
  const startedAt = performance.now()
  const child = spawn(`${root}/node_modules/.bin/${command}`, args, { cwd: root })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (said += text))
  const ok = await new Promise<boolean>((resolve) => {
    child.on('error', (error) => {
      said += error
      resolve(false)
    })
    child.on('close', (code) => resolve(code === 0))
  })
  if (ok) passed += 1
  else failed += 1
  console.log(`${ok ? '✓' : '✗'} ${name.padEnd(16)} ${seconds(performance.now() - startedAt)}`)
  if (!ok) console.log(said)
}

if (filters.length === 0) {
  await check(BUILD)
  await Promise.all(CHECKS.map(check))
}

const reporter = new SuiteReporter()
await (await startVitest('test', filters, { root, watch: false, reporters: [reporter] })).close()
const { skips } = reporter
passed += reporter.passed
failed += reporter.failed

const refused = strict ? skips.filter(({ reason }) => !reason.startsWith('optional')) : []
failed += refused.length

if (skips.length > 0) {
  console.log('\nSkipped:')
  for (const skip of skips) {
    console.log(
      `  ${skip.name}: ${skip.reason}${refused.includes(skip) ? ' (failed, because the mode is strict)' : ''}`,
    )
  }
}

if (LEFT_OUT.length > 0) console.log(`\nAt full size only (REPRISE_TEST_CHAOS=full), or named: ${LEFT_OUT.join(', ')}`)
console.log(`\n${passed} passed, ${failed} failed, ${skips.length - refused.length} skipped`)
process.exit(failed === 0 ? 0 : 1)
