/**
 * The command line as a process: real streams, real time, signals and the exit code.
 * Nothing is decided here; `run` does the work.
 */
import { readFileSync } from 'node:fs'
import { systemClock } from '../time/clock.ts'
import { run } from './run.ts'
import { processConsole } from './terminal/process-console.ts'

/** As shells report a process that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader (`| head -1`) has what it wanted: that is no failure, and there is nobody left to tell.
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

function interruption(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => {
    controller.abort()
    process.once('SIGINT', () => process.exit(EXIT_INTERRUPTED))
  })
  return controller.signal
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return isManifest ? String(manifest.version) : 'unknown'
}

process.exitCode = await run(process.argv.slice(2), {
  console: processConsole(),
  clock: systemClock,
  cwd: process.cwd(),
  version: packageVersion(),
  interruption,
})
