/**
 * The yardstick: real errors with the expected answer, from a file that is not part of this repository.
 * Set REPRISE_CORPUS to its path; each line has `thrown`, `expected { kind, retry_after_ms, layer }` and perhaps `received_at` and `debatable`.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { classify } from './classify.ts'
import type { Kind } from './failure.ts'

interface Line {
  readonly id: string
  readonly thrown: unknown
  readonly expected: { readonly kind: Kind; readonly retry_after_ms?: number | null; readonly layer: string }
  readonly received_at?: string | number
  readonly debatable?: boolean
}

const KIND_MIN = 0.97
const RETRY_MIN = 0.99
const LAYER_MIN = 0.95

const isRetried = (kind: Kind): boolean => kind !== 'final' && kind !== 'refused' && kind !== 'conflict'

function readCorpus(path: string): Line[] {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line.debatable !== true)
}

describe('corpus', () => {
  it('is classified as expected', (context) => {
    const path = process.env['REPRISE_CORPUS']
    if (path === undefined || path === '')
      return context.skip('optional: REPRISE_CORPUS is not set, and the corpus is not part of this repository')
    const lines = readCorpus(path)
    const right = { kind: 0, retry: 0, delay: 0, layer: 0 }
    for (const { id, thrown, expected, received_at } of lines) {
      const now = received_at === undefined ? undefined : new Date(received_at).getTime()
      const got = classify(thrown, now === undefined ? {} : { now })
      const same = {
        kind: got.kind === expected.kind,
        retry: isRetried(got.kind) === isRetried(expected.kind),
        delay: (got.retryAfterMs ?? null) === (expected.retry_after_ms ?? null),
        layer: got.layer === expected.layer,
      }
      for (const part of ['kind', 'retry', 'delay', 'layer'] as const) {
        if (same[part]) right[part]++
        else
          console.log(
            `miss ${part}: ${id} expected ${JSON.stringify(expected)} got ${got.kind} ${got.layer} ${got.retryAfterMs ?? 'null'} by ${got.rule}`,
          )
      }
    }
    const share = (count: number): number => count / lines.length
    console.log(
      `corpus of ${lines.length}: kind ${share(right.kind)}, retry-or-not ${share(right.retry)}, delay ${share(right.delay)}, layer ${share(right.layer)}`,
    )
    expect(share(right.kind)).toBeGreaterThanOrEqual(KIND_MIN)
    expect(share(right.retry)).toBeGreaterThanOrEqual(RETRY_MIN)
    expect(share(right.delay)).toBe(1)
    expect(share(right.layer)).toBeGreaterThanOrEqual(LAYER_MIN)
  })
})
