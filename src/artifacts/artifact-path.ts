/**
 * Which names an artifact may have: what passes here cannot leave its root on any system, be it a folder or a bucket.
 * It touches no file and knows no driver.
 */
import { RepriseError } from '../failure/reprise-error.ts'

/** Letters, digits, dot, underscore and hyphen only: no separator, no NUL, no look-alike from another script. */
const SEGMENT = /^[a-z0-9][a-z0-9._-]{0,199}$/i

/** Windows opens a device under these names, whatever the ending. */
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i

/** Run, generation and name are three; more are not made. */
const SEGMENTS_MAX = 8

const ALLOWED =
  'letters, digits, ".", "_" and "-", from 1 to 200 of them, beginning with a letter or digit, without "..", not ending in "." and no device name'

export function isSegment(text: unknown): text is string {
  return (
    typeof text === 'string' && SEGMENT.test(text) && !text.includes('..') && !text.endsWith('.') && !DEVICE.test(text)
  )
}

/** Throws an error that names the first segment that is not allowed. */
export function checkPath(path: readonly string[]): void {
  if (!Array.isArray(path) || path.length < 1 || path.length > SEGMENTS_MAX) {
    throw new RepriseError('name.invalid', `path has ${path?.length} segments; allowed are 1 to ${SEGMENTS_MAX}`)
  }
  const at = path.findIndex((segment) => !isSegment(segment))
  if (at !== -1) {
    const shown = JSON.stringify(String(path[at]).slice(0, 60))
    throw new RepriseError('name.invalid', `path[${at}] is ${shown}; allowed are ${ALLOWED}`)
  }
}

/** The path in a uri that begins with a driver's root (`folder:`, `gs://bucket/`); `undefined` for every other text. */
export function pathUnder(root: string, uri: string): readonly string[] | undefined {
  if (typeof uri !== 'string' || !uri.startsWith(root)) return undefined
  const path = uri.slice(root.length).split('/')
  return path.length <= SEGMENTS_MAX && path.every(isSegment) ? path : undefined
}
