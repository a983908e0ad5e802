/**
 * The terminal as commands see it: two screens, an input, and the reader's wishes (colour, ASCII, quiet, JSON).
 * It is handed in, so a command never touches `process` and a test reads every byte that it writes.
 */
import type { Kind } from '../../failure/failure.ts'
import type { StateWord } from '../../run/run.ts'
import { backgroundOf, type ColourDepth, colourDepth, createPaint, type Environment, type Paint } from './paint.ts'
import { KIND_SIGNS, type Sign, STATE_SIGNS } from './palette.ts'
import { asciiForm, oneLine, pad, stripControls } from './text.ts'

/** One output stream, as the outside hands it in. */
export interface Stream {
  readonly isTTY: boolean
  /** Asked before each use, because a window may change its size at any time. */
  columns(): number | undefined
  rows(): number | undefined
  write(text: string): void
  /** Resolves when what was written has left; a fast producer awaits it now and then. */
  drained(): Promise<void>
  onResize(listener: () => void): () => void
}

export interface Console {
  readonly stdout: Stream
  readonly stderr: Stream
  readonly stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY: boolean }
  readonly env: Environment
}

/** What the global options ask for. */
export interface Wishes {
  readonly json: boolean
  readonly plain: boolean
  readonly quiet: boolean
  readonly colour: boolean
  readonly debug: boolean
}

export interface Screen {
  readonly isTTY: boolean
  /** True when lines may be repainted: a terminal that understands cursor codes and is not a build log. */
  readonly cursor: boolean
  readonly colour: ColourDepth
  readonly paint: Paint
  readonly ascii: boolean
  /** Stands for what was cut off. */
  readonly ellipsis: string
  /** The width to lay out for, between 40 and 120 columns: past that, lines are hard to follow. */
  readonly columns: number
  /** The real width of the window, for what must know where lines fold and for tables, which use all of it. */
  readonly window: number
  readonly rows: number
  write(text: string): void
  /** Writes each text as one line. */
  lines(...texts: readonly string[]): void
  drained(): Promise<void>
  onResize(listener: () => void): () => void
  /** Foreign or stored text as one safe line, in ASCII signs where those are asked for. */
  text(value: string): string
  /** The same with its line breaks kept. */
  block(value: string): string
  sign(sign: Sign): string
  /** A kind's glyph, padded so that the words beside it line up. */
  kind(kind: Kind): string
  state(state: StateWord): string
}

export interface Terminal extends Wishes {
  readonly out: Screen
  readonly err: Screen
  /** Where sentences for people go: stdout, or stderr while stdout carries JSON. */
  readonly human: Screen
  readonly stdin: Console['stdin']
  readonly env: Environment
}

const COLUMNS_DEFAULT = 80
const COLUMNS_MIN = 40
const COLUMNS_MAX = 120
const ROWS_DEFAULT = 24

export function createTerminal(console: Console, wishes: Wishes): Terminal {
  const out = createScreen(console.stdout, console.env, wishes)
  const err = createScreen(console.stderr, console.env, wishes)
  return { ...wishes, out, err, human: wishes.json ? err : out, stdin: console.stdin, env: console.env }
}

function createScreen(stream: Stream, env: Environment, wishes: Wishes): Screen {
  const colour = wishes.colour && !wishes.plain ? colourDepth(env, stream.isTTY) : 0
  const paint = createPaint(colour, backgroundOf(env))
  const ascii = wishes.plain || env['TERM'] === 'dumb' || !speaksUtf8(env)
  const signs = ascii ? ('ascii' as const) : ('glyph' as const)
  // Signs are one to three columns wide; each set is padded to its own widest member.
  const signColumns = Math.max(...Object.values(KIND_SIGNS).map((each) => each[signs].length))
  const safe = (text: string) => (ascii ? asciiForm(text) : text)
  return {
    isTTY: stream.isTTY,
    cursor: stream.isTTY && !wishes.plain && env['TERM'] !== 'dumb' && !isBuildServer(env),
    colour,
    paint,
    ascii,
    ellipsis: ascii ? '...' : '…',
    get columns() {
      return Math.min(COLUMNS_MAX, Math.max(COLUMNS_MIN, stream.columns() ?? COLUMNS_DEFAULT))
    },
    get window() {
      return stream.columns() ?? COLUMNS_DEFAULT
    },
    get rows() {
      return stream.rows() ?? ROWS_DEFAULT
    },
    write: (text) => stream.write(text),
    lines: (...texts) => stream.write(texts.map((text) => `${text}\n`).join('')),
    drained: () => stream.drained(),
    onResize: (listener) => stream.onResize(listener),
    text: (value) => safe(oneLine(value)),
    block: (value) => safe(stripControls(value)),
    sign: (sign) => paint.hue(sign.hue, sign[signs]),
    kind: (kind) => pad(paint.hue(KIND_SIGNS[kind].hue, KIND_SIGNS[kind][signs]), signColumns),
    state: (state) => paint.hue(STATE_SIGNS[state].hue, STATE_SIGNS[state][signs]),
  }
}

/** Build servers set CI; a person who has to set it to nothing says so by `false` or `0`. */
function isBuildServer({ CI }: Environment): boolean {
  return CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0'
}

/** Only a locale that names another character set forbids glyphs; an unset one, as in most containers, does not. */
function speaksUtf8(env: Environment): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''
  if (locale === 'C' || locale === 'POSIX') return false
  const charset = /\.([\w-]+)/.exec(locale)?.[1]
  return charset === undefined || /^utf-?8$/i.test(charset)
}
