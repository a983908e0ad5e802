/**
 * Whether a sentence quotes what it is about. What a check says about an answer may be told to a model only if it does not: the words of
 * a document must not come back as words of ours.
 */

/** A shorter run is a word that anyone may use; none of that length is an instruction. */
const RUN = 8
const STEP = 4

/** Documents are long; what is looked through is bounded. */
const CHARS_MAX = 200_000
const TEXTS_MAX = 2_000

/** True when a run of 12 characters or more of the sentence, perhaps of 8, stands in a text of one of the sources. */
export function quotes(sentence: string, ...sources: readonly unknown[]): boolean {
  const said = sentence.toLowerCase()
  const runs: string[] = []
  for (let at = 0; at + RUN <= said.length; at += STEP) runs.push(said.slice(at, at + RUN))
  return textsOf(sources).some((text) => runs.some((run) => text.includes(run)))
}

function textsOf(sources: readonly unknown[]): readonly string[] {
  const texts: string[] = []
  let left = CHARS_MAX
  const open: unknown[] = [...sources]
  while (open.length > 0 && texts.length < TEXTS_MAX && left > 0) {
    const next = open.shift()
    if (typeof next === 'string') {
      texts.push(next.slice(0, left).toLowerCase())
      left -= next.length
    } else if (typeof next === 'object' && next !== null) {
      open.push(...Object.keys(next), ...Object.values(next))
    }
  }
  return texts
}
