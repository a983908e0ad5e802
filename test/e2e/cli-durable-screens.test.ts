/**
 * The screens of the commands that need a store, at 80 columns: in colour, in a pipe, without colours, in ASCII.
 * The pictures are files beside this test; each is taken on its own copy of one store with a known past.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { FakeOptions } from '../../src/cli/fake-console.fixtures.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { widthOf } from '../../src/cli/terminal/text.ts'
import { type DurableWorld, durableWorld } from './durable-world.fixtures.ts'

const TTY = { isTTY: true, columns: 80, env: { TERM: 'xterm-256color', COLORTERM: 'truecolor', USER: 'ann' } } as const

const MODES: readonly (readonly [name: string, words: string, console: FakeOptions])[] = [
  ['terminal', '', TTY],
  ['pipe', '', { env: { USER: 'ann' } }],
  ['NO_COLOR', '', { ...TTY, env: { ...TTY.env, NO_COLOR: '1' } }],
  ['--plain', ' --plain', TTY],
]

const SCREENS: readonly (readonly [name: string, line: string])[] = [
  ['runs', 'runs'],
  ['runs-filtered', 'runs state:waiting since:1h'],
  ['runs-none', 'runs state:blocked task:greet'],
  ['runs-bad-filter', 'runs stat:waiting'],
  ['show-waiting', 'show bob'],
  ['show-right', 'show greet/ada'],
  ['show-failed', 'show r3'],
  ['show-person', 'show INV-20431'],
  ['show-scheduled', 'show r5'],
  ['show-told', 'show dan'],
  ['show-unknown', 'show r77'],
  ['explain', 'explain bob'],
  ['explain-one', 'explain INV-20431 2'],
  ['explain-no-attempt', 'explain bob 9'],
  ['stats', 'stats'],
  ['groups', 'groups'],
  ['groups-none', 'groups task:greet code:none.*'],
  ['help-groups', 'groups --help'],
  ['verify', 'verify --decisions'],
  ['retry-look', 'retry --where state:failed,review,succeeded'],
  ['retry-done', 'retry --where state:failed,review --yes'],
  ['retry-named', 'retry r3 ada'],
  ['cancel-look', 'cancel --where state:waiting'],
  ['cancel-named', 'cancel r2'],
  ['export-file', 'export key:ada --out ada.jsonl'],
  ['reprioritise-look', 'reprioritise --where state:waiting,ready,review --to -5'],
  ['reprioritise-named', 'reprioritise r7 r1 r4 --to -5'],
  ['reschedule-done', 'reschedule --where state:waiting --in 0s --yes'],
  ['reschedule-when', 'reschedule r2'],
  ['help-reschedule', 'reschedule --help'],
  ['purge-look', 'purge --older-than 10s'],
  ['purge-none', 'purge --older-than 30d --state failed'],
  ['purge-done', 'purge --older-than 0s --state succeeded,failed --unexported --yes'],
  ['purge-what', 'purge --yes'],
  ['purge-unexported', 'purge --older-than 30d --yes'],
  ['purge-bad-state', 'purge --older-than 1d --state succeded'],
  ['help-purge', 'purge --help'],
  ['help-vacuum', 'vacuum --help'],
  ['migrate', 'migrate'],
  ['submit', 'submit greet {"name":"Fay"} --key fay'],
  ['submit-again', 'submit greet {"name":"Ada","password":"hunter2"} --key ada'],
  ['submit-conflict', 'submit greet {"name":"Eva"} --key ada'],
  ['store-missing', 'runs --store sqlite:./nowhere.db'],
  ['store-other', 'runs --store postgres://app:s3cret@db:5432/reprise'],
  ['work-no-app', 'work'],
  ['help-runs', 'runs --help'],
  ['help-work', 'work --help'],
  ['help-retry', 'retry --help'],
]

let world: DurableWorld
beforeAll(async () => {
  world = await durableWorld()
})
afterAll(() => world.remove())

describe('screens of the durable commands', () => {
  test.each(SCREENS)('%s', async (name, line) => {
    const pictures: string[] = []
    for (const [mode, words, console] of MODES) {
      const cwd = await world.folder()
      const { out, err, exit } = await runLine(line + words, { ...console, cwd, clock: world.clock })
      const text = out + err
      for (const each of (out + err).split('\n')) expect(widthOf(each), each).toBeLessThanOrEqual(80)
      if (mode !== 'terminal') expect(text).not.toContain('\u001b')
      if (mode === '--plain') expect(text).toMatch(/^[\n -~]*$/)
      expect(text).not.toMatch(/s3cret|hunter2/)
      pictures.push(`──── ${mode}, exit ${exit}\n${text}`)
    }
    const picture = pictures.join('\n').replaceAll('\u001b', '␛')
    await expect(picture).toMatchFileSnapshot(`cli-durable-screens/${name}.txt`)
  })

  test.each([60, 120, 200])('no line is wider than a window of %i columns', async (columns) => {
    for (const [, line] of SCREENS) {
      const { out, err } = await runLine(line, { ...TTY, columns, cwd: await world.folder(), clock: world.clock })
      for (const text of (out + err).split('\n')) expect(widthOf(text), `${line}: ${text}`).toBeLessThanOrEqual(columns)
    }
  })
})
