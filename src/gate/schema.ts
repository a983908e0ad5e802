/**
 * Judging a value by a schema, of either sort: JSON Schema by Ajv, or whatever speaks Standard Schema.
 * It knows no rules of a domain and nothing of who asks.
 */

import { createRequire } from 'node:module'
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { AnySchemaObject, ErrorObject, ValidateFunction } from 'ajv'
import { RepriseError } from '../failure/reprise-error.ts'
import { cut, ISSUES_MAX, type Issue, pointerOf } from './issue.ts'

/** A JSON Schema as an object. */
export type JsonSchema = Readonly<Record<string, unknown>>

export type Schema<Value = unknown> = JsonSchema | StandardSchemaV1<unknown, Value>

export type Verdict<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly issues: readonly Issue[] }

export type JudgeSchema<Value = unknown> = (value: unknown) => Verdict<Value> | Promise<Verdict<Value>>

export const isStandard = (schema: unknown): schema is StandardSchemaV1 =>
  (typeof schema === 'object' || typeof schema === 'function') && schema !== null && '~standard' in schema

export function judgeOf<Value>(schema: Schema<Value>): JudgeSchema<Value> {
  return isStandard(schema) ? byStandard(schema as StandardSchemaV1<unknown, Value>) : byJsonSchema(schema)
}

/** What a model can be told about the shape; absent for a Standard Schema that cannot say. */
export function jsonSchemaOf(schema: Schema): JsonSchema | undefined {
  if (!isStandard(schema)) return schema
  const { jsonSchema } = schema['~standard'] as { readonly jsonSchema?: JsonSchemaMaker }
  if (typeof jsonSchema?.input !== 'function') return undefined
  try {
    return jsonSchema.input({ target: 'draft-07' })
  } catch {
    // A transformed or lazy type has no JSON Schema; the answer is judged all the same.
    return undefined
  }
}

interface JsonSchemaMaker {
  input(options: { readonly target: string }): JsonSchema
}

/** Compiling costs milliseconds and makes code; a schema object is compiled once, however many answers it judges. */
const compiled = new WeakMap<object, ValidateFunction>()

function byJsonSchema<Value>(schema: JsonSchema): JudgeSchema<Value> {
  const check = compiled.get(schema) ?? compile(schema)
  compiled.set(schema, check)
  return (value) => {
    if (check(value)) return { ok: true, value: value as Value }
    return { ok: false, issues: (check.errors ?? []).slice(0, ISSUES_MAX).map(ofAjv) }
  }
}

const OPTIONS = { allErrors: true, strict: false, messages: true, validateFormats: true } as const

function compile(schema: JsonSchema): ValidateFunction {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) {
    throw new RepriseError(
      'gate.schema',
      `schema is ${Array.isArray(schema) ? 'an array' : String(schema)}. Allowed: a JSON Schema object, or a Standard Schema (zod, valibot, arktype).`,
    )
  }
  // Draft 7 says `items: [..]` and `definitions` where 2020-12 says otherwise; a schema that names it is read by it.
  // The name is then left out, because Ajv refuses every dialect whose own schema it was not given.
  const { $schema: dialect, ...shape } = schema
  const isOld = /draft-0[4-7]/.test(String(dialect ?? ''))
  try {
    return compiler(isOld).compile(shape as AnySchemaObject)
  } catch (cause) {
    throw new RepriseError('gate.schema', `schema cannot be compiled: ${cut((cause as Error).message)}.`, { cause })
  }
}

/**
 * Loaded when the first JSON Schema is compiled: an application without one need not wait for it. Required and not imported, because
 * a gate is made at once and a schema that cannot be compiled is refused there.
 */
function compiler(isOld: boolean): { compile(schema: AnySchemaObject): ValidateFunction } {
  const require = createRequire(import.meta.url)
  const { Ajv2020 } = require('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  const { Ajv } = require('ajv') as typeof import('ajv')
  const { default: addFormats } = require('ajv-formats') as { default: (ajv: object) => void }
  const ajv = isOld ? new Ajv(OPTIONS) : new Ajv2020(OPTIONS)
  addFormats(ajv)
  return ajv
}

/** Ajv's messages are made of the schema alone; the one that is not names a key of the answer, and gets other words. */
function ofAjv({ instancePath, keyword, params, message }: ErrorObject): Issue {
  const missing: unknown = params['missingProperty']
  const path = typeof missing === 'string' ? `${instancePath}${pointerOf([missing])}` : instancePath
  const code = `schema.${keyword}`
  if (keyword === 'additionalProperties' || keyword === 'unevaluatedProperties') {
    const key = String(params['additionalProperty'] ?? params['unevaluatedProperty'])
    return { path, code, message: 'has a property that the schema does not know', detail: cut(`"${key}" is not known`) }
  }
  if (keyword === 'required') return { path, code, message: 'is required and missing' }
  if (keyword === 'enum')
    return { path, code, message: cut(`must be one of ${JSON.stringify(params['allowedValues'])}`) }
  if (keyword === 'const') return { path, code, message: cut(`must be ${JSON.stringify(params['allowedValue'])}`) }
  if (keyword === 'propertyNames') return { path, code, message: 'has a property with a name that is not allowed' }
  return { path, code, message: cut(message ?? `does not satisfy ${keyword}`) }
}

function byStandard<Value>(schema: StandardSchemaV1<unknown, Value>): JudgeSchema<Value> {
  return (value) => {
    const result = schema['~standard'].validate(value)
    return result instanceof Promise ? result.then(ofStandard) : ofStandard(result)
  }
}

function ofStandard<Value>(result: StandardSchemaV1.Result<Value>): Verdict<Value> {
  if (!result.issues) return { ok: true, value: result.value }
  return { ok: false, issues: result.issues.slice(0, ISSUES_MAX).map(ofIssue) }
}

/** What a library writes may quote the answer, so only its code and the shape it expected are told on. */
function ofIssue(issue: StandardSchemaV1.Issue): Issue {
  const { code, expected } = issue as { readonly code?: unknown; readonly expected?: unknown }
  const name = typeof code === 'string' && /^[\w-]{1,60}$/.test(code) ? code : 'invalid'
  const parts = (issue.path ?? []).map((part) => (typeof part === 'object' ? part.key : part))
  const wanted = typeof expected === 'string' ? `must be ${cut(expected, 60)}` : 'does not fit the schema'
  return {
    path: pointerOf(parts.map((part) => (typeof part === 'number' ? part : String(part)))),
    code: `schema.${name}`,
    message: wanted,
    detail: cut(issue.message),
  }
}
