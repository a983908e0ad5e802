import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isEmptyLine, isIn, type Line, NO_LINE, nextToWake, type Waiter, withOut, without, withWaiter } from './turn.ts'

const waiter = (run: string, given: Partial<Waiter> = {}): Waiter => ({
  ...{ run, lane: 'a', place: 0, order: run, n: 0, max: 1 },
  ...given,
})
const lineOf = (...waiters: Waiter[]): Line => waiters.reduce(withWaiter, NO_LINE)

test('the first in the order of claims is woken, and only while there is room', () => {
  const line = lineOf(waiter('r2'), waiter('r1'), waiter('r3', { place: -1 }))
  expect(nextToWake(line)?.run).toBe('r3')
  expect(nextToWake(withOut(line, 'r9'))).toBeUndefined()
  expect(nextToWake(withWaiter(line, waiter('r3', { place: -1, ready: true })))).toBeUndefined()
})

test('a ready one behind keeps nobody waiting, nor does one of another lane', () => {
  const first = waiter('r1')
  expect(nextToWake(lineOf(first, waiter('r2', { ready: true })))?.run).toBe('r1')
  expect(nextToWake(lineOf(waiter('r0', { lane: 'b', ready: true }), first))?.run).toBe('r1')
})

test('who does not fit keeps those of its lane behind it, whatever they allow', () => {
  const line = withOut(lineOf(waiter('r1'), waiter('r2', { max: 5 }), waiter('r3', { max: 5, lane: 'b' })), 'r9')
  expect(nextToWake(line)?.run).toBe('r3')
})

test('a run is in the line once, or not at all', () => {
  const moves = fc.array(
    fc.record({
      run: fc.constantFrom('r1', 'r2', 'r3'),
      to: fc.constantFrom('out', 'parked', 'ready', 'gone'),
      place: fc.integer({ min: -2, max: 2 }),
    }),
  )
  fc.assert(
    fc.property(moves, (all) => {
      let line = NO_LINE
      for (const { run, to, place } of all) {
        if (to === 'out') line = withOut(line, run)
        else if (to === 'gone') line = without(line, run)
        else line = withWaiter(line, waiter(run, { place, ...(to === 'ready' ? { ready: true } : {}) }))
        const names = [...line.out, ...line.waiters.map((each) => each.run)]
        expect(new Set(names).size).toBe(names.length)
        expect(isIn(line, run)).toBe(to !== 'gone')
        expect(line.waiters.map((each) => each.place)).toEqual(
          line.waiters.map((each) => each.place).sort((a, b) => a - b),
        )
      }
      for (const { run } of all) line = without(line, run)
      expect(isEmptyLine(line)).toBe(true)
    }),
  )
})

test('waking one after the other ends with every lane either empty or full', () => {
  const lines = fc.record({
    out: fc.uniqueArray(fc.constantFrom('o1', 'o2', 'o3')),
    waiters: fc.uniqueArray(
      fc.record({ n: fc.nat(20), lane: fc.constantFrom('a', 'b'), max: fc.integer({ min: 1, max: 4 }) }),
      { selector: ({ n }) => n },
    ),
  })
  fc.assert(
    fc.property(lines, ({ out, waiters }) => {
      let line = lineOf(...waiters.map(({ n, lane, max }) => waiter(`r${n}`, { lane, max, place: n })))
      for (const run of out) line = withOut(line, run)
      let woken = 0
      for (let next = nextToWake(line); next; next = nextToWake(line)) {
        line = withWaiter(line, { ...next, ready: true })
        woken += 1
      }
      expect(woken).toBeLessThanOrEqual(waiters.length)
      for (const lane of ['a', 'b']) {
        const ofLane = line.waiters.filter((each) => each.lane === lane)
        const first = ofLane.findIndex(({ ready }) => !ready)
        if (first >= 0) expect(out.length + first).toBeGreaterThanOrEqual(ofLane[first]?.max ?? 0)
      }
    }),
  )
})
