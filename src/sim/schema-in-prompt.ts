/**
 * A JSON Schema that stands in the words of a prompt: some clients ask for a shape there and nowhere else.
 * The first JSON object that describes properties is taken.
 */

/** Longer objects than this are documents. */
const OBJECT_MAX = 65_536
/** Prompts hold few braces before their schema. */
const STARTS_MAX = 32

export function schemaInPrompt(texts: readonly string[]): unknown {
  for (const text of texts) {
    if (!text.includes('"properties"')) continue
    let start = text.indexOf('{')
    for (let tried = 0; start >= 0 && tried < STARTS_MAX; tried += 1) {
      const found = objectAt(text, start)
      if (typeof found === 'object' && found !== null && 'properties' in found) return found
      start = text.indexOf('{', start + 1)
    }
  }
  return undefined
}

/** The object that begins here, by its balanced braces; undefined when it is none. */
function objectAt(text: string, start: number): unknown {
  let depth = 0
  let isInString = false
  for (let at = start; at < Math.min(text.length, start + OBJECT_MAX); at += 1) {
    const sign = text[at]
    if (isInString) {
      if (sign === '\\') at += 1
      else if (sign === '"') isInString = false
    } else if (sign === '"') isInString = true
    else if (sign === '{') depth += 1
    else if (sign === '}') {
      depth -= 1
      if (depth === 0) return parsed(text.slice(start, at + 1))
    }
  }
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
