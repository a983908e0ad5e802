/**
 * The example of the report flow as a user runs it: one command in a process of its own, judged by what it prints.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect } from 'vitest'

const main = fileURLToPath(new URL('../../examples/flow-report/run.ts', import.meta.url))
const useSource = new URL('use-source.ts', import.meta.url).href

export async function runExample(more: Record<string, string> = {}): Promise<void> {
  const { FIRESTORE_EMULATOR_HOST: _host, GOOGLE_GENERATIVE_AI_API_KEY: _key, ...env } = process.env
  const args = ['--no-warnings', '--import', useSource, main]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { env: { ...env, ...more } })
  const lines = stdout.trim().split('\n')
  expect(lines.slice(0, -1)).toEqual([
    'prices succeeded',
    'charts succeeded',
    'report succeeded',
    'the model was asked 2 times, the second time with what was wrong',
  ])
  const body = JSON.parse(lines.at(-1)?.replace(/^report: /, '') ?? '')
  expect(Object.keys(body).sort()).toEqual(['details', 'summary'])
  expect([typeof body.summary.markdown, typeof body.details.trend]).toEqual(['string', 'string'])
  expect(stderr).toBe('')
}
