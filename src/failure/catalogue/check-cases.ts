/**
 * Runs tables of thrown values against `classify`, as given and as the JSON copy a log or queue would keep.
 * For tests only: it knows the row's form, not the rules.
 */
import { describe, expect, it } from 'vitest'
import { classify } from '../classify.ts'
import type { Kind, Layer } from '../failure.ts'

export interface Wanted {
  readonly code?: string
  readonly delay?: number
  readonly layer?: Layer
  readonly now?: number
}

export type Row = readonly [title: string, thrown: unknown, kind: Kind, wanted?: Wanted]

/** What survives `JSON.stringify` of an error the way loggers do it: own fields and the three that are not enumerable. */
function jsonCopy(thrown: unknown): unknown {
  return JSON.parse(
    JSON.stringify(thrown, (_, value: unknown) =>
      value instanceof Error ? { ...value, name: value.name, message: value.message, cause: value.cause } : value,
    ),
  )
}

/** `copies: false` for values whose evidence does not survive JSON: Response, DOMException, AggregateError. */
export function checkCases(
  tables: Readonly<Record<string, readonly Row[]>>,
  { copies = true }: { copies?: boolean } = {},
): void {
  for (const [family, rows] of Object.entries(tables)) {
    describe(family, () => {
      for (const [title, thrown, kind, wanted = {}] of rows) {
        it(`${title} → ${kind}`, () => {
          const options = wanted.now === undefined ? {} : { now: wanted.now }
          for (const value of copies ? [thrown, jsonCopy(thrown)] : [thrown]) {
            const failure = classify(value, options)
            expect({ kind: failure.kind, rule: failure.rule }).toEqual({ kind, rule: failure.rule })
            if ('code' in wanted) expect(failure.code).toBe(wanted.code)
            if ('layer' in wanted) expect(failure.layer).toBe(wanted.layer)
            expect(failure.retryAfterMs).toBe(wanted.delay)
            expect(classify(failure)).toEqual(failure)
          }
        })
      }
    })
  }
}
