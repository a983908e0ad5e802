/**
 * `ctx.model` in the hands of the real AI SDK: each of its calls is stored, repeated by us alone, and never bought twice.
 */
import { generateText, jsonSchema, Output, streamText } from 'ai'
import { describe, expect, test } from 'vitest'
import { failure } from '../../src/failure/own.ts'
import { documentNamed, FLASH, ladderWorld, prompt, schema } from './ladder-world.fixtures.ts'

const output = Output.object({ schema: jsonSchema<{ total: number }>(schema) })
const asking = (name: string) => `${prompt}\n\n<document>\n${documentNamed(name)}\n</document>`

describe('a model of the SDK that is journalled', () => {
  test('answers again from the journal, through generateText and streamText', async () => {
    await using world = await ladderWorld({ script: { 'DOC-40': ['ok'], 'DOC-41': ['ok'] } })
    const { reprise, work, calls } = world
    let executions = 0
    const task = reprise.task('model', {}, async (_input: unknown, ctx) => {
      executions += 1
      const model = ctx.model(FLASH)
      const streamed = async () => await streamText({ model, prompt: asking('DOC-41'), maxRetries: 0 }).text
      const [one, two] = await Promise.all([
        generateText({ model, prompt: asking('DOC-40'), output, maxRetries: 0 }),
        streamed(),
      ])
      if (executions === 1) throw failure({ kind: 'interrupted', code: 'app.stop', message: 'once more' })
      return { total: one.output.total, tokens: one.usage.inputTokens, length: two.length }
    })
    const run = await reprise.submit(task, {})
    await work()
    expect(await run.result()).toMatchObject({
      ok: true,
      value: { total: 4159.63, tokens: expect.any(Number), length: expect.any(Number) },
    })
    expect(executions).toBe(2)
    expect([calls('DOC-40'), calls('DOC-41')]).toEqual([['flash ok'], ['flash ok']])
  })

  test('is repeated by the call, not by the SDK as well', async () => {
    await using world = await ladderWorld({ script: { 'DOC-42': ['overloaded', 'overloaded', 'overloaded', 'ok'] } })
    const { reprise, calls, events } = world
    const policy = { maxAttempts: 1, kinds: { transient: { maxAttempts: 1 } } } as never
    const task = reprise.task('once', { policy }, async (_input: unknown, ctx) => {
      // The SDK would make three of each try.
      const { text } = await generateText({ model: ctx.model(FLASH), prompt: asking('DOC-42'), maxRetries: 2 })
      return text
    })
    const run = await reprise.submit(task, {})
    await world.work()
    expect(await run.result()).toMatchObject({
      ok: false,
      failure: { kind: 'transient', code: expect.stringMatching(/503|UNAVAILABLE|overloaded/i) },
    })
    expect(calls('DOC-42')).toHaveLength(3)
    expect(events.filter(({ name }) => name === 'call.repeated')).toHaveLength(2)
  })

  test('draws from a budget, and says so when it is used up', async () => {
    await using world = await ladderWorld({ script: { 'DOC-43': ['ok'], 'DOC-44': ['ok'] } })
    const { reprise, calls } = world
    const task = reprise.task('budget', {}, async (document: string, ctx) => {
      const model = ctx.model(FLASH, { budget: { name: 'few', day: 1 } })
      return (await generateText({ model, prompt: asking(document), maxRetries: 0 })).text
    })
    const first = await reprise.submit(task, 'DOC-43')
    await world.work()
    const second = await reprise.submit(task, 'DOC-44')
    await world.work()
    expect(await first.result()).toMatchObject({ ok: true })
    expect((await reprise.get(second.id))?.state).toBe('review')
    expect([calls('DOC-43').length, calls('DOC-44').length]).toEqual([1, 0])
  })

  test('a provider that refuses is not asked again by a handler that runs again', async () => {
    await using world = await ladderWorld({ script: { 'DOC-45': ['safety', 'ok'] } })
    const { reprise, calls } = world
    let executions = 0
    const task = reprise.task('refused', {}, async (_input: unknown, ctx) => {
      executions += 1
      const model = ctx.model(FLASH)
      const said = await generateText({ model, prompt: asking('DOC-45'), maxRetries: 0 })
      if (executions === 1) throw failure({ kind: 'interrupted', code: 'app.stop', message: 'once more' })
      return said.finishReason
    })
    const run = await reprise.submit(task, {})
    await world.work()
    expect(await run.result()).toMatchObject({ ok: true, value: 'content-filter' })
    expect([executions, calls('DOC-45')]).toEqual([2, ['flash safety']])
  })
})
