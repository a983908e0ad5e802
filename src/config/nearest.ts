/**
 * "Did you mean …?": the nearest of the allowed words, if one is near enough to be meant.
 * It compares words and knows nothing of what they name.
 */

/** Edits that a typing slip may need; words of up to four letters are allowed one less. */
const EDITS_MAX = 2

export function nearest(word: string, allowed: Iterable<string>): string | undefined {
  const given = word.toLowerCase().slice(0, 64)
  const started = onlyOneThatStartsWith(given, allowed)
  if (started !== undefined) return started
  let best: string | undefined
  let bestEdits = (given.length <= 4 ? EDITS_MAX - 1 : EDITS_MAX) + 1
  for (const candidate of allowed) {
    const lower = candidate.toLowerCase()
    const edits = editsBetween(given, lower)
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

/** A word cut short ("class" for "classify") is many edits away and yet clear, as long as only one word starts so. */
function onlyOneThatStartsWith(given: string, allowed: Iterable<string>): string | undefined {
  if (given.length < 3) return undefined
  const starting = [...allowed].filter((candidate) => candidate.toLowerCase().startsWith(given))
  return starting.length === 1 ? starting[0] : undefined
}

/** Insertions, deletions, substitutions and swaps of neighbours, each one edit (optimal string alignment). */
function editsBetween(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1]
      let edits = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        edits = Math.min(edits, (beforeLast[column - 2] ?? 0) + 1)
      }
      current.push(edits)
    }
    beforeLast = last
    last = current
  }
  return last[b.length] ?? 0
}
