/**
 * Draws what a terminal shows as an SVG for the documents: text with colour codes on stdin, a picture on stdout.
 * `tmux capture-pane -e -p | node scripts/terminal-picture.ts "npm start" > docs/images/start.svg`
 */
import { stdin, stdout } from 'node:process'

const [title = 'terminal'] = process.argv.slice(2)

const FONT_PX = 13
const CELL_WIDTH = 7.83
const LINE_HEIGHT = 19
const PADDING = 22
const HEADER = 34
const INK = '#e8eaed'
const DIM = '#8b929d'

/** The sixteen named colours on a dark ground. */
const NAMED = ['#16191f', '#ff8174', '#5cc98d', '#e3b341', '#78adff', '#bda2f7', '#3cb9ab', '#e8eaed']

interface Style {
  readonly colour: string
  readonly bold: boolean
  readonly dim: boolean
}

const PLAIN: Style = { colour: INK, bold: false, dim: false }

/** The style after one colour code, whose numbers may be 24 bit, 256 or named colours. */
function restyle(style: Style, codes: readonly number[]): Style {
  let next = style
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? 0
    if (code === 0) next = PLAIN
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, dim: true }
    else if (code === 22) next = { ...next, bold: false, dim: false }
    else if (code === 39) next = { ...next, colour: INK }
    else if (code >= 30 && code <= 37) next = { ...next, colour: NAMED[code - 30] ?? INK }
    else if (code >= 90 && code <= 97) next = { ...next, colour: NAMED[code - 90] ?? INK }
    else if (code === 38 && codes[index + 1] === 2) {
      const [red = 0, green = 0, blue = 0] = codes.slice(index + 2, index + 5)
      next = { ...next, colour: `rgb(${red},${green},${blue})` }
      index += 4
    } else if (code === 38 && codes[index + 1] === 5) {
      next = { ...next, colour: indexed(codes[index + 2] ?? 7) }
      index += 2
    }
  }
  return next
}

/** A colour of the 256: sixteen names, a 6 × 6 × 6 cube, 24 greys. */
function indexed(code: number): string {
  if (code < 16) return NAMED[code % 8] ?? INK
  if (code >= 232) return `rgb(${Array(3).fill(8 + (code - 232) * 10)})`
  const level = (part: number) => (part === 0 ? 0 : 55 + part * 40)
  const cube = code - 16
  return `rgb(${level(Math.floor(cube / 36))},${level(Math.floor(cube / 6) % 6)},${level(cube % 6)})`
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** One line: a run of text per style, each set at its own column so that signs of odd width shift nothing. */
function drawLine(line: string, row: number, start: Style): { readonly svg: string; readonly style: Style } {
  let style = start
  let column = 0
  let svg = ''
  for (const part of line.split(/(\u001b\[[\d;]*m)/)) {
    const codes = /^\u001b\[([\d;]*)m$/.exec(part)?.[1]
    if (codes !== undefined) {
      style = restyle(style, codes.split(';').map(Number))
      continue
    }
    if (part.trim() !== '') {
      const indent = part.length - part.trimStart().length
      const x = (PADDING + (column + indent) * CELL_WIDTH).toFixed(1)
      const y = HEADER + PADDING + row * LINE_HEIGHT
      const weight = style.bold ? ' font-weight="700"' : ''
      const width = (part.trim().length * CELL_WIDTH).toFixed(1)
      svg += `<text x="${x}" y="${y}" fill="${style.dim ? DIM : style.colour}"${weight} textLength="${width}" xml:space="preserve">${escapeXml(part.trim())}</text>\n`
    }
    column += part.length
  }
  return { svg, style }
}

let text = ''
for await (const chunk of stdin) text += chunk
const lines = text.replace(/\s+$/, '').split('\n')
const longest = Math.max(...lines.map((line) => line.replace(/\u001b\[[\d;]*m/g, '').length))
const width = Math.ceil(longest * CELL_WIDTH + 2 * PADDING)
const height = HEADER + 2 * PADDING + lines.length * LINE_HEIGHT - 6

let style = PLAIN
let body = ''
for (const [row, line] of lines.entries()) {
  const drawn = drawLine(line, row, style)
  body += drawn.svg
  style = drawn.style
}

stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<rect width="${width}" height="${height}" rx="10" fill="#101318"/>
<rect width="${width}" height="${HEADER}" rx="10" fill="#1c2027"/>
<g fill="#3b424d"><circle cx="20" cy="17" r="5"/><circle cx="38" cy="17" r="5"/><circle cx="56" cy="17" r="5"/></g>
<text x="78" y="21" fill="#8b929d" font-family="Inter, ui-sans-serif, system-ui, sans-serif" font-size="12">${escapeXml(title)}</text>
<g font-family="'JetBrains Mono', ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="${FONT_PX}">
${body}</g>
</svg>
`)
