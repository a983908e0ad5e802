/**
 * A length of time as a setting: read from any layer, within its bounds.
 * It does not know which settings there are.
 */
import { briefDuration, parseDuration } from '../time/duration.ts'
import type { Given } from './layers.ts'
import { shown } from './shown.ts'

/** Digits of a variable or a flag are milliseconds, as a number in the file is. */
export function duration({ raw, field, isText }: Given, minMs: number, maxMs?: number): number {
  const ms = parseDuration(isText && /^\d{1,15}$/.test(String(raw)) ? Number(raw) : raw, field)
  if (ms >= minMs && (maxMs === undefined || ms <= maxMs)) return ms
  const range =
    maxMs === undefined ? `${briefDuration(minMs)} and more` : `${briefDuration(minMs)} to ${briefDuration(maxMs)}`
  throw new RangeError(`${field}: ${shown(raw)} is not allowed; allowed is ${range}`)
}
