import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { presets } from '../policy/presets.ts'
import { printConfig } from './print-config.ts'
import { resolveConfig } from './resolve-config.ts'

const page = readFileSync(new URL('../../docs/reference/config.md', import.meta.url), 'utf8')
const rows = page.split('\n').filter((line) => line.startsWith('| `'))

describe('docs/reference/config.md', () => {
  test.each(printConfig(resolveConfig({ cwd: '/', env: {}, flags: {} })))(
    'tells of $name',
    ({ name, value, env, flag }) => {
      const cells = rows
        .find((row) => row.startsWith(`| \`${name}\` |`))
        ?.split('|')
        .map((cell) => cell.trim().replaceAll('`', ''))
      expect(cells?.slice(1, 5)).toEqual([name, env ?? '', flag ?? '', value])
    },
  )

  test('tells of nothing else, and names every preset', () => {
    expect(rows).toHaveLength(printConfig(resolveConfig({ cwd: '/', env: {}, flags: {} })).length + 3)
    for (const name of Object.keys(presets)) expect(page).toContain(`\`${name}\``)
  })
})
