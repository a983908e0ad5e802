import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BACKS_MAX, type ClimbFacts, climb, type Step, type TakeFacts, type TakeKind } from './climb.ts'
import { defaultLadder, ladder } from './ladder.ts'
import { person, rung } from './rung.ts'

const facts: ClimbFacts = { hasImage: false, roomOf: () => 65_536 }
const standard = defaultLadder().rungs
const FLASH = 0
const PRO = 1
const DESK = 2

let serial = 0
/** A take whose answer is like no other. */
const take = (on: number, kind: TakeKind, more: Partial<TakeFacts> = {}): TakeFacts => {
  serial += 1
  return { rung: on, kind, answer: `answer ${serial}`, fault: kind, ...more }
}

/** Climbs with these answers, one after the other, and tells every step that was made. */
function walk(
  rungs: typeof standard,
  answers: (step: Step, index: number) => TakeFacts | undefined,
  given = facts,
): Step[] {
  const takes: TakeFacts[] = []
  const steps: Step[] = []
  for (let index = 0; index < 100; index += 1) {
    const step = climb(rungs, takes, given)
    steps.push(step)
    const next = step.do === 'ask' || step.do === 'person' ? answers(step, index) : undefined
    if (!next) return steps
    takes.push(next)
  }
  throw new Error('it does not end')
}

const told = (step: Step): string =>
  step.do === 'ask'
    ? `${standard[step.rung]?.name}.${step.take}${step.mode === 'first' ? '' : ` ${step.mode}`}`
    : step.do === 'person'
      ? `person (${step.left?.reason})`
      : step.do

describe('the 27 paths of three cheap tries, with the strong one right or wrong and its budget open or used up', () => {
  const outcomes = ['ok', 'syntax', 'semantic'] as const
  const paths = outcomes.flatMap((a) => outcomes.flatMap((b) => outcomes.map((c) => [a, b, c] as const)))
  const cases = paths.flatMap((path) =>
    (['ok', 'fail'] as const).flatMap((strong) =>
      (['open', 'over'] as const).map((budget) => [path.join(' '), strong, budget, path] as const),
    ),
  )

  test('there are 108 of them', () => {
    expect(new Set(cases.map(([path, strong, budget]) => `${path} ${strong} ${budget}`)).size).toBe(108)
  })

  test.each(cases)('%s, strong %s, budget %s', (_name, strong, budget, path) => {
    const steps = walk(standard, (step) => {
      if (step.do === 'ask' && step.rung === FLASH) return take(FLASH, path[step.take - 1] as TakeKind)
      if (step.do === 'ask') return take(PRO, budget === 'over' ? 'exhausted' : strong === 'ok' ? 'ok' : 'semantic')
      return take(DESK, 'ok')
    })
    const rightAt = path.indexOf('ok')
    const cheap = ['gemini:flash.1', 'gemini:flash.2 correct', 'gemini:flash.3 correct']
    const expected =
      rightAt >= 0
        ? [...cheap.slice(0, rightAt + 1), 'done']
        : budget === 'over'
          ? [...cheap, 'gemini:pro.1 climb', 'person (exhausted)', 'done']
          : strong === 'ok'
            ? [...cheap, 'gemini:pro.1 climb', 'done']
            : [...cheap, 'gemini:pro.1 climb', 'person (spent)', 'done']
    expect(steps.map(told)).toEqual(expected)
  })
})

describe('a rung', () => {
  const bad = (on: number) => take(on, 'semantic')

  test('is left when the same answer fails in the same way twice', () => {
    const same = { rung: FLASH, kind: 'semantic', answer: 'a', fault: '/total gate.sum' } as const
    expect(climb(standard, [same, same], facts)).toMatchObject({
      do: 'ask',
      rung: PRO,
      left: { from: FLASH, reason: 'no_progress' },
    })
    expect(climb(standard, [same, { ...same, fault: 'other' }], facts)).toMatchObject({ rung: FLASH, take: 3 })
    expect(climb(standard, [same, { ...same, answer: 'b' }], facts)).toMatchObject({ rung: FLASH, take: 3 })
  })

  test('that the provider refuses is never asked again: a person gets it, past all models', () => {
    expect(climb(standard, [take(FLASH, 'refused')], facts)).toEqual({
      do: 'person',
      rung: DESK,
      round: 1,
      isLate: false,
      left: { from: FLASH, reason: 'refused' },
    })
    const models = ladder([rung('google/gemini-flash-latest'), rung('google/gemini-pro-latest')]).rungs
    expect(climb(models, [take(FLASH, 'refused')], facts)).toEqual({
      do: 'fail',
      left: { from: FLASH, reason: 'refused' },
    })
  })

  test('whose answer cannot be judged goes to a person', () => {
    expect(climb(standard, [take(FLASH, 'bug')], facts)).toMatchObject({ do: 'person', left: { reason: 'bug' } })
  })

  test('without a budget left waits, goes on, or asks a person, as it says', () => {
    const used = (onExhausted: 'person' | 'next' | 'wait', until?: number) =>
      climb(
        [
          rung('google/gemini-flash-latest', { onExhausted }),
          rung('google/gemini-pro-latest'),
          person({ queue: 'desk' }),
        ],
        [take(FLASH, 'exhausted', until === undefined ? {} : { until })],
        facts,
      )
    expect(used('wait', 5)).toEqual({ do: 'wait', rung: FLASH, until: 5 })
    expect(used('wait')).toMatchObject({ do: 'person', rung: 2 })
    expect(used('next', 5)).toMatchObject({ do: 'ask', rung: PRO, mode: 'first' })
    expect(used('person', 5)).toMatchObject({ do: 'person', rung: 2, left: { reason: 'exhausted' } })
  })

  test('gives an answer that was cut off twice the room, up to what the model has; then it asks for less', () => {
    const rungs = [rung('google/gemini-flash-latest', { attempts: 5, maxOutputTokens: 1_000 })]
    const same = { rung: FLASH, kind: 'truncated', answer: 'a', fault: 'f' } as const
    const steps = walk(rungs, (_step, index) => (index < 4 ? same : undefined), { ...facts, roomOf: () => 3_000 })
    expect(steps.map((step) => step.do === 'ask' && [step.maxOutputTokens, step.less])).toEqual([
      [1_000, false],
      [2_000, false],
      [3_000, false],
      [3_000, true],
      [3_000, true],
    ])
  })

  test('sees the image from the first correction on, and a higher one at once', () => {
    const steps = walk(standard, (step) => (step.do === 'ask' ? bad(step.rung) : undefined), {
      ...facts,
      hasImage: true,
    })
    expect(steps.flatMap((step) => (step.do === 'ask' ? [step.withImage] : []))).toEqual([false, true, true, true])
  })

  test('a ladder without a person ends when its rungs are spent', () => {
    const steps = walk([rung('google/gemini-flash-latest', { attempts: 2 })], (step) =>
      step.do === 'ask' ? bad(step.rung) : undefined,
    )
    expect(steps.at(-1)).toEqual({ do: 'fail', left: { from: FLASH, reason: 'spent' } })
  })
})

