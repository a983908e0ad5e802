/**
 * The one mark-up of our own sentences: what stands between backticks is to be typed, and is set in bold.
 */
import type { Screen } from './terminal.ts'

/**
 * Sets what stands between backticks in bold; a span may cross a line break.
 * Where there is no bold, backticks stay around whole command lines and go from single words.
 */
export function emphasise(lines: readonly string[], screen: Screen): string[] {
  if (screen.paint.depth === 0)
    return lines
      .join('\n')
      .replace(/`([^`\s]+)`/g, '$1')
      .split('\n')
  let inside = false
  return lines.map((line) =>
    line
      .split('`')
      .map((part, index) => {
        if (index > 0) inside = !inside
        return inside ? screen.paint.bold(part) : part
      })
      .join(''),
  )
}
