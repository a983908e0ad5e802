import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readArrows, wrongArrows } from './arrows.ts'
import { filesUnder, root } from './source-files.ts'

const arrows = readArrows(readFileSync(`${root}ARCHITECTURE.md`, 'utf8'))

describe('rooms', () => {
  test('no import crosses a wall', () => {
    expect(wrongArrows(filesUnder('src', /\.ts$/), arrows)).toEqual([])
  })

  test('the table names every room there is', () => {
    const rooms = new Set(filesUnder('src', /\.ts$/).map(({ path }) => path.split('/')[1] ?? ''))
    expect([...rooms].filter((room) => !room.endsWith('.ts') && !arrows.has(room))).toEqual([])
  })

  const cases: Array<[why: string, path: string, text: string]> = [
    ['an outward arrow', 'src/failure/a.ts', "import { decide } from '../policy/decide.ts'"],
    ['a value where only types may pass', 'src/ports/a.ts', "import { apply } from '../run/apply.ts'"],
    ['a lazy import', 'src/time/a.ts', "const a = await import('../failure/failure.ts')"],
    ['a re-export', 'src/time/a.ts', "export { classify } from '../failure/classify.ts'"],
    ['an import over several lines', 'src/time/a.ts', "import {\n  a,\n  b,\n} from '../failure/classify.ts'"],
    ['a driver that knows another', 'src/stores/sqlite/a.ts', "import { b } from '../memory/b.ts'"],
    ['a room without a row', 'src/utils/a.ts', "import { b } from './b.ts'"],
    ['the public face from inside', 'src/policy/a.ts', "import { b } from '../index.ts'"],
  ]
  test.each(cases)('%s is refused', (_why, path, text) => {
    expect(wrongArrows([{ path, text }], arrows)).toHaveLength(1)
  })

  test('what the table allows passes', () => {
    const text = "import type { Run } from '../run/run.ts'\nimport { a } from './a.ts'\nimport fs from 'node:fs'"
    expect(wrongArrows([{ path: 'src/ports/store.ts', text }], arrows)).toEqual([])
  })
})
