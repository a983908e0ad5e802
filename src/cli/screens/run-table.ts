/**
 * Runs as a list: glyph and word of the state, id, task, key, the marks of its attempts, now and why, age.
 */
import { KINDS, type Kind } from '../../failure/failure.ts'
import type { RunRow } from '../../ops/index.ts'
import type { StateWord } from '../../run/run.ts'
import { KIND_SIGNS, STATE_SIGNS } from '../terminal/palette.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { pad, widthOf } from '../terminal/text.ts'

/** Marks that fit beside a sentence; the newest are the ones that matter. */
const MARKS_SHOWN = 6

/** The reason is the column that a person reads: the others make room for it. */
const WHY_COLUMNS_MIN = 32

export function runTable(rows: readonly RunRow[], screen: Screen): string[] {
  const widest = (cell: (row: RunRow) => string) => Math.max(0, ...rows.map((row) => widthOf(cell(row))))
  const keys = widest(({ run }) => screen.text(run.key ?? ''))
  const marks = widest((row) => marksCell(row.marks, screen))
  const fixed = widest(({ word }) => stateCell(word, screen)) + widest(({ run }) => run.id + run.task) + AGE_COLUMNS
  const room = Math.max(screen.window, screen.columns) - fixed - WHY_COLUMNS_MIN - 8
  const hasKeys = keys > 0 && room >= keys + 2
  const hasMarks = marks > 0 && room >= marks + 2 + (hasKeys ? keys + 2 : 0)
  return table(
    screen,
    [
      { header: 'state' },
      { header: 'run' },
      { header: 'task' },
      ...(hasKeys ? [{ header: 'key' }] : []),
      ...(hasMarks ? [{ header: 'story' }] : []),
      { header: 'now and why', flexible: true },
      { header: 'age', align: 'right' as const },
    ],
    rows.map(({ run, word, marks: signs, sentence, ageMs }) => [
      stateCell(word, screen),
      screen.text(run.id),
      screen.text(run.task),
      ...(hasKeys ? [screen.text(run.key ?? '')] : []),
      ...(hasMarks ? [marksCell(signs, screen)] : []),
      screen.text(sentence),
      screen.paint.dim(ageText(ageMs)),
    ]),
  )
}

const AGE_COLUMNS = 5

/** One unit will do for an age: `9 s`, `3 m`, `2 h`, `5 d`. */
function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m`
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** The glyph padded to the widest of its form, so that the words line up. */
export function stateCell(word: StateWord, screen: Screen): string {
  const widest = Math.max(...Object.values(STATE_SIGNS).map((sign) => (screen.ascii ? sign.ascii : sign.glyph).length))
  return `${pad(screen.state(word), widest)} ${word}`
}

function marksCell(marks: RunRow['marks'], screen: Screen): string {
  const shown = marks
    .slice(-MARKS_SHOWN)
    .map((mark) => screen.sign(isKind(mark) ? KIND_SIGNS[mark] : STATE_SIGNS[mark]))
  return `${marks.length > MARKS_SHOWN ? screen.ellipsis : ''}${shown.join(' ')}`
}

const isKind = (mark: RunRow['marks'][number]): mark is Kind => KINDS.some((kind) => kind === mark)
