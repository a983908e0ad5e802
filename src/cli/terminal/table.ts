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
}

const GAP = '  '
const FLEXIBLE_MIN = 16

/** Cells hold finished text: safe, and coloured where wanted. */
export function table(
  screen: Screen,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = '',
): string[] {
  const hasHeader = columns.some((column) => column.header !== '')
  const natural = columns.map((column, index) =>
    Math.max(widthOf(column.header), ...rows.map((row) => widthOf(row[index] ?? ''))),
  )
  const kept = columns.map((_, index) => index)
  const flexible = columns.findIndex((column) => column.flexible)
  const room = screen.columns - widthOf(indent)
  const least = () =>
    kept.reduce((sum, index) => sum + leastWidth(index, flexible, natural) + GAP.length, -GAP.length)
  while (least() > room) {
    const dropped = kept.findLastIndex((index) => columns[index]?.droppable)
    if (dropped < 0) break
    kept.splice(dropped, 1)
  }
  const widths = [...natural]
  if (kept.includes(flexible)) {
    const others = kept.reduce(
      (sum, index) => sum + (index === flexible ? 0 : (natural[index] ?? 0)) + GAP.length,
      -GAP.length,
    )
    widths[flexible] = Math.max(
      Math.min(FLEXIBLE_MIN, natural[flexible] ?? 0),
      Math.min(natural[flexible] ?? 0, room - others),
    )
  }
  const ellipsis = screen.ascii ? '...' : '…'
  const layOut = (cells: readonly string[]) =>
    indent +
    kept
      .map((index) => pad(cut(cells[index] ?? '', widths[index] ?? 0, ellipsis), widths[index] ?? 0, columns[index]?.align))
      .join(GAP)
      .trimEnd()
  const header = layOut(columns.map((column) => column.header))
  return [...(hasHeader ? [screen.paint.dim(header)] : []), ...rows.map(layOut)]
}

function leastWidth(index: number, flexible: number, natural: readonly number[]): number {
  const width = natural[index] ?? 0
  return index === flexible ? Math.min(FLEXIBLE_MIN, width) : width
}
