/**
 * Reading JSON out of a model's text, with repairs that cost no call: fences and prose around it, commas, quotes, comments.
 * What was cut off is never repaired, because closing its brackets would make a whole of a part; one forgotten brace is all that is added.
 */
import { jsonrepair } from 'jsonrepair'

export type Reading =
  | { readonly ok: true; readonly value: unknown; readonly repaired: boolean }
  | { readonly ok: false; readonly kind: 'empty' | 'syntax' | 'truncated'; readonly message: string }

/** Past this a repair takes longer than it is worth. */
const REPAIR_MAX_CHARS = 500_000

/** Prose may hold brackets of its own; the answer is among the longest few. */
const PARTS_MAX = 5

/** `cutOff`: the provider said that the answer ended because its room was used up. */
export function readAnswer(text: string, cutOff: boolean): Reading {
  const answer = text.trim()
  if (answer === '') return { ok: false, kind: cutOff ? 'truncated' : 'empty', message: 'the answer is empty' }
  const whole = parse(answer)
  if (whole) return { ok: true, value: whole.value, repaired: false }
  if (cutOff) return { ok: false, kind: 'truncated', message: 'the answer was cut off before its JSON ended' }
  const { parts, open } = partsOf(fenced(answer) ?? answer)
  if (open !== undefined) {
    const closed = parts.length === 0 ? close(open) : undefined
    return closed
      ? { ok: true, value: closed.value, repaired: true }
      : { ok: false, kind: 'syntax', message: 'the JSON of the answer does not end' }
  }
  for (const read of [parse, repair]) {
    for (const part of parts) {
      const found = read(part)
      if (found) return { ok: true, value: found.value, repaired: true }
    }
  }
  return {
    ok: false,
    kind: 'syntax',
    message: parts.length > 0 ? 'the answer is not JSON' : 'the answer holds no JSON',
  }
}

/**
 * The stretches of a text that open and close a bracket, the longest first, and the last one if it does not close. Prose around
 * them is left out; brackets inside texts do not count.
 */
function partsOf(text: string): { readonly parts: readonly string[]; readonly open?: Open } {
  const parts: string[] = []
  let depth = 0
  let from = 0
  let inText = false
  for (let index = 0; index < text.length; index += 1) {
    const char = text[index] as string
    if (inText) {
      if (char === '\\') index += 1
      else if (char === '"') inText = false
    } else if (char === '"') inText = depth > 0
    else if (char === '{' || char === '[') {
      if (depth === 0) from = index
      depth += 1
    } else if ((char === '}' || char === ']') && depth > 0) {
      depth -= 1
      if (depth === 0) parts.push(text.slice(from, index + 1))
    }
  }
  const longest = parts.sort((a, b) => b.length - a.length).slice(0, PARTS_MAX)
  return { parts: longest, ...(depth > 0 ? { open: { text: text.slice(from), depth, inText } } : {}) }
}

/** A stretch whose brackets do not all close. */
interface Open {
  readonly text: string
  readonly depth: number
  readonly inText: boolean
}

/**
 * The model ended by itself and forgot its last brace. Only that one is added: every list and every inner object is whole, so nothing is
 * shortened, and a property that is missing is the gate's to see.
 */
function close({ text, depth, inText }: Open): { readonly value: unknown } | undefined {
  const isWhole = depth === 1 && !inText && text.startsWith('{') && !/[,:{]\s*$/.test(text)
  return isWhole ? parse(`${text}}`) : undefined
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

function repair(text: string): { readonly value: unknown } | undefined {
  if (text.length > REPAIR_MAX_CHARS) return undefined
  try {
    const parsed = parse(jsonrepair(text))
    // A repair may make text of anything; only a structure is an answer.
    return parsed && typeof parsed.value === 'object' && parsed.value !== null ? parsed : undefined
  } catch {
    return undefined
  }
}

/** What stands in the first fence, if it begins like JSON. A fence that does not end is no fence: its answer was cut off. */
function fenced(text: string): string | undefined {
  const open = text.indexOf('```')
  if (open < 0) return undefined
  const from = text.indexOf('\n', open)
  const to = from < 0 ? -1 : text.indexOf('```', from)
  const inner = to < 0 ? '' : text.slice(from + 1, to).trim()
  return /^[[{]/.test(inner) ? inner : undefined
}
