/**
 * "Did you mean …?": the one allowed word that a slip of the pen may have meant.
 * It compares words and knows nothing of what they name.
 */

/** Edits that a slip may take: one in four letters, two at most and one at least. */
const editsMax = (word: string) => Math.max(1, Math.min(2, Math.floor(word.length / 4)))

/** Longer words are nobody's slip of the pen. */
const WORD_MAX = 64

export function nearest(word: string, allowed: readonly string[]): string | undefined {
  if (word.length > WORD_MAX) return undefined
  const near = allowed
    .map((candidate) => ({ candidate, edits: editsBetween(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, edits }) => edits <= editsMax(candidate))
    .sort((a, b) => a.edits - b.edits)
  return near[0]?.candidate
}

/** A swap of neighbours is one edit, because that is how fingers slip (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  let above: readonly number[] = []
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(above, j - 2) + 1 : replaced
      next.push(Math.min(replaced, swapped, at(row, j) + 1, at(next, j - 1) + 1))
    }
    above = row
    row = next
  }
  return at(row, b.length)
}

const at = (row: readonly number[], index: number) => row[index] ?? 0
