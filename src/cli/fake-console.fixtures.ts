/**
 * A console for tests: what was written is kept as text, window size, environment and input are given.
 * With it a whole command line runs in process, exactly as a shell would run it.
 */
import type { Clock } from '../time/clock.ts'
import type { ExitCode } from './cli-error.ts'
import { run } from './run.ts'
import type { Console, Stream } from './terminal/terminal.ts'

export interface FakeOptions {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Iterable<string | Uint8Array>
}

export interface FakeConsole extends Console {
  readonly written: { out: string; err: string }
  /** Each write to stdout by itself, to see how often something was painted. */
  readonly writes: string[]
  resize(columns: number): void
}

export function fakeConsole(options: FakeOptions = {}): FakeConsole {
  const written = { out: '', err: '' }
  const writes: string[] = []
  const listeners = new Set<() => void>()
  const isTTY = options.isTTY ?? false
  let columns = options.columns ?? (isTTY ? 80 : undefined)
  const stream = (name: 'out' | 'err'): Stream => ({
    isTTY,
    columns: () => columns,
    rows: () => options.rows,
    write: (text) => {
      written[name] += text
      if (name === 'out') writes.push(text)
    },
    drained: () => Promise.resolve(),
    onResize: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  })
  const input = options.stdin ?? []
  return {
    stdout: stream('out'),
    stderr: stream('err'),
    stdin: {
      isTTY: options.stdin === undefined,
      async *[Symbol.asyncIterator]() {
        yield* typeof input === 'string' ? [input] : input
      },
    },
    env: options.env ?? {},
    written,
    writes,
    resize(next) {
      columns = next
      for (const listener of listeners) listener()
    },
  }
}

/** Time stands still until `advance`; sleepers wake in order. */
export interface HandClock extends Clock {
  advance(ms: number): Promise<void>
}

export function handClock(startAt = 1_763_200_000_000): HandClock {
  let elapsed = 0
  let sleepers: { at: number; wake: () => void }[] = []
  return {
    now: () => startAt + elapsed,
    monotonic: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const sleeper = { at: elapsed + ms, wake: resolve }
        sleepers.push(sleeper)
        signal?.addEventListener('abort', () => {
          sleepers = sleepers.filter((each) => each !== sleeper)
          reject(signal.reason)
        })
      }),
    async advance(ms) {
      const end = elapsed + ms
      for (;;) {
        const next = sleepers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0]
        if (!next) break
        elapsed = Math.max(elapsed, next.at)
        sleepers = sleepers.filter((each) => each !== next)
        next.wake()
        // Lets everything that waited on this instant run before the next one.
        for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
      }
      elapsed = end
    },
  }
}

/** Time that passes at once: a sleep moves the clock and returns. */
export function hastyClock(startAt = 1_763_200_000_000): Clock {
  let elapsed = 0
  return {
    now: () => startAt + elapsed,
    monotonic: () => elapsed,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      await Promise.resolve()
      elapsed += Math.max(0, ms)
    },
  }
}

export interface Ran {
  readonly exit: ExitCode
  readonly out: string
  readonly err: string
}

/** The command line as typed in a shell; words are split at spaces. */
export async function runLine(line: string, options: FakeOptions & { clock?: Clock; cwd?: string } = {}): Promise<Ran> {
  const console = fakeConsole(options)
  const words = line.split(' ').filter((word) => word !== '')
  const exit = await run(words, {
    console,
    clock: options.clock ?? handClock(),
    cwd: options.cwd ?? process.cwd(),
    version: '0.1.0',
    interruption: () => new AbortController().signal,
  })
  return { exit, out: console.written.out, err: console.written.err }
}
