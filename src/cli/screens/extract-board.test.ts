import { expect, test } from 'vitest'
import type { RepriseEvent } from '../../run/event.ts'
import { fakeConsole } from '../fake-console.fixtures.ts'
import { BLOCK_LINES_MAX } from '../terminal/live-block.ts'
import { createTerminal } from '../terminal/terminal.ts'
import { widthOf } from '../terminal/text.ts'
import { boardLines, boardSummary, createExtractBoard, finishedLine } from './extract-board.ts'

const wishes = { json: false, plain: false, quiet: false, colour: false, debug: false }
const { out: screen } = createTerminal(fakeConsole({ isTTY: true, columns: 80 }), wishes)
const NOW = Date.UTC(2026, 10, 16, 14, 0, 0)
const facts = { elapsedMs: 14_000, before: 0, now: NOW, zone: 'UTC', foot: 'Ctrl-C is safe.' }

/** Events as the engine tells them, with what this board looks at. */
const event = (name: string, run: string, fields: object = {}) =>
  ({
    name,
    at: NOW,
    run,
    task: 'extract',
    generation: 1,
    attempt: 1,
    worker: 'w',
    ...fields,
  }) as unknown as RepriseEvent
const failure = (kind: string, code: string, retryAfterMs?: number) => ({
  kind,
  code,
  message: 'x',
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
})

function board(names: readonly string[]) {
  const made = createExtractBoard()
  for (const [index, name] of names.entries()) made.add(`r${index + 1}`, name)
  return made
}

test('the block keeps its height and its window, whatever happens', () => {
  const made = board(['INV-1', 'INV-2', 'INV-3', 'INV-4', 'INV-5'])
  const heights = new Set<number>()
  const look = () => {
    const lines = boardLines(made, facts, screen, 60)
    heights.add(lines.length)
    return lines.join('\n')
  }
  look()
  for (const run of ['r1', 'r2', 'r3', 'r4']) made.hear(event('attempt.started', run))
  made.hear(event('call.sent', 'r1', { call: 'document/gemini:flash.1' }))
  made.hear(
    event('call.repeated', 'r1', {
      code: 'gemini.quota',
      delayMs: 3_000,
      failure: failure('rate_limited', 'gemini.quota', 3_000),
    }),
  )
  expect(look()).toContain('● INV-1  ‖  gemini.quota: waits 3 s as told, then the same again')
  made.hear(event('hold.set', '', { what: 'resource:gemini:flash', until: NOW + 130_000 }))
  made.hear(event('run.suspended', 'r1'))
  expect(look()).toContain('‖ 2 wait for gemini:flash until 14:02:10')
  made.hear(event('hold.released', '', { what: 'resource:gemini:flash' }))
  expect(look()).not.toContain('wait for gemini:flash')
  made.hear(event('run.succeeded', 'r2'))
  expect(look()).toMatch(/1 of 5 {3}0:14/)
  expect([...heights]).toEqual([expect.any(Number)])
  expect(Math.max(...heights)).toBeLessThanOrEqual(BLOCK_LINES_MAX)
})

test('a document of which a person has decided counts again', () => {
  const made = board(['INV-1'])
  made.hear(event('attempt.started', 'r1'))
  made.hear(event('run.review', 'r1', { why: {} }))
  expect(made.share).toBe(1)
  made.hear(event('attempt.started', 'r1'))
  expect(made.share).toBe(0)
  made.hear(event('run.succeeded', 'r1'))
  expect(made.share).toBe(1)
  expect(boardSummary(made)).toBe('1 of 1: 1 right, 0 with a person, 0 failed; 0 calls, $0.000')
})

test('a line for a document that took more than one take: half a code is no code', () => {
  const made = board(['INV-1'])
  made.hear(
    event('answer.refused', 'r1', { how: 'semantic', codes: ['gate.a-rule-with-a-name-that-goes-on-and-on-and-on'] }),
  )
  made.hear(event('rung.left', 'r1', { reason: 'no_progress', to: 'gemini:pro' }))
  made.hear(event('ask.ended', 'r1', { solvedBy: 'rung' }))
  const ended = made.hear(event('run.succeeded', 'r1'))
  const line = ended ? finishedLine(ended, screen) : ''
  expect(line).toBe('↻ INV-1  ≠  semantic      same answer twice, gemini:pro: right')
  expect(widthOf(line)).toBeLessThan(80)
})
