/**
 * What is wrong with a value by a JSON Schema, as the desk tells it: at once, before anything is stored.
 * It knows schemas only; what the application's own gate says is a worker's affair.
 */
import type { ErrorObject } from 'ajv'
import { RepriseError } from '../failure/reprise-error.ts'
import type { Issue } from '../run/question.ts'

/** More issues than these tell a person nothing new. */
const ISSUES_MAX = 50

export async function judgeBySchema(schema: unknown, value: unknown): Promise<readonly Issue[]> {
  // Loaded when a schema is there to judge by: most commands never need it.
  const [{ Ajv2020 }, { default: addFormats }] = await Promise.all([import('ajv/dist/2020.js'), import('ajv-formats')])
  const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: true })
  addFormats.default(ajv)
  try {
    const validate = ajv.compile(withoutDialect(schema))
    return validate(value) ? [] : (validate.errors ?? []).slice(0, ISSUES_MAX).map(issueOf)
  } catch (cause) {
    const message = `The stored schema cannot be used: ${(cause as Error).message}. Allowed: reject it, or send it back.`
    throw new RepriseError('review.schema', message, { cause })
  }
}

/** Drafts differ in what hardly any schema of an answer uses, and a dialect that is not loaded is an error. */
function withoutDialect(schema: unknown): object | boolean {
  if (typeof schema === 'boolean') return schema
  const { $schema: _dialect, ...rest } = (schema ?? {}) as Record<string, unknown>
  return rest
}

function issueOf({ instancePath, keyword, message, params }: ErrorObject): Issue {
  const missing: unknown = params['missingProperty']
  const extra: unknown = params['additionalProperty']
  const name = typeof missing === 'string' ? missing : typeof extra === 'string' ? extra : undefined
  const path = name === undefined ? instancePath : `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const words = { required: 'is missing', additionalProperties: 'is not allowed' }[keyword] ?? message ?? 'is not right'
  return { path, code: keyword, message: words }
}
