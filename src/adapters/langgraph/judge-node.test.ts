import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KINDS } from '../../failure/failure.ts'
import { failure } from '../../failure/own.ts'
import { executionsBound } from '../../policy/executions-bound.ts'
import { presets } from '../../policy/presets.ts'
import { judgeNode } from './judge-node.ts'
import { FIRST_LOOP, type LoopState } from './state.ts'

const failures = fc.record({
  kind: fc.constantFrom(...KINDS),
  layer: fc.constantFrom('infrastructure' as const, 'workflow' as const),
  retryAfterMs: fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: undefined }),
})

describe('judgeNode', () => {
  test('any sequence of failures ends within the policy’s bound, and counts without a gap', () => {
    const policies = [presets.sqlAgent, presets.inCall, presets.extraction, presets.daemon]
    fc.assert(
      fc.property(
        fc.constantFrom(...policies),
        fc.infiniteStream(failures),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (policy, stream, dice) => {
          let loop: LoopState = FIRST_LOOP
          for (let attempt = 1; ; attempt++) {
            expect(attempt).toBeLessThanOrEqual(executionsBound(policy))
            const { kind, layer, retryAfterMs } = stream.next().value as {
              kind: (typeof KINDS)[number]
              layer: 'workflow' | 'infrastructure'
              retryAfterMs?: number
            }
            const told = retryAfterMs === undefined ? {} : { retryAfterMs }
            const found = failure({ kind, layer, code: 'any.thing', message: 'it failed', ...told }).failure
            const judged = judgeNode({ node: 'n', failure: found, policy, loop, now: 1_000, dice, mark: undefined })
            expect(judged.failed.of).toBeGreaterThanOrEqual(judged.failed.attempt)
            if (layer === 'infrastructure') expect(judged.failed.next).toBe('fail')
            if (judged.failed.next === 'fail' || judged.failed.next === 'person') return
            loop = judged.loop
          }
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('it is pure: the same situation gives the same answer, as plain data', () => {
    const situation = {
      node: 'n',
      failure: failure({ kind: 'semantic', code: 'gate.total', message: 'wrong' }).failure,
      policy: presets.sqlAgent,
      loop: FIRST_LOOP,
      now: 1_000,
      dice: 0.5,
      mark: 'a',
    }
    const judged = judgeNode(situation)
    expect(judgeNode(situation)).toEqual(judged)
    expect(JSON.parse(JSON.stringify(judged))).toEqual(judged)
  })
})
