/**
 * `npm test`: format, lint, types, dead code, then every test suite, each with its time, and one closing line
 * `N passed, N failed, N skipped` that counts all of it. With REPRISE_TEST_STRICT=1 a skipped test is a failure, unless
 * its reason says that it is optional: data that not every machine can have.
 * Arguments are passed to vitest as filters and run the tests alone.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startVitest } from 'vitest/node'
import { LEFT_OUT } from './long-suites.ts'
import { SuiteReporter } from './suite-reporter.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const strict = process.env['REPRISE_TEST_STRICT'] === '1'
const filters = process.argv.slice(2)

/** Checks that are not tests by themselves; each counts as one. */
const CHECKS: ReadonlyArray<readonly [name: string, command: string, ...args: string[]]> = [
  ['build', 'node', 'scripts/build.ts'],
  ['format and lint', 'biome', 'check', '.'],
  ['types', 'tsc', '--noEmit'],
  ['dead code', 'knip'],
]

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
let passed = 0
let failed = 0

if (filters.length === 0) {
  for (const [name, command, ...args] of CHECKS) {
    const startedAt = performance.now()
    const run = spawnSync(`${root}/node_modules/.bin/${command}`, args, { cwd: root, encoding: 'utf8' })
    const ok = run.status === 0
    if (ok) passed += 1
    else failed += 1
    console.log(`${ok ? '✓' : '✗'} ${name.padEnd(16)} ${seconds(performance.now() - startedAt)}`)
    if (!ok) console.log(`${run.stdout}${run.stderr}${run.error ?? ''}`)
  }
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
