/**
 * `fingerprint`: a short, stable name for "the same failure again", for grouping and for the no-progress rule.
 * It looks at the record only and uses no cryptography: it groups, it does not protect.
 */
import type { Failure } from './failure.ts'

/** Facts that tell failures of one code apart without naming a single request. */
const FACTS = ['status', 'constraint', 'path', 'field', 'model', 'name', 'speaker'] as const

/** Ids, numbers, quoted values, addresses and times differ from case to case; what is left is the sentence. */
export function generalise(message: string): string {
  return message
    .slice(0, 400)
    .toLowerCase()
    .replace(/https?:\/\/[^\s"')\]]+/g, '<url>')
    .replace(/"[^"\n]{0,200}"|'[^'\n]{0,200}'|`[^`\n]{0,200}`/g, '<quoted>')
    .replace(/\b[a-z0-9_]*[0-9][a-z0-9_.-]*\b/g, '#')
    .replace(/\b[0-9a-f]{8,}\b/g, '#')
    .replace(/\s+/g, ' ')
    .trim()
}

/** 53 bits of a well-mixed hash (two 32-bit lanes), as a base-36 word. */
function hash53(text: string): string {
  let high = 0xdeadbeef
  let low = 0x41c6ce57
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    high = Math.imul(high ^ code, 0x9e3779b1)
    low = Math.imul(low ^ code, 0x5f356495)
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35)
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35)
  return (4_294_967_296 * (2_097_151 & low) + (high >>> 0)).toString(36).padStart(11, '0')
}

/** Equal for failures that differ only in ids, numbers, times and quoted values. Starts with the code, so that people can read it. */
export function fingerprint(failure: Failure): string {
  const facts = FACTS.map((key) => failure.facts?.[key] ?? '').join('|')
  return `${failure.code}-${hash53(`${failure.kind}|${failure.code}|${generalise(failure.message)}|${facts}`)}`
}
