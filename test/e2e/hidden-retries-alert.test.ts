import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, type TestContext, test } from 'vitest'

const deploy = fileURLToPath(new URL('../../deploy/prometheus/', import.meta.url))
const rules = join(deploy, 'alerts/hidden_retries.yml')
const cases = join(deploy, 'tests/hidden_retries_test.yml')

function promtool(context: TestContext, ...args: string[]) {
  const run = spawnSync('promtool', args, { encoding: 'utf8' })
  if (run.error) return context.skip('promtool is not installed')
  return { code: run.status, said: `${run.stdout}${run.stderr}` }
}

test('the alerts on hidden retries are well-formed, fire and resolve', (context) => {
  expect(promtool(context, 'check', 'rules', rules)).toMatchObject({ code: 0 })
  expect(promtool(context, 'test', 'rules', cases)).toMatchObject({ code: 0 })
})

test('the cases are red for a rule that never fires', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-alerts-'))
  try {
    for (const part of ['alerts', 'tests']) mkdirSync(join(folder, part))
    const deaf = readFileSync(rules, 'utf8').replaceAll('> 0', '> 1000').replaceAll('> 1\n', '> 1000\n')
    writeFileSync(join(folder, 'alerts/hidden_retries.yml'), deaf)
    writeFileSync(join(folder, 'tests/hidden_retries_test.yml'), readFileSync(cases))
    const { code, said } = promtool(context, 'test', 'rules', join(folder, 'tests/hidden_retries_test.yml'))
    expect(code).not.toBe(0)
    expect(said.match(/alertname: Reprise\w+/g)?.length).toBeGreaterThanOrEqual(3)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
