import { expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createReprise } from '../create-reprise.ts'
import { gate } from '../gate/gate.ts'
import { memory } from '../stores/memory/index.ts'
import { fakeModel } from '../testing/fake-model.ts'
import { runOnce } from '../testing/run-once.ts'

const models = { 'google/gemini-flash-latest': fakeModel(() => ({ json: { total: 3 } })) }
const shape = z.object({ total: z.number() })

test('the value has the type of its schema', async () => {
  const { value } = await runOnce(
    async (_input, ctx) => {
      const bySchema = await ctx.ask('a', { prompt: 'p', schema: shape })
      expectTypeOf(bySchema.value).toEqualTypeOf<{ total: number }>()
      const byGate = await ctx.ask('b', { prompt: 'p', gate: gate(shape) })
      expectTypeOf(byGate.value).toEqualTypeOf<{ total: number }>()
      const byJsonSchema = await ctx.ask('c', { prompt: 'p', schema: { type: 'object' } })
      expectTypeOf(byJsonSchema.value).toEqualTypeOf<unknown>()
      const bySaying = await ctx.ask<{ total: number }>('d', { prompt: 'p', schema: { type: 'object' } })
      expectTypeOf(bySaying.value).toEqualTypeOf<{ total: number }>()
      const ruled = await ctx.ask('e', {
        prompt: 'p',
        schema: shape,
        gate: [{ name: 'positive', check: ({ total }) => total > 0 }],
      })
      return [bySchema, byGate, byJsonSchema, bySaying, ruled].map((asked) => asked.value)
    },
    'x',
    { models },
  )
  expect(value).toEqual(Array.from({ length: 5 }, () => ({ total: 3 })))
})

test('handlers of the public engine know ask and model, and what the task declares', () => {
  const reprise = createReprise({ store: memory() })
  reprise.task('typed', { input: z.object({ text: z.string() }) }, async (input, ctx) => {
    expectTypeOf(input).toEqualTypeOf<{ text: string }>()
    expectTypeOf(ctx.input).toEqualTypeOf<{ text: string }>()
    expectTypeOf(ctx.model('google/gemini-flash-latest').specificationVersion).toEqualTypeOf<'v4'>()
    return (await ctx.ask('a', { prompt: input.text, schema: shape })).value.total
  })
})
