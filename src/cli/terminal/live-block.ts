/**
 * A few lines at the bottom of a normal log that are painted anew while work goes on; finished lines scroll above them.
 * Where lines cannot be repainted it writes plain progress lines instead. It knows time and lines, not what they mean.
 */
import type { Clock } from '../../time/clock.ts'
import type { Screen } from './terminal.ts'
import { cut, widthOf } from './text.ts'

/** The block never grows past this, so that the log above stays in sight. */
export const BLOCK_LINES_MAX = 14
/** Ten paintings a second at most: more cannot be read and makes slow connections flicker. */
const PAINT_EVERY_MS = 100
/** Clocks and countdowns in the block move even when nothing happens. */
const REFRESH_EVERY_MS = 1_000
const PLAIN_EVERY_MS = 10_000
const PLAIN_EVERY_SHARE = 0.1

export interface LiveBlockOptions {
  readonly screen: Screen
  readonly clock: Clock
  /** The block as it stands now, for this many columns. */
  readonly paint: (columns: number) => readonly string[]
  /** How far the work is, and the same in one plain line, for logs. */
  readonly progress: () => { readonly share: number; readonly line: string }
  /** Shows nothing at all; `log` is silent too. */
  readonly quiet?: boolean
}

export interface LiveBlock {
  /** A finished line of interest: it scrolls above the block and stays. */
  log(line: string): void
  /** Something changed; the block is painted again soon. Cheap: call it as often as wanted. */
  update(): void
  /** Takes the block away and writes what is still to be said. The cursor is left at the start of a line. */
  close(...lastLines: readonly string[]): void
}

export function startLiveBlock(options: LiveBlockOptions): LiveBlock {
  if (options.quiet) return { log: () => {}, update: () => {}, close: () => {} }
  return options.screen.cursor ? paintedBlock(options) : plainLines(options)
}

function paintedBlock({ screen, clock, paint }: LiveBlockOptions): LiveBlock {
  const ending = new AbortController()
  let shown: readonly string[] = []
  let finished: string[] = []
  let dirty = true
  let paintedAt = Number.NEGATIVE_INFINITY

  const repaint = () => {
    const { columns, window } = screen
    const height = Math.max(1, Math.min(BLOCK_LINES_MAX, screen.rows - 1))
    // One column stays free: a line that fills the row would wrap on some terminals and be counted wrongly.
    const next = paint(columns)
      .slice(0, height)
      .map((line) => cut(line, Math.min(columns, window) - 1, screen.ellipsis))
    screen.write(eraseCodes(shown, window) + [...finished, ...next].map((line) => `${line}\n`).join(''))
    shown = next
    finished = []
    dirty = false
    paintedAt = clock.monotonic()
  }
  const stopListening = screen.onResize(() => {
    dirty = true
  })
  everyTick(clock, PAINT_EVERY_MS, ending.signal, () => {
    if (dirty || clock.monotonic() - paintedAt >= REFRESH_EVERY_MS) repaint()
  })
  repaint()

  return {
    log(line) {
      finished.push(line)
      dirty = true
    },
    update() {
      dirty = true
    },
    close(...lastLines) {
      if (ending.signal.aborted) return
      ending.abort()
      stopListening()
      screen.write(eraseCodes(shown, screen.window) + [...finished, ...lastLines].map((line) => `${line}\n`).join(''))
    },
  }
}

/**
 * Back to the block's first line and clear from there. Lines painted in a wider window have been folded by a narrower one,
 * so their height is counted anew with the width of now.
 */
function eraseCodes(shown: readonly string[], columns: number): string {
  const height = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0)
  return height === 0 ? '' : `\u001b[${height}A\r\u001b[J`
}

function plainLines({ screen, clock, progress }: LiveBlockOptions): LiveBlock {
  const ending = new AbortController()
  let saidShare = 0
  let saidAt = clock.monotonic()
  let saidLine = ''

  const say = () => {
    const { share, line } = progress()
    saidShare = share
    saidAt = clock.monotonic()
    if (line !== saidLine) screen.lines(line)
    saidLine = line
  }
  everyTick(clock, PLAIN_EVERY_MS, ending.signal, () => {
    if (clock.monotonic() - saidAt >= PLAIN_EVERY_MS) say()
  })

  return {
    log: (line) => screen.lines(line),
    update() {
      const steps = (share: number) => Math.floor(share / PLAIN_EVERY_SHARE + 1e-9)
      if (steps(progress().share) > steps(saidShare) || clock.monotonic() - saidAt >= PLAIN_EVERY_MS) say()
    },
    close(...lastLines) {
      if (ending.signal.aborted) return
      ending.abort()
      screen.lines(...lastLines)
    },
  }
}

function everyTick(clock: Clock, everyMs: number, signal: AbortSignal, tick: () => void): void {
  const next = (): Promise<void> =>
    clock.sleep(everyMs, signal).then(() => {
      if (signal.aborted) return
      tick()
      return next()
    })
  next().catch((reason: unknown) => {
    if (!signal.aborted) throw reason
  })
}
