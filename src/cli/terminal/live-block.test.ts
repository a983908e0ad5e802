import { describe, expect, it } from 'vitest'
import { virtualClock } from '../../testing/virtual-clock.ts'
import { fakeConsole } from '../fake-console.fixtures.ts'
import { BLOCK_LINES_MAX, type LiveBlockOptions, startLiveBlock } from './live-block.ts'
import { createTerminal } from './terminal.ts'

const wishes = { json: false, plain: false, quiet: false, colour: true, debug: false }

function start(
  options: { isTTY: boolean; rows?: number; env?: Record<string, string> },
  paint?: LiveBlockOptions['paint'],
) {
  const console = fakeConsole({ rows: 40, ...options, env: { NO_COLOR: '1', ...options.env } })
  const clock = virtualClock()
  const state = { done: 0, total: 20 }
  const block = startLiveBlock({
    screen: createTerminal(console, wishes).out,
    clock,
    paint: paint ?? (() => [`${state.done} of ${state.total}`, 'Ctrl-C is safe.']),
    progress: () => ({ share: state.done / state.total, line: `${state.done} of ${state.total}` }),
  })
  return { block, console, clock, state }
}

/** What a person would see: the few cursor codes that the block uses, obeyed. */
function screenAfter(text: string): string[] {
  const lines: string[] = ['']
  let row = 0
  for (const piece of text.split(/(\u001b\[\d+A\r\u001b\[J|\n)/)) {
    const up = /^\u001b\[(\d+)A/.exec(piece)
    if (up) {
      row -= Number(up[1])
      lines.length = row
      lines[row] = ''
    } else if (piece === '\n') {
      row += 1
      lines[row] = ''
    } else lines[row] += piece
  }
  return lines
}

describe('live block on a terminal', () => {
  it('paints at once, then at most ten times a second however often it is told', async () => {
    const { block, console, clock, state } = start({ isTTY: true })
    expect(console.writes).toHaveLength(1)
    for (let ms = 0; ms < 1_000; ms += 1) {
      state.done = Math.floor(ms / 50)
      block.update()
      await clock.advance(1)
    }
    expect(console.writes.length).toBeLessThanOrEqual(11)
    expect(screenAfter(console.written.out)).toEqual(['19 of 20', 'Ctrl-C is safe.', ''])
    block.close()
  })

  it('lets finished lines scroll above the block and stay', async () => {
    const { block, console, clock } = start({ isTTY: true })
    block.log('INV-1 asked again')
    block.log('INV-2 waited')
    await clock.advance(100)
    block.log('INV-3 ended')
    await clock.advance(100)
    expect(screenAfter(console.written.out)).toEqual([
      'INV-1 asked again',
      'INV-2 waited',
      'INV-3 ended',
      '0 of 20',
      'Ctrl-C is safe.',
      '',
    ])
    block.close()
  })

  it('takes the block away at the end, says the rest, and paints no more', async () => {
    const { block, console, clock } = start({ isTTY: true })
    block.log('last one')
    block.close('done.')
    block.close('twice')
    await clock.advance(5_000)
    expect(screenAfter(console.written.out)).toEqual(['last one', 'done.', ''])
    expect(clock.pending()).toBe(0)
  })

  it('moves its clocks once a second when nothing happens', async () => {
    const { block, console, clock } = start({ isTTY: true })
    await clock.advance(3_050)
    expect(console.writes).toHaveLength(4)
    block.close()
  })

  it('is never higher than fourteen lines, nor than the window', () => {
    const many = () => Array.from({ length: 30 }, (_, index) => `line ${index}`)
    const high = start({ isTTY: true }, many)
    expect(high.console.written.out.split('\n')).toHaveLength(BLOCK_LINES_MAX + 1)
    const low = start({ isTTY: true, rows: 6 }, many)
    expect(low.console.written.out.split('\n')).toHaveLength(6)
    high.block.close()
    low.block.close()
  })

  it('counts folded lines when the window gets narrower, so that no old line is left behind', async () => {
    const { block, console, clock } = start({ isTTY: true }, (columns) => ['x'.repeat(columns + 10), 'end'])
    expect(console.written.out.split('\n')[0]).toHaveLength(79)
    console.resize(40)
    await clock.advance(100)
    // 79 columns fold into two rows of 40, plus the row of "end".
    expect(console.writes.at(-1)).toContain('\u001b[3A\r\u001b[J')
    expect(console.writes.at(-1)?.split('\n')[0]).toHaveLength('\u001b[3A\r\u001b[J'.length + 39)
    block.close()
  })
})

describe('live block in a very narrow window', () => {
  it('counts by the real width, not by the narrowest layout', async () => {
    const { block, console, clock } = start({ isTTY: true }, () => ['x'.repeat(100)])
    console.resize(20)
    await clock.advance(100)
    expect(console.writes.at(-1)).toContain('\u001b[4A\r')
    expect(console.writes.at(-1)?.split('\n')[0]).toHaveLength('\u001b[4A\r\u001b[J'.length + 19)
    block.close()
  })
})

describe('live block in a log', () => {
  it.each([
    ['a pipe', { isTTY: false }],
    ['a build server', { isTTY: true, env: { CI: 'true' } }],
    ['a dumb terminal', { isTTY: true, env: { TERM: 'dumb' } }],
  ])('writes one line for each tenth to %s, and no codes', async (_, options) => {
    const { block, console, state, clock } = start(options)
    for (state.done = 1; state.done <= state.total; state.done += 1) {
      block.update()
      await clock.advance(10)
    }
    block.close('done.')
    expect(console.written.out.split('\n')).toEqual([
      ...Array.from({ length: 10 }, (_unused, index) => `${(index + 1) * 2} of 20`),
      'done.',
      '',
    ])
    expect(console.written.out).not.toContain('\u001b')
  })

  it('gives a sign of life every ten seconds, if there is something new to say', async () => {
    const { block, console, state, clock } = start({ isTTY: false })
    state.done = 1
    await clock.advance(10_000)
    await clock.advance(20_000)
    expect(console.written.out).toBe('1 of 20\n')
    block.close()
  })

  it('says nothing when it should be quiet', () => {
    const console = fakeConsole({ isTTY: true })
    const block = startLiveBlock({
      screen: createTerminal(console, wishes).out,
      clock: virtualClock(),
      paint: () => ['x'],
      progress: () => ({ share: 0, line: 'x' }),
      quiet: true,
    })
    block.log('y')
    block.update()
    block.close('z')
    expect(console.written.out).toBe('')
  })
})
