/**
 * Builds `dist/` from `src/` with nothing left over from an earlier build.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

rmSync(`${root}/dist`, { recursive: true, force: true })
execFileSync(`${root}/node_modules/.bin/tsc`, ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' })
