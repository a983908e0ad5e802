/**
 * The command line's behaviour, run in process: what goes where, what bad input causes, and every exit code.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { describedProgram } from '../../scripts/cli-doc.ts'
import { examplesOf } from '../../src/cli/help.ts'
import { runLine } from '../../src/cli/run-line.fixtures.ts'
import { codes } from '../../src/failure/built-in.ts'

const TTY = { isTTY: true, env: { NO_COLOR: '1' } } as const
let cwd: string

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'reprise-cli-'))
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

const jsonOf = (out: string): unknown[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('words that are not understood', () => {
  test.each([
    ['retyr INV-1', 'There is no command retyr.'],
    ['clasify', 'There is no command clasify. Did you mean classify?'],
    ['help clasify', 'There is no command clasify. Did you mean classify?'],
    ['codes --jsn', 'There is no option --jsn. Did you mean --json?'],
    ['codes --famly=http', 'There is no option --famly. Did you mean --family?'],
    ['codes -x', 'There is no option -x.'],
    ['codes --kind transeint', 'There is no kind transeint. Did you mean transient?'],
    ['codes --family nothing', 'There is no family nothing.'],
    ['codes --kind', 'The option --kind <kind> needs a value.'],
    ['codes a b', 'codes was given more words than it takes: a b'],
    ['plan', 'There is nothing to plan: give an error or a kind.'],
    ['plan x.json --kind final', 'Either an error or a kind can be planned, not both'],
    ['plan --kind final --policy deamon', 'There is no policy deamon. Did you mean daemon?'],
    ['plan --kind final --told soon', '--told soon is not a duration.'],
    ['plan --kind final --now yesterday', 'yesterday is not an instant.'],
    ['classify', 'There are no errors to classify: stdin is the keyboard.'],
    ['classify missing.jsonl', 'The file missing.jsonl cannot be read.'],
    ['classify --rules missing.js x', 'The rules in missing.js cannot be loaded.'],
  ])('%s', async (line, message) => {
    const { exit, out, err } = await runLine(line, { ...TTY, columns: 120, cwd })
    expect(err).toContain(`error  ${message}`)
    expect(err).toContain('exit 2.')
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
  })

  test('the allowed policies are listed', async () => {
    const { err } = await runLine('plan --kind final --policy nonsense', { columns: 80 })
    expect(err).toContain('inCall, extraction, flowReport')
  })

  test('a stack is shown with --debug only', async () => {
    expect((await runLine('retyr')).err).not.toContain('    at ')
    expect((await runLine('retyr --debug')).err).toContain('    at ')
  })

  test('an escape sequence in a word does not reach the screen', async () => {
    const { err } = await runLine('\u001b]0;owned\u0007\u001b[2Jretyr', TTY)
    expect(err).toContain('There is no command retyr.')
    expect(err).not.toContain('\u001b')
  })
})

describe('help and version', () => {
  test('nothing at all is answered with help, as is an option without a command', async () => {
    const bare = await runLine('')
    expect(bare).toEqual(await runLine('--help'))
    expect(bare).toEqual(await runLine('help'))
    expect(bare.exit).toBe(0)
    expect(bare.out).toContain('Understand failures')
    expect((await runLine('--quiet')).exit).toBe(0)
  })

  test('the examples are right: every one that can be run here is answered', async () => {
    const program = describedProgram()
    const lines = program.commands.flatMap((command) => examplesOf(command).map((example) => example.line))
    const runnable = lines.filter((line) => /^reprise (codes|plan --kind)/.test(line))
    expect(runnable.length).toBeGreaterThan(3)
    for (const line of runnable) {
      const { exit, err } = await runLine(line.replace('reprise ', '').replaceAll("'", ''))
      expect({ line, exit, err }).toEqual({ line, exit: 0, err: '' })
    }
  })

  test('the version is one word', async () => {
    expect(await runLine('--version')).toEqual({ exit: 0, out: '0.1.0\n', err: '' })
  })

  test('global options work before and after the command', async () => {
    const after = await runLine('codes http.503 --json')
    expect(after).toEqual(await runLine('--json codes http.503'))
    expect(jsonOf(after.out)).toMatchObject([{ code: 'http.503', kind: 'transient' }])
  })
})

describe('classify', () => {
  const two = '{"status":503}\n\n"ECONNRESET"\n'

  test('writes one Failure per line into a pipe, and with --json to a terminal', async () => {
    const piped = await runLine('classify', { stdin: two })
    expect(jsonOf(piped.out)).toMatchObject([{ kind: 'transient', code: 'http.503' }, { kind: 'transient' }])
    expect(piped).toEqual(await runLine('classify --json', { ...TTY, stdin: two }))
    expect(piped.err).toBe('')
  })

  test('reads a file, and stdin by its name', async () => {
    await writeFile(join(cwd, 'errors.jsonl'), two)
    const file = await runLine('classify errors.jsonl', { cwd })
    expect(file).toEqual(await runLine('classify -', { stdin: two }))
  })

  test('goes on after a bad line, names it, and fails at the end', async () => {
    const { exit, out, err } = await runLine('classify', { stdin: '{"status":503}\n{oops\n{"status":429}\n' })
    expect(jsonOf(out)).toMatchObject([{ code: 'http.503' }, { kind: 'rate_limited' }])
    expect(err).toContain('error  Line 2 is not JSON')
    expect(err).toContain('BAD_LINES, exit 1.')
    expect(exit).toBe(1)
  })

  test('shows the first bad lines and counts the rest', async () => {
    const { err } = await runLine('classify', { stdin: 'x\n'.repeat(1_000) })
    expect(err.split('\n').length).toBeLessThan(20)
    expect(err).toContain('and 990 more')
  })

  test('takes text as text when asked', async () => {
    const { exit, out } = await runLine('classify --text', {
      stdin: 'connect ECONNREFUSED 10.0.0.1:5432\n{"status":503}\n',
    })
    expect(jsonOf(out)).toMatchObject([{ kind: 'transient' }, { code: 'http.503' }])
    expect(exit).toBe(0)
  })

  test.each([['null'], ['42'], ['[]'], ['{}'], ['"x"'], ['true']])('classifies %s, whatever it is', async (stdin) => {
    const { exit, out } = await runLine('classify', { stdin })
    expect(jsonOf(out)).toMatchObject([{ kind: expect.any(String), code: expect.any(String) }])
    expect(exit).toBe(0)
  })

  test('measures absolute times from --now', async () => {
    const stdin = '{"status":429,"headers":{"retry-after":"Sun, 15 Nov 2026 14:00:30 GMT"}}'
    const { out } = await runLine('classify --now 2026-11-15T14:00:00Z', { stdin })
    expect(jsonOf(out)).toMatchObject([{ kind: 'rate_limited', retryAfterMs: 30_000 }])
  })

  test('explains as data', async () => {
    const { out } = await runLine('classify --explain', { stdin: '{"status":503}' })
    expect(jsonOf(out)).toMatchObject([
      { failure: { code: 'http.503' }, rule: expect.any(String), considered: expect.any(Array) },
    ])
  })

  test('asks rules of the user first', async () => {
    const rule = `{ name: 'tea', when: { status: 418 }, kind: 'final', code: 'erp.teapot' }`
    await writeFile(join(cwd, 'rules.js'), `export const rules = [${rule}]`)
    const { out } = await runLine('classify --rules rules.js', { cwd, stdin: '{"status":418}' })
    expect(jsonOf(out)).toMatchObject([{ code: 'erp.teapot', rule: 'user/tea' }])
  })

  test.each([
    ['bad-rules.js', 'export default [{ name: "x" }]', 'cannot be used'],
    ['no-rules.js', 'export const other = 1', 'exports no rules'],
    ['broken-rules.js', 'export default [', 'cannot be loaded'],
  ])('tells what is wrong with %s', async (file, content, message) => {
    await writeFile(join(cwd, file), content)
    const { exit, err } = await runLine(`classify --rules ${file}`, { cwd, stdin: '{}' })
    expect(err).toContain(message)
    expect(exit).toBe(2)
  })

  test('shows no escape sequence of an error, on a terminal or as JSON', async () => {
    const evil = JSON.stringify({ status: 503, message: 'a\u001b]0;owned\u0007b\u001b[2Jc\u009b31md\u202ee\r\nf' })
    for (const options of [{ ...TTY, stdin: evil }, { stdin: evil }]) {
      const { out } = await runLine('classify --explain', options)
      expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
    }
  })

  test('never shows a secret', async () => {
    const stdin = '{"status":401,"message":"bad key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"}'
    for (const options of [{ ...TTY, stdin }, { stdin }]) {
      expect((await runLine('classify --explain', options)).out).not.toContain('abcdefghijklmnopqrstuvwxyz')
    }
  })
})

describe('codes', () => {
  test('lists all of them, one line each, also into a pipe', async () => {
    const { out } = await runLine('codes')
    expect(out.trimEnd().split('\n')).toHaveLength(codes().length + 1)
    expect(jsonOf((await runLine('codes --json')).out)).toHaveLength(codes().length)
  })

  test.each([
    ['--kind refused', (entry: { kind: string }) => entry.kind === 'refused'],
    ['--family http', (entry: { family: string }) => entry.family === 'http'],
    ['http.5*', (entry: { code: string }) => /^http\.5/.test(entry.code)],
    ['*.503', (entry: { code: string }) => /\.503$/.test(entry.code)],
    ['HTTP.50', (entry: { code: string }) => /http\.50/i.test(entry.code)],
  ])('%s', async (words, holds) => {
    const listed = jsonOf((await runLine(`codes ${words} --json`)).out)
    expect(listed.length).toBeGreaterThan(0)
    expect(listed).toEqual(codes().filter(holds))
  })

  test('an unknown code is a failure, with the nearest one', async () => {
    const { exit, err, out } = await runLine('codes http.5O3')
    expect(err).toContain('There is no code http.5O3. Did you mean http.503?')
    expect({ exit, out }).toEqual({ exit: 1, out: '' })
  })
})

describe('plan', () => {
  test('as data, with the failure it stands on', async () => {
    const { out } = await runLine('plan - --policy daemon --json', { stdin: '{"status":503}' })
    expect(jsonOf(out)).toMatchObject([{ policy: 'daemon', failure: { code: 'http.503' }, callsMax: 8, end: 'fail' }])
  })

  test('under a policy from a file, with a base', async () => {
    await writeFile(join(cwd, 'mine.json'), '{ "base": "daemon", "name": "mine", "maxAttempts": 2 }')
    const { out } = await runLine('plan --kind transient --policy mine.json --json', { cwd })
    expect(jsonOf(out)).toMatchObject([{ policy: 'mine', callsMax: 2 }])
  })

  test('with a told delay and a deadline', async () => {
    const { out } = await runLine('plan --kind rate_limited --told 20s --deadline 50s --json')
    expect(jsonOf(out)).toMatchObject([{ callsMax: 3 }])
  })

  test('with what a document costs at worst, by its length and by who is asked', async () => {
    await writeFile(join(cwd, 'short.txt'), 'Total: 3 EUR')
    await writeFile(join(cwd, 'long.txt'), 'x'.repeat(500_000))
    await writeFile(join(cwd, 's.json'), JSON.stringify({ title: 'y'.repeat(1_000_000) }))
    const line = 'plan --kind semantic --policy extraction'
    const usd = async (words: string) => {
      const { out } = await runLine(`${line} ${words} --json`, { cwd })
      return (jsonOf(out)[0] as { costMaxUsd: number }).costMaxUsd
    }
    const short = await usd('--document short.txt')
    // Half a million tokens three times at 0.30 and once at 1.25 dollars a million.
    expect((await usd('--document long.txt')) - short).toBeCloseTo(0.5 * (3 * 0.3 + 1.25), 4)
    expect((await usd('--document short.txt --schema s.json')) - short).toBeCloseTo(3 * 0.3 + 1.25, 4)
    expect(await usd('--document short.txt --models openai/gpt-5-nano')).toBeLessThan(short)
    expect(await usd('--document short.txt --models acme/unheard')).toBe(null)
    const { out } = await runLine(`${line} --document short.txt`, { cwd, columns: 120 })
    expect(out).toMatch(/money {3}at most \$0\.\d{4} \(gemini:flash 3 × \$0\.\d{4}, gemini:pro 1 × \$0\.\d{4}\)/)
  })

  test.each([
    ['--policy daemon --document a.txt', 'The policy daemon has no ladder that a document could climb.'],
    ['--policy extraction --document nowhere.txt', 'nowhere.txt cannot be read: there is no such file or folder.'],
    ['--policy extraction --document a.exe', 'a.exe cannot be read'],
    ['--policy extraction --schema s.json', '--schema is of a document.'],
    ['--policy extraction --document empty.txt', 'empty is empty'],
  ])('%s is asked wrongly', async (words, message) => {
    await writeFile(join(cwd, 'empty.txt'), '')
    await writeFile(join(cwd, 'a.exe'), '1')
    const { exit, err } = await runLine(`plan --kind semantic ${words}`, { cwd, columns: 120 })
    expect([exit, err]).toEqual([2, expect.stringContaining(message)])
  })

  test.each([
    ['{', 'is not JSON', 'NOT_JSON'],
    ['', 'is not JSON', 'NOT_JSON'],
    ['[]', 'a JSON object is needed', 'USAGE'],
    ['{ "maxAttempts": -1 }', 'policy.maxAttempts: -1 is not allowed', 'USAGE'],
    ['{ "maxAtempts": 1 }', 'maxAtempts is not a field', 'USAGE'],
    ['{ "base": "deamon" }', 'deamon is not a preset', 'USAGE'],
  ])('tells what is wrong with the policy %s', async (content, message, code) => {
    await writeFile(join(cwd, 'bad.json'), content)
    const { exit, err } = await runLine('plan --kind final --policy ./bad.json', {
      cwd,
      isTTY: true,
      columns: 120,
      env: { NO_COLOR: '1' },
    })
    expect(err.replaceAll(/\s+/g, ' ')).toContain(message)
    expect(err).toContain(`${code}, exit 2.`)
    expect(exit).toBe(2)
  })

  test('a folder, an empty input and half a value are told apart', async () => {
    expect((await runLine('plan .', { cwd })).err).toContain('it is a folder')
    expect((await runLine('plan -', { stdin: ' \n' })).err).toContain('it is empty')
    expect((await runLine('plan -', { stdin: '{"a":' })).err).toContain('stdin is not JSON')
  })
})
