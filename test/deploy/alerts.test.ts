import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const prometheus = join(root, 'deploy/prometheus')
const families = readdirSync(join(prometheus, 'alerts')).map((file) => file.replace(/\.yml$/, ''))
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8')

/** The blocks of a rule file, by the alert's name. */
const alertsOf = (family: string): ReadonlyMap<string, string> =>
  new Map(
    read('deploy/prometheus/alerts', `${family}.yml`)
      .split(/^ +- alert: /m)
      .slice(1)
      .map((block) => [block.split('\n')[0] ?? '', block]),
  )

const hasTool = (tool: string): boolean => spawnSync(tool, ['--version']).error === undefined

describe.each(families)('alerts of %s', (family) => {
  test('promtool: the rules are rules, and each test fires and resolves', (context) => {
    if (!hasTool('promtool')) return context.skip('promtool (Debian package prometheus) is not installed')
    execFileSync('promtool', ['check', 'rules', join(prometheus, 'alerts', `${family}.yml`)])
    const run = spawnSync('promtool', ['test', 'rules', join(prometheus, 'tests', `${family}.test.yml`)])
    expect(String(run.stdout) + String(run.stderr)).toContain('SUCCESS')
    expect(run.status).toBe(0)
  })

  test('each has a severity, a tier, words and a runbook that exists', () => {
    const headings = new Set(
      [...read('docs/operating/runbooks.md').matchAll(/^## (.+)$/gm)].map(([, title]) => title?.toLowerCase()),
    )
    for (const [name, block] of alertsOf(family)) {
      for (const field of ['severity: ', 'tier: "', 'summary: ', 'description: ']) expect(block, name).toContain(field)
      expect(block).toContain(`runbook_url: docs/operating/runbooks.md#${name.toLowerCase()}`)
      expect(headings, name).toContain(name.toLowerCase())
    }
  })

  test('each is seen to fire and to resolve by its tests', () => {
    const tests = read('deploy/prometheus/tests', `${family}.test.yml`)
    for (const name of alertsOf(family).keys()) {
      expect(tests, `${name} fires`).toMatch(new RegExp(`alertname: ${name}\\n +exp_alerts:\\n +- exp_labels`))
      expect(tests, `${name} resolves`).toMatch(new RegExp(`alertname: ${name}, exp_alerts: \\[\\] \\}`))
    }
  })
})

test('amtool: each tier has a receiver', (context) => {
  if (!hasTool('amtool')) return context.skip('amtool (Debian package prometheus-alertmanager) is not installed')
  const file = join(root, 'deploy/alertmanager/alertmanager.yml')
  execFileSync('amtool', ['check-config', file])
  const receiverOf = (tier: string) =>
    String(execFileSync('amtool', ['config', 'routes', 'test', `--config.file=${file}`, `tier=${tier}`])).trim()
  expect(['2', '3', '4'].map(receiverOf)).toEqual(['platform', 'service-team', 'engineering-lead'])
})

test('the compose file is one, and starts nothing without its secrets', (context) => {
  const tools = [['docker', 'compose'], ['docker-compose']] as const
  const compose = tools.find(([tool, ...words]) => spawnSync(tool, [...words, 'version']).status === 0)
  if (!compose) return context.skip('docker compose is not installed')
  const [tool, ...words] = compose
  const check = (env: Record<string, string>) =>
    spawnSync(tool, [...words, '-f', join(root, 'deploy/compose.yml'), 'config', '-q'], {
      env: { PATH: process.env['PATH'], ...env },
    })
  const secrets = { MONGODB_PASSWORD: 'a', RABBITMQ_PASSWORD: 'b', GRAFANA_PASSWORD: 'c' }
  expect(check(secrets).status).toBe(0)
  for (const name of Object.keys(secrets)) {
    const { [name as keyof typeof secrets]: _left, ...others } = secrets
    const refused = check(others)
    expect([refused.status, String(refused.stderr)], name).toEqual([1, expect.stringContaining(`set ${name}`)])
  }
})
