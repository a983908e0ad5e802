/**
 * For vitest's `globalSetup`: before the first test of a run, `dist` is what the source makes now. Tests of the command line as a process
 * and of the package take it as it is, so that nobody builds twice and no test sees a build that is just being made.
 */
import { execFileSync } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Folders too, as a file that was removed changes only its folder. */
const SOURCES = ['src', 'src/**/*', 'samples/*.ts', 'tsconfig.json', 'tsconfig.build.json']

const changedAt = (name: string): number => statSync(`${root}/${name}`, { throwIfNoEntry: false })?.mtimeMs ?? 0

export default function setup(): void {
  const sources = globSync(SOURCES, { cwd: root })
  // What is written last: the build is whole when it is there.
  const builtAt = changedAt('dist/samples/invoice.gate.js')
  if (sources.every((source) => changedAt(source) < builtAt)) return
  execFileSync(process.execPath, ['scripts/build.ts', '--types-apart'], { cwd: root, stdio: 'inherit' })
}
