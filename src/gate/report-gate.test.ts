import { describe, expect, test } from 'vitest'
import { gate } from './gate.ts'
import { valueAt } from './issue.ts'
import { requiredFields } from './ready-rules.ts'
import type { Rule } from './rule.ts'
import type { JsonSchema } from './schema.ts'

/**
 * Two gates of report flows as users would write them: one judges the profile that a step names, the other what its model answered.
 * The stored JSON Schema is the only authority about the answer; the profile's gate makes sure that it asks for what readers need.
 */
interface Profile {
  readonly model: string
  readonly responseMimeType: string
  readonly candidateCount?: number
  readonly structuredOutput: { readonly schemaId: string; readonly schemaSha256?: string }
}

const profileSchema = {
  type: 'object',
  required: ['model', 'responseMimeType', 'structuredOutput'],
  properties: {
    model: { type: 'string', minLength: 1 },
    responseMimeType: { const: 'application/json' },
    candidateCount: { const: 1 },
    structuredOutput: {
      type: 'object',
      required: ['schemaId'],
      properties: { schemaId: { type: 'string', pattern: '^llm_report_output_v[1-9][0-9]*$' } },
    },
  },
}

type Shelf = Readonly<Record<string, JsonSchema>>

const requires = (schema: unknown, path: string, field: string): boolean => {
  const list = valueAt(schema, `${path}/required`)
  return Array.isArray(list) && list.includes(field)
}

const profileRules: readonly Rule<Profile, Shelf>[] = [
  {
    name: 'schema.known',
    path: '/structuredOutput/schemaId',
    message: 'must name a stored schema that can be compiled',
    check: ({ structuredOutput: { schemaId } }, { input }) => {
      const schema = Object.hasOwn(input, schemaId) ? input[schemaId] : undefined
      if (!schema) return false
      try {
        gate(schema)
        return true
      } catch (error) {
        return (error as Error).message
      }
    },
  },
  {
    name: 'schema.asks_enough',
    path: '/structuredOutput/schemaId',
    message: 'must name a schema that requires summary, details and summary.markdown',
    check: ({ structuredOutput: { schemaId } }, { input }) => {
      const schema = input[schemaId]
      return (
        schema === undefined ||
        (requires(schema, '', 'summary') &&
          requires(schema, '', 'details') &&
          requires(schema, '/properties/summary', 'markdown'))
      )
    },
  },
]

const profileGate = gate<Profile, Shelf>(profileSchema, profileRules)

const reportSchema = {
  type: 'object',
  required: ['summary', 'details'],
  properties: {
    summary: { type: 'object', required: ['markdown'], properties: { markdown: { type: 'string' } } },
    details: { type: 'object' },
  },
}

const shelf: Shelf = {
  llm_report_output_v1: reportSchema,
  llm_report_output_v2: { ...reportSchema, required: ['summary'] },
  llm_report_output_v3: { type: 'nothing' },
  report: reportSchema,
}

const profile = {
  model: 'google/gemini-flash-latest',
  responseMimeType: 'application/json',
  structuredOutput: { schemaId: 'llm_report_output_v1', schemaSha256: 'informational' },
}

const codesOf = async (value: unknown) => {
  const verdict = await profileGate.judge(value, { input: shelf })
  return verdict.ok ? [] : verdict.issues.map(({ path, code }) => `${path} ${code}`)
}

describe('a report’s profile', () => {
  const named = (schemaId: string) => ({ ...profile, structuredOutput: { schemaId } })
  const at = '/structuredOutput/schemaId'
  test.each<[string, unknown, string[]]>([
    ['as it should be', profile, []],
    ['one candidate, said', { ...profile, candidateCount: 1 }, []],
    ['two candidates', { ...profile, candidateCount: 2 }, ['/candidateCount schema.const']],
    ['markdown', { ...profile, responseMimeType: 'text/markdown' }, ['/responseMimeType schema.const']],
    ['no schema', { ...profile, structuredOutput: {} }, [`${at} schema.required`]],
    ['a name without a version', named('report'), [`${at} schema.pattern`]],
    ['version zero', named('llm_report_output_v0'), [`${at} schema.pattern`]],
    ['a schema that is not stored', named('llm_report_output_v9'), [`${at} gate.schema.known`]],
    ['a schema without details', named('llm_report_output_v2'), [`${at} gate.schema.asks_enough`]],
    [
      'a schema that is none',
      named('llm_report_output_v3'),
      [`${at} gate.schema.known`, `${at} gate.schema.asks_enough`],
    ],
  ])('%s', async (_what, value, expected) => {
    expect(await codesOf(value)).toEqual(expected)
  })
})

describe('a report', () => {
  const report = gate(reportSchema, [requiredFields('/summary/markdown')])
  test.each<[unknown, string[]]>([
    [{ summary: { markdown: '# Up' }, details: {} }, []],
    [{ summary: { markdown: ' ' }, details: {} }, ['gate.required']],
    [{ summary: {}, details: {} }, ['schema.required']],
    [{ details: {} }, ['schema.required']],
    [{ summary: '# Up' }, ['schema.required', 'schema.type']],
  ])('%j', async (value, expected) => {
    const verdict = await report.judge(value, { input: undefined })
    expect(verdict.ok ? [] : verdict.issues.map(({ code }) => code)).toEqual(expected)
  })
})
