/**
 * Facts of one thing: a dim word on the left, its value on the right, wrapped under itself.
 */
import type { Screen } from './terminal.ts'
import { pad, widthOf, wrap } from './text.ts'

export function definition(screen: Screen, facts: readonly (readonly [string, string])[], indent = '  '): string[] {
  const labelColumns = Math.max(...facts.map(([label]) => widthOf(label)))
  const bodyColumns = screen.columns - indent.length - labelColumns - 2
  return facts.flatMap(([label, value]) =>
    wrap(screen.block(value), bodyColumns).map(
      (line, index) => `${indent}${pad(screen.paint.dim(index === 0 ? label : ''), labelColumns)}  ${line}`,
    ),
  )
}
