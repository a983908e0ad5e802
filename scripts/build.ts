/**
 * Builds `dist/` from `src/` with nothing left over from an earlier build. `--types-apart` is for whoever checks the types by another command: what
 * comes out is the same, and comes sooner.
 */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const apart = process.argv.includes('--types-apart') ? ['--noCheck'] : []

rmSync(`${root}/dist`, { recursive: true, force: true })
const compile = (...words: readonly string[]) =>
  execFileSync(`${root}/node_modules/.bin/tsc`, [...words, ...apart], { cwd: root, stdio: 'inherit' })

compile('-p', 'tsconfig.build.json')
// Node strips no types inside node_modules, and `reprise start` needs the samples' gate there too.
const plain = ['--ignoreConfig', '--target', 'es2024', '--module', 'nodenext', '--outDir', 'dist/samples']
compile(...plain, 'samples/invoice.gate.ts')
