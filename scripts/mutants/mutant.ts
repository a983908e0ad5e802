/**
 * A planted bug: a small change of the source that every check together must notice.
 */
export interface Mutant {
  /** What is wrong with it, in a few words. */
  readonly name: string
  readonly edits: readonly Edit[]
  /** Files of tests that must notice, for a room that the simulation does not visit. */
  readonly tests?: readonly string[]
  /** Of these only the tests whose names match. */
  readonly only?: string
  /** Where this is missing the bug is not planted. */
  readonly needs?: 'firestore'
}

export interface Edit {
  readonly file: string
  /** Found exactly once in the file. */
  readonly find: string
  readonly replace: string
}

export const mutant = (
  name: string,
  file: string,
  find: string,
  replace: string,
  ...more: readonly Edit[]
): Mutant => ({
  name,
  edits: [{ file, find, replace }, ...more],
})

/** The text with its edit made; throws when the place is not there, or not once. */
export function edited(text: string, { file, find, replace }: Edit): string {
  const places = text.split(find).length - 1
  if (places !== 1) throw new Error(`${file}: the place of a planted bug is there ${places} times, not once:\n${find}`)
  return text.replace(find, () => replace)
}

/** Whether the simulation executes none of it, as it knows no SQLite, or little, as nobody in it asks a person a question. */
export const isForTests = ({ name, edits }: Mutant): boolean =>
  name.startsWith('at the desk:') || edits.every(({ file }) => file.startsWith('src/stores/sqlite/'))
