/**
 * Colours and weights as SGR codes, for terminals of 24 bit, 256 or 16 colours, or none.
 * It knows numbers and escape codes; which colour means what is the palette's affair.
 */
import { WriteStream } from 'node:tty'

/** Bits of colour: 0 means no escape codes at all. */
export type ColourDepth = 0 | 4 | 8 | 24

/** One colour for each background, and the SGR number used where there are only 16 colours. */
export interface Hue {
  readonly dark: string
  readonly light: string
  readonly basic: number
}

export interface Paint {
  readonly depth: ColourDepth
  bold(text: string): string
  dim(text: string): string
  hue(hue: Hue, text: string): string
}

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * How much colour to write. FORCE_COLOR is asked first and NO_COLOR second, in the order in which Node itself reads them;
 * a pipe gets none, and for a real terminal Node's own knowledge of TERM and COLORTERM decides.
 */
export function colourDepth(env: Environment, isTTY: boolean): ColourDepth {
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) {
    if (forced === '0' || forced === 'false') return 0
    return forced === '3' ? 24 : forced === '2' ? 8 : 4
  }
  if (env['NO_COLOR'] || env['TERM'] === 'dumb' || !isTTY) return 0
  const { NO_COLOR, NODE_DISABLE_COLORS, ...rest } = env
  const bits = WriteStream.prototype.getColorDepth(rest)
  return bits === 24 || bits === 8 || bits === 4 ? bits : 0
}

/** Terminals that tell their colours say so in COLORFGBG (`15;0`: white on black). Most do not; dark is the common case. */
export function backgroundOf(env: Environment): 'dark' | 'light' {
  const background = env['COLORFGBG']?.split(';').at(-1)
  return background === '7' || background === '15' ? 'light' : 'dark'
}

export function createPaint(depth: ColourDepth, background: 'dark' | 'light' = 'dark'): Paint {
  if (depth === 0) {
    const same = (text: string) => text
    return { depth, bold: same, dim: same, hue: (_hue, text) => text }
  }
  return {
    depth,
    bold: (text) => (text === '' ? '' : `\u001b[1m${text}\u001b[22m`),
    dim: (text) => (text === '' ? '' : `\u001b[2m${text}\u001b[22m`),
    hue: (hue, text) => (text === '' ? '' : `\u001b[${foreground(hue, depth, background)}m${text}\u001b[39m`),
  }
}

function foreground(hue: Hue, depth: ColourDepth, background: 'dark' | 'light'): string {
  if (depth === 4) return String(hue.basic)
  const [red, green, blue] = channels(hue[background])
  if (depth === 24) return `38;2;${red};${green};${blue}`
  return `38;5;${nearestOf256(red, green, blue)}`
}

function channels(hex: string): [number, number, number] {
  const value = Number.parseInt(hex.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255]
}

/** The six levels of the 6 × 6 × 6 colour cube that starts at index 16. */
const CUBE_LEVELS = [0, 95, 135, 175, 215, 255] as const

function nearestOf256(red: number, green: number, blue: number): number {
  const [r, g, b] = [nearestLevel(red), nearestLevel(green), nearestLevel(blue)]
  return 16 + 36 * r + 6 * g + b
}

function nearestLevel(channel: number): number {
  let best = 0
  for (const [index, level] of CUBE_LEVELS.entries()) {
    if (Math.abs(level - channel) < Math.abs((CUBE_LEVELS[best] ?? 0) - channel)) best = index
  }
  return best
}
