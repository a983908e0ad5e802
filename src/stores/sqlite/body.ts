/**
 * When an input or an output is too long for the run's row: SQLite rewrites a row whole at every update, so a long body
 * would be written again by each claim and each end.
 */

/** Measured: at 500 bytes the row and a table of its own cost the same, at 1 KB the row costs twice as much. */
const INLINE_MAX = 512

/** In characters, which for the few texts that are longer in bytes only moves the bound. */
export const spilled = (text: string): boolean => text.length > INLINE_MAX
