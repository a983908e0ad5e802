import { describe, expect, test } from 'vitest'
import { gate } from '../gate/index.ts'
import { judgeBySchema } from './judge-schema.ts'

const draft7 = 'http://json-schema.org/draft-07/schema#'

describe('the desk judges as the gate does', () => {
  const schemas = [
    { $schema: draft7, items: [{ type: 'string' }], additionalItems: false },
    { prefixItems: [{ type: 'string' }], items: false },
    { $schema: draft7, definitions: { word: { type: 'string' } }, items: { $ref: '#/definitions/word' } },
  ]
  const values = [['a'], [1], ['a', 'b'], ['a', 1], []]

  test.each(schemas)('%j', async (schema) => {
    for (const value of values) {
      const verdict = await gate(schema).judge(value, { input: undefined })
      expect([value, (await judgeBySchema(schema, value)).length === 0]).toEqual([value, verdict.ok])
    }
  })

  test('in a person’s words, with the key that is not known', async () => {
    const schema = { required: ['supplier'], properties: { supplier: {} }, additionalProperties: false }
    expect(await judgeBySchema(schema, { net: 1 })).toEqual([
      { path: '/supplier', code: 'required', message: 'is missing' },
      {
        path: '',
        code: 'additionalProperties',
        message: 'has a property that the schema does not know: "net" is not known',
      },
    ])
  })

  test.each([{ type: 'nothing' }, 3, null])(
    'a stored schema that cannot be used says what is left to do: %j',
    async (schema) => {
      const refused = judgeBySchema(schema, {})
      await expect(refused).rejects.toMatchObject({ code: 'review.schema' })
      await expect(refused).rejects.toThrow(
        /^The stored schema cannot be used: .* Allowed: reject it, or send it back\.$/,
      )
    },
  )
})