describe('a desk', () => {
  const refusedThere = [take(FLASH, 'refused')]

  test('is asked again when the gate refuses its answer, within a bound', () => {
    const steps = walk([rung('google/gemini-flash-latest'), person({ queue: 'desk', attempts: 3 })], (step) =>
      step.do === 'person' ? take(1, 'semantic') : take(FLASH, 'refused'),
    )
    expect(steps.map((step) => (step.do === 'person' ? step.round : step.do))).toEqual(['ask', 1, 2, 3, 'fail'])
  })

  test('sends back to a rung, which then has all its takes again', () => {
    const takes = [...refusedThere, take(DESK, 'back', { to: FLASH })]
    expect(climb(standard, takes, facts)).toMatchObject({ do: 'ask', rung: FLASH, take: 2, mode: 'hint' })
    const steps = walk(standard, (step, index) =>
      index < takes.length ? takes[index] : step.do === 'ask' ? take(step.rung, 'syntax') : undefined,
    )
    expect(steps.slice(2).map(told)).toEqual([
      'gemini:flash.2 hint',
      'gemini:flash.3 correct',
      'gemini:flash.4 correct',
      'gemini:pro.1 climb',
      'person (spent)',
    ])
  })

  test('cannot send back for ever', () => {
    const steps = walk(standard, (step) =>
      step.do === 'ask' ? take(step.rung, 'refused') : take(DESK, 'back', { to: FLASH }),
    )
    expect(steps.filter((step) => step.do === 'person')).toHaveLength(BACKS_MAX + 1)
    expect(steps.at(-1)).toMatchObject({ do: 'fail' })
  })

  test('that rejects ends it', () => {
    expect(climb(standard, [...refusedThere, take(DESK, 'rejected')], facts)).toEqual({
      do: 'fail',
      left: { from: DESK, reason: 'rejected' },
    })
  })

  test('that is late hands over to the next desk; the last one keeps it', () => {
    const two = [...standard, person({ queue: 'lead' })]
    const late = [...refusedThere, take(DESK, 'overdue')]
    expect(climb(two, late, facts)).toMatchObject({ do: 'person', rung: 3, left: { reason: 'overdue' } })
    expect(climb(standard, late, facts)).toMatchObject({ do: 'person', rung: DESK, round: 2, isLate: true })
  })
})

test('every climb ends, is the same when it is climbed again, and asks no rung more than it allows', () => {
  const kinds = ['ok', 'syntax', 'empty', 'truncated', 'semantic', 'refused', 'exhausted', 'bug'] as const
  const atDesk = ['ok', 'semantic', 'back', 'rejected', 'bug'] as const
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean()), { minLength: 1, maxLength: 4 }),
      fc.infiniteStream(fc.nat({ max: 1_000 })),
      (shape, chance) => {
        const rungs = shape.map(([attempts, isDesk], index) =>
          isDesk
            ? person({ queue: `desk${index}`, attempts })
            : rung('google/gemini-flash-latest', { attempts, name: `rung${index}` }),
        )
        const takes: TakeFacts[] = []
        for (let index = 0; index < 2_000; index += 1) {
          const step = climb(rungs, takes, facts)
          expect(climb(rungs, takes, facts)).toEqual(step)
          if (step.do !== 'ask' && step.do !== 'person') return
          const dice = chance.next().value
          const kind = step.do === 'ask' ? kinds[dice % kinds.length] : atDesk[dice % atDesk.length]
          takes.push({
            rung: step.rung,
            kind: kind as TakeKind,
            answer: `a${dice % 3}`,
            fault: 'f',
            to: dice % rungs.length,
          })
        }
        throw new Error('it does not end')
      },
    ),
    { numRuns: 300 },
  )
})
