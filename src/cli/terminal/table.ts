/**
 * Lists in the manner of `gh`: no borders, a dim header, two spaces between columns, one line per row.
 * When the window is too narrow, columns that may go are dropped from the right, then the flexible one is cut.
 */
import type { Screen } from './terminal.ts'
import { cut, pad, widthOf } from './text.ts'

export interface Column {
  readonly header: string
  readonly align?: 'left' | 'right'
  /** May be cut with an ellipsis when there is too little room. At most one per table makes sense. */
  readonly flexible?: boolean
  /** May be left out in a narrow window. */
  readonly droppable?: boolean
  /** The column gets no wider than this; a longer cell is shown whole and moves what follows in its row. */
  readonly usual?: number
}

const GAP = 2
const FLEXIBLE_MIN = 16

/** Cells hold finished text: safe, and coloured where wanted. */
export function table(
  screen: Screen,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = '',
): string[] {
  const natural = columns.map(({ header, usual }, index) => {
    const widest = Math.max(widthOf(header), ...rows.map((row) => widthOf(row[index] ?? '')))
    return Math.min(widest, usual ?? widest)
  })
  const window = Math.max(screen.window, screen.columns)
  const room = window - widthOf(indent)
  const widths = widthsOf(columns, natural, room)
  const layOut = (cells: readonly string[]) => {
    let line = indent
    let pushed = 0
    for (const [index, width] of widths) {
      const { flexible, align } = columns[index] ?? {}
      const cell = cells[index] ?? ''
      const shown = flexible ? cut(cell, Math.max(0, width - pushed), screen.ellipsis) : cell
      line += `${line === indent ? '' : ' '.repeat(GAP)}${pad(shown, width, align)}`
      if (!flexible) pushed += Math.max(0, widthOf(cell) - width)
    }
    return cut(line.trimEnd(), window, screen.ellipsis)
  }
  const hasHeader = columns.some((column) => column.header !== '')
  return [...(hasHeader ? [screen.paint.dim(layOut(columns.map((column) => column.header)))] : []), ...rows.map(layOut)]
}

/** The columns that are shown, by their index, each with its width. */
function widthsOf(columns: readonly Column[], natural: readonly number[], room: number): Map<number, number> {
  const flexible = columns.findIndex((column) => column.flexible)
  const least = natural.map((width, index) => (index === flexible ? Math.min(FLEXIBLE_MIN, width) : width))
  const kept = columns.map((_, index) => index)
  const needed = () => kept.reduce((sum, index) => sum + (least[index] ?? 0) + GAP, -GAP)
  while (needed() > room) {
    const dropped = kept.findLastIndex((index) => columns[index]?.droppable)
    if (dropped < 0) break
    kept.splice(dropped, 1)
  }
  const spare = Math.max(0, room - needed())
  return new Map(
    kept.map((index) => {
      const width = natural[index] ?? 0
      return [index, index === flexible ? Math.min(width, (least[index] ?? 0) + spare) : width]
    }),
  )
}
