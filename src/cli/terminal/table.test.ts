import { describe, expect, it } from 'vitest'
import { fakeConsole } from '../fake-console.fixtures.ts'
import { table } from './table.ts'
import { createTerminal } from './terminal.ts'
import { widthOf } from './text.ts'

const wishes = { json: false, plain: false, quiet: false, colour: true, debug: false }
const screenOf = (columns: number) =>
  createTerminal(fakeConsole({ isTTY: true, columns }), { ...wishes, plain: true }).out

const columns = [
  { header: 'run' },
  { header: 'why', flexible: true },
  { header: 'calls', align: 'right' },
  { header: 'age', droppable: true },
] as const
const rows = [
  ['INV-1', 'waits for gemini:flash until 14:02:10', '3', '1 m'],
  ['INV-20431', 'done', '12', '2 h'],
]

describe('table', () => {
  it('lines up columns and leaves no blanks at the end', () => {
    expect(table(screenOf(80), columns, rows)).toEqual([
      'run        why                                    calls  age',
      'INV-1      waits for gemini:flash until 14:02:10      3  1 m',
      'INV-20431  done                                      12  2 h',
    ])
  })

  it('cuts the flexible column before it gets too narrow, and keeps the rest', () => {
    expect(table(screenOf(50), columns, rows)).toEqual([
      'run        why                          calls  age',
      'INV-1      waits for gemini:flash u...      3  1 m',
      'INV-20431  done                            12  2 h',
    ])
  })

  it('drops what may go, from the right, when even that is not enough', () => {
    const narrow = table(screenOf(40), [{ header: 'a long name indeed' }, ...columns.slice(1)], rows)
    for (const line of narrow) expect(widthOf(line)).toBeLessThanOrEqual(40)
    expect(narrow.join('\n')).not.toContain('age')
  })

  it('shows a long cell whole where only the usual width is kept', () => {
    const wide = [
      { header: 'code', usual: 8 },
      { header: 'what helps', flexible: true },
    ]
    const lines = table(screenOf(40), wide, [
      ['http.503', 'Wait a little and try again; it may last.'],
      ['bigquery.rateLimitExceeded', 'Wait a little and try again.'],
    ])
    expect(lines).toEqual([
      'code      what helps',
      'http.503  Wait a little and try again...',
      'bigquery.rateLimitExceeded  Wait a li...',
    ])
  })

  it('has no header line when no column has a name', () => {
    expect(table(screenOf(80), [{ header: '' }, { header: '' }], [['a', 'b']], '  ')).toEqual(['  a  b'])
  })

  it('shows an empty list as its header', () => {
    expect(table(screenOf(80), columns, [])).toEqual(['run  why  calls  age'])
  })
})
