/**
 * The simulator's log: one JSON line per request, on the disk before any answer leaves, so that what a client got is always in it.
 * Lines that wait for the disk at the same time share one flush.
 */
import { type FileHandle, open, readFile } from 'node:fs/promises'
import type { FaultName } from './fault.ts'
import type { Tokens } from './question.ts'

export interface LoggedRequest {
  /** 1, 2, 3 … over the life of the log, also across restarts. */
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  readonly model: string
  readonly document: string
  /** Which request about this document to this model it is: 1, 2, 3 … since the start of the simulator. */
  readonly take: number
  readonly fault: FaultName
  /** The HTTP status; null when the connection was left hanging or reset. */
  readonly status: number | null
  /** As billed: all zero when nothing was generated. */
  readonly tokens: Tokens
  readonly images: number
  /** The client's `Idempotency-Key`, if it sent one. */
  readonly idempotencyKey: string | null
}

export interface RequestLog extends AsyncDisposable {
  /** How many entries were in the file when it was opened. */
  readonly before: number
  /** Resolves when the line is on the disk. */
  append(entry: LoggedRequest): Promise<void>
}

export async function openRequestLog(file: string): Promise<RequestLog> {
  const before = await readRequestLog(file).catch(whenMissing)
  const handle = await open(file, 'a')
  // A line that a crash has torn ends here, so that the next one stands for itself.
  if (before.isTorn) await handle.appendFile('\n')
  let waiting: string[] = []
  let flushing: Promise<void> | undefined
  const flush = async () => {
    while (waiting.length > 0) {
      const lines = waiting
      waiting = []
      await writeThrough(handle, lines)
    }
    flushing = undefined
  }
  return {
    before: before.entries.at(-1)?.seq ?? 0,
    append: async (entry) => {
      waiting.push(`${JSON.stringify(entry)}\n`)
      // A line that comes while others are being flushed is taken along by the next round of the same loop.
      flushing ??= flush()
      await flushing
    },
    [Symbol.asyncDispose]: async () => {
      await flushing
      await handle.close()
    },
  }
}

async function writeThrough(handle: FileHandle, lines: readonly string[]): Promise<void> {
  await handle.appendFile(lines.join(''))
  await handle.datasync()
}

/** The log's entries. A line that a crash has torn is left out and told. */
export async function readRequestLog(file: string): Promise<{ entries: LoggedRequest[]; isTorn: boolean }> {
  const text = await readFile(file, 'utf8')
  const entries: LoggedRequest[] = []
  let torn = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    try {
      entries.push(JSON.parse(line))
    } catch {
      torn += 1
    }
  }
  return { entries, isTorn: torn > 0 && !text.endsWith('\n') }
}

function whenMissing(error: unknown): Awaited<ReturnType<typeof readRequestLog>> {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { entries: [], isTorn: false }
  throw error
}
