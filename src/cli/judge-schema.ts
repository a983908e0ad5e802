/**
 * What is wrong with a value by a JSON Schema, as the desk tells it: at once, before anything is stored.
 * The gate judges, so that the desk and a worker never read one schema in two ways; here its issues get a person's words.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import { type Issue as GateIssue, type JsonSchema, judgeOf } from '../gate/index.ts'
import type { Issue } from '../run/question.ts'

export async function judgeBySchema(schema: unknown, value: unknown): Promise<readonly Issue[]> {
  const verdict = await judgeStored(schema)(value)
  return verdict.ok ? [] : verdict.issues.map(forPerson)
}

function judgeStored(schema: unknown) {
  try {
    return judgeOf(schema as JsonSchema)
  } catch (cause) {
    const message = `The stored schema cannot be used: ${(cause as Error).message} Allowed: reject it, or send it back.`
    throw new RepriseError('review.schema', message, { cause })
  }
}

/** Whoever wrote the value may read it again, so the detail that no model is told is told here. */
function forPerson({ path, code, message, detail }: GateIssue): Issue {
  const keyword = code.replace(/^schema\./, '')
  if (keyword === 'required') return { path, code: keyword, message: 'is missing' }
  return { path, code: keyword, message: detail === undefined ? message : `${message}: ${detail}` }
}
