import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const main = fileURLToPath(new URL('../../examples/sql-agent/main.ts', import.meta.url))
const useSource = new URL('use-source.ts', import.meta.url).href
const run = (...args: string[]) => {
  const { GOOGLE_GENERATIVE_AI_API_KEY: _key, REPRISE_MODE: _mode, ...env } = process.env
  return promisify(execFile)(process.execPath, ['--no-warnings', '--import', useSource, main, ...args], { env }).then(
    ({ stdout }) => ({ stdout, code: 0 }),
    ({ stdout, code }: { stdout: string; code: number }) => ({ stdout, code }),
  )
}

test('one command: visible retries with their count, silent ones silent, one report for each question that has an answer', async () => {
  const { stdout, code } = await run('--faults')
  expect(code).toBe(0)
  expect(stdout.match(/^# /gm)).toHaveLength(2)
  expect(stdout).toContain('! validate: attempt 1 of 2 failed: no such column: totl. Asking again with the error.')
  expect(stdout).toContain('south | 700')
  expect(stdout).not.toMatch(/503|UNAVAILABLE|overloaded/)
})

test('on BigQuery’s client a refusal says what to do, and the exit code that there is no report', async () => {
  const { stdout, code } = await run('--bigquery', 'What does the finance table say?')
  expect(code).toBe(1)
  expect(stdout).toContain('✗ No report. Check permissions on dataset sales-prod:finance')
  expect(stdout.match(/Writing the query/g)).toHaveLength(1)
})
