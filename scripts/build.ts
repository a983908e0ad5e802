/**
 * Builds `dist/` from `src/` with nothing left over from an earlier build.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

rmSync(`${root}/dist`, { recursive: true, force: true })
const compile = (...words: readonly string[]) =>
  execFileSync(`${root}/node_modules/.bin/tsc`, words, { cwd: root, stdio: 'inherit' })

compile('-p', 'tsconfig.build.json')
// Node strips no types inside node_modules, and `reprise start` needs the samples' gate there too.
const plain = ['--ignoreConfig', '--target', 'es2024', '--module', 'nodenext', '--outDir', 'dist/samples']
compile(...plain, 'samples/invoice.gate.ts')
