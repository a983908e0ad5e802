/**
 * A vitest reporter that tells, per suite, how many tests ran and how long they took, shows each failure in full,
 * and keeps the counts and the reasons of skipped tests for the closing line.
 */
import type { UserConsoleLog } from 'vitest'
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node'

export class SuiteReporter implements Reporter {
  passed = 0
  failed = 0
  readonly skips: Array<{ name: string; reason: string }> = []
  readonly #suites = new Map<string, { tests: number; failed: number; ms: number }>()

  onUserConsoleLog(log: UserConsoleLog): void {
    process.stdout.write(log.content)
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result()
    const suite = this.#suite(test.project.name)
    suite.tests += 1
    if (result.state === 'passed') this.passed += 1
    else if (result.state === 'failed') {
      this.failed += 1
      suite.failed += 1
      console.log(`\n✗ ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const error of result.errors) console.log(describe(error))
    } else {
      const reason = (result.state === 'skipped' && result.note) || 'no reason given'
      this.skips.push({ name: `${test.module.relativeModuleId} > ${test.fullName}`, reason })
    }
  }

  onTestModuleEnd(module: TestModule): void {
    this.#suite(module.project.name).ms += module.diagnostic().duration
    // A file that cannot be loaded runs no test, so its error would otherwise go uncounted.
    for (const error of module.errors()) this.#fail(`${module.relativeModuleId}`, error)
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    for (const error of unhandled) this.#fail('outside of any test', error)
    for (const [name, { tests, failed, ms }] of this.#suites) {
      const mark = failed === 0 ? '✓' : '✗'
      console.log(
        `${mark} ${name.padEnd(16)} ${(ms / 1000).toFixed(1)} s  ${tests} tests${failed ? `, ${failed} failed` : ''}`,
      )
    }
  }

  #fail(where: string, error: SerializedError): void {
    this.failed += 1
    console.log(`\n✗ ${where}\n${describe(error)}`)
  }

  #suite(name: string) {
    let suite = this.#suites.get(name)
    if (!suite) {
      suite = { tests: 0, failed: 0, ms: 0 }
      this.#suites.set(name, suite)
    }
    return suite
  }
}

function describe(error: SerializedError): string {
  const diff = 'diff' in error && typeof error['diff'] === 'string' ? `\n${error['diff']}` : ''
  const stack = (error.stack ?? error.message).split('\n').filter((line) => !line.includes('/node_modules/'))
  return `${stack.join('\n')}${diff}`
}
