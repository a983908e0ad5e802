import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runLine } from '../run-line.fixtures.ts'

let cwd = ''

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'reprise-cli-config-'))
})

afterEach(() => rmSync(cwd, { recursive: true, force: true }))

describe('reprise config', () => {
  test('shows each value with its origin', async () => {
    writeFileSync(join(cwd, 'reprise.config.mjs'), "export default { worker: { leaseMs: '40s' } }")
    const env = { REPRISE_POLL: '2s' }
    const { exit, out } = await runLine('config worker --concurrency 4', { cwd, env, columns: 100 })
    expect(exit).toBe(0)
    expect(out.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['setting', 'value', 'origin', 'variable'],
      ['worker.concurrency', '4', 'flag:--concurrency', 'REPRISE_CONCURRENCY'],
      ['worker.leaseMs', '40 s', 'file:reprise.config.mjs', 'REPRISE_LEASE'],
      ['worker.pollMs', '2 s', 'env:REPRISE_POLL', 'REPRISE_POLL'],
      ['worker.drainMs', '30 s', 'default', 'REPRISE_DRAIN'],
      [''],
    ])
  })

  test('gives data with --json, secrets masked', async () => {
    const env = { REPRISE_TOKEN: 'canary-token', REPRISE_STORE: 'postgres://app:canary-pw@db/app' }
    const { out, err } = await runLine('config --json', { cwd, env })
    const rows = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { name: string })
    expect(rows.find((row) => row.name === 'store')).toEqual({
      name: 'store',
      value: 'postgres://***@db/app',
      origin: 'env:REPRISE_STORE',
      env: 'REPRISE_STORE',
      flag: '--store',
    })
    expect(out + err).not.toContain('canary')
  })

  test('tells every mistake and ends with 2', async () => {
    writeFileSync(join(cwd, 'reprise.config.mjs'), 'export default { wroker: {} }')
    const { exit, err, out } = await runLine('config --lease soon', { cwd, columns: 400 })
    expect(exit).toBe(2)
    expect(out).toBe('')
    expect(err).toContain('The configuration has 2 mistakes:')
    expect(err).toContain('--lease: "soon" is not a duration')
    expect(err).toContain('wroker is not a setting; did you mean worker?')
    expect(err).toContain('CONFIG_INVALID, exit 2.')
  })

  test('a variable with a slip of the pen is not silent', async () => {
    const { exit, err } = await runLine('config', { cwd, env: { REPRISE_STOER: 'memory:' }, columns: 400 })
    expect(exit).toBe(2)
    expect(err).toContain('REPRISE_STOER is not a variable of Reprise; did you mean REPRISE_STORE?')
  })

  test('an unknown setting names the nearest', async () => {
    const { exit, err } = await runLine('config worker.leasMs', { cwd, columns: 200 })
    expect(exit).toBe(2)
    expect(err).toContain('There is no setting worker.leasMs. Did you mean worker.leaseMs?')
  })
})
