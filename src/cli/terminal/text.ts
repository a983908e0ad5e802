/**
 * Text that is safe and measurable on a terminal: control characters out, width in columns, wrapping and cutting.
 * It knows nothing of colours beyond skipping them, and nothing of what the text says.
 */

/** One escape sequence: OSC and its kin with their end, CSI, or a lone escape. Each branch stops at the next escape, so time stays linear. */
const ESCAPES =
  /(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]?|\u001b[ -/]*[0-~]?/g

/** What is left of the C0 and C1 sets, and the marks that reorder or hide text without being seen. */
const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** Our own colour codes, which take no room on the screen. */
const SGR = /\u001b\[[0-9;]*m/g

const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$|^\p{Emoji_Presentation}$/u
const PRINTABLE_ASCII = /^[ -~]*$/

/** The signs of our own sentences, for terminals that can show ASCII only. Letters of the data stay as they are. */
const ASCII_FORMS: Readonly<Record<string, string>> = {
  '→': '->',
  '≤': '<=',
  '≥': '>=',
  '≠': '!=',
  '×': 'x',
  '…': '...',
  '–': '-',
  '—': '-',
  '·': '-',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
}
const HAS_ASCII_FORM = /[→≤≥≠×…–—·‘’“”]/g

/** Foreign text as one line: no escapes, no control or reordering characters, runs of white space as one space. */
export function oneLine(text: string): string {
  return stripControls(text)
    .replace(/[\s\u2028\u2029]+/g, ' ')
    .trim()
}

/** A value that was typed or read, for use inside a sentence of ours: one line, short, and without our own mark-up. */
export function shown(value: string, columns = 60): string {
  return cut(oneLine(value), columns).replaceAll('`', "'")
}

/** Foreign text with its line breaks kept, otherwise as clean as `oneLine`. */
export function stripControls(text: string): string {
  return text.replace(ESCAPES, '').replace(/\r\n?/g, '\n').replace(INVISIBLE, '')
}

export function asciiForm(text: string): string {
  return text.replace(HAS_ASCII_FORM, (sign) => ASCII_FORMS[sign] ?? sign)
}

/** Columns the text takes on the screen; our own colour codes take none. */
export function widthOf(text: string): number {
  const bare = text.includes('\u001b') ? text.replace(SGR, '') : text
  if (PRINTABLE_ASCII.test(bare)) return bare.length
  let width = 0
  for (const character of bare) width += ZERO_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1
  return width
}

/** Pads to a width; longer text is returned as it is. */
export function pad(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const room = ' '.repeat(Math.max(0, width - widthOf(text)))
  return align === 'left' ? text + room : room + text
}

/** Cuts to a width and ends with the ellipsis if something was cut. Colour codes survive, and a cut one is closed. */
export function cut(text: string, width: number, ellipsis = '…'): string {
  if (widthOf(text) <= width) return text
  const room = Math.max(0, width - widthOf(ellipsis))
  let kept = ''
  let used = 0
  let coloured = false
  for (const piece of text.split(/(\u001b\[[0-9;]*m)/)) {
    if (piece.startsWith('\u001b')) {
      kept += piece
      coloured = true
      continue
    }
    for (const character of piece) {
      const columns = widthOf(character)
      if (used + columns > room)
        return (ellipsis === '' ? kept : kept.trimEnd()) + ellipsis + (coloured ? '\u001b[0m' : '')
      kept += character
      used += columns
    }
  }
  return kept
}

/**
 * Breaks at spaces so that no line is wider than `width`; a longer word is broken where it must be.
 * Works on text without colours: paint the lines afterwards.
 */
export function wrap(text: string, width: number): string[] {
  const limit = Math.max(8, width)
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(/ +/)) {
      if (line !== '' && widthOf(line) + 1 + widthOf(word) <= limit) line += ` ${word}`
      else {
        if (line !== '') lines.push(line)
        line = word
        while (widthOf(line) > limit) {
          const head = cut(line, limit, '')
          lines.push(head)
          line = line.slice(head.length)
        }
      }
    }
    lines.push(line)
  }
  return lines
}
