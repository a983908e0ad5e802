/**
 * The command line as a process: real streams, real time, signals and the exit code.
 * Nothing is decided here; `run` does the work.
 */
import { readFileSync } from 'node:fs'
import { inBackground } from '../time/background.ts'
import { systemClock } from '../time/clock.ts'
import { run } from './run.ts'
import { processConsole } from './terminal/process-console.ts'

/** As shells report a process that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130

/** A wrapper such as npm may pass on the signal that the terminal has sent already: two so close are one press of a key. */
const SAME_PRESS_MS = 300

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader (`| head -1`) has what it wanted: that is no failure, and there is nobody left to tell.
    if (error.code === 'EPIPE') process.exit(0)
    throw error
  })
}

function interruption(): AbortSignal {
  const controller = new AbortController()
  let firstAt = 0
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (!controller.signal.aborted) {
        firstAt = systemClock.monotonic()
        controller.abort()
      } else if (systemClock.monotonic() - firstAt > SAME_PRESS_MS) process.exit(EXIT_INTERRUPTED)
    })
  }
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

/** How often to look whether everything that was written has left. */
const LEAVE_LOOK_MS = 250

// The command is done; what still holds the process is the user's code (a pool, a timer of their app), and nobody waits for it.
inBackground(LEAVE_LOOK_MS, () => {
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit()
})
