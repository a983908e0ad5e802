import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAnswer } from './read-answer.ts'

const value = { number: 'R-1', lines: [{ total: 1 }] }
const text = JSON.stringify(value)

describe('what costs no second call', () => {
  test.each<[string, string]>([
    ['a fence', `\`\`\`json\n${text}\n\`\`\``],
    ['a fence in prose', `Here it is:\n\n\`\`\`\n${text}\n\`\`\`\nAnything else?`],
    ['prose around it', `The answer is ${text}. It has [1] line.`],
    ['a note in brackets before it', `As asked [see 1]: ${text}`],
    ['a trailing comma', '{"number": "R-1", "lines": [{"total": 1},],}'],
    ['single quotes', "{'number': 'R-1', 'lines': [{'total': 1}]}"],
    ['bare keys and comments', '{number: "R-1", /* one */ lines: [{total: 1}]}'],
    ['a missing comma', '{"number": "R-1" "lines": [{"total": 1}]}'],
  ])('%s', (_what, answer) => {
    expect(readAnswer(answer, false)).toEqual({ ok: true, value, repaired: true })
  })

  test('plain JSON is not repaired, whatever it is', () => {
    expect(readAnswer(` ${text}\n`, false)).toEqual({ ok: true, value, repaired: false })
    expect(readAnswer('null', false)).toEqual({ ok: true, value: null, repaired: false })
    expect(readAnswer(text, true)).toEqual({ ok: true, value, repaired: false })
  })
})

describe('what has to be asked for again', () => {
  test.each<[string, string, string]>([
    ['nothing', '  ', 'empty'],
    ['prose', 'I cannot read this document.', 'syntax'],
    ['half of it', text.slice(0, -3), 'syntax'],
    ['half of a fence', `\`\`\`json\n${text.slice(0, 20)}`, 'syntax'],
    ['half of a text', '{"number": "R-', 'syntax'],
  ])('%s', (_what, answer, kind) => {
    expect(readAnswer(answer, false)).toMatchObject({ ok: false, kind })
    expect(readAnswer(answer, true)).toMatchObject({ ok: false, kind: 'truncated' })
  })

  test('a brace that the model forgot is added, and nothing else', () => {
    expect(readAnswer('{"lines": [{"total": 1}], "total": 1', false)).toEqual({
      ok: true,
      value: { lines: [{ total: 1 }], total: 1 },
      repaired: true,
    })
    for (const open of [
      '{"lines": [{"total": 1}',
      '[{"total": 1}',
      '{"total": 1,',
      '{"total":',
      '{',
      '{"a": {"b": 1}, "c": {"d": 1',
    ]) {
      expect(readAnswer(open, false)).toMatchObject({ ok: false, kind: 'syntax' })
    }
    expect(readAnswer('{"total": 1', true)).toMatchObject({ ok: false, kind: 'truncated' })
  })

  test('no beginning of an answer has a list, an object or a text that is shorter than it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.double({ min: 0, max: 1, noNaN: true }), (inner, part) => {
        const whole = JSON.stringify({ first: inner, last: 'end' })
        const cut = whole.slice(0, Math.floor(part * (whole.length - 1)))
        const reading = readAnswer(cut, false)
        if (!reading.ok) return
        const { first, ...more } = reading.value as { first: unknown; last?: unknown }
        if (typeof inner !== 'number') expect(first).toEqual(JSON.parse(JSON.stringify(inner)))
        expect(Object.values(more).every((last) => last === 'end')).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

test('anything at all is read without a throw, in time that its length bounds', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), fc.boolean(), (answer, cutOff) => {
      const reading = readAnswer(answer, cutOff)
      expect(reading.ok || reading.message).toBeTruthy()
    }),
    { numRuns: 500 },
  )
})
