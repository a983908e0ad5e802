/**
 * A console for tests: what was written is kept as text, window size, environment and input are given.
 * It is as dumb as it can be: it obeys no escape code.
 */
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
