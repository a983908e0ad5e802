/**
 * House rules that a linter does not know: words, clocks and chance outside `src/time`, length and headers.
 * Each rule gives one sentence per place that breaks it.
 */
import type { SourceFile } from './source-files.ts'

const LINES_MAX = 450

/** A longer file says why in its header comment with these words. */
const LENGTH_REASON = /Past \d+ lines because/

const BANNED_NAMES = /\/(utils?|helpers?|common|misc|types|shared)(\.ts$|\/)/

const BANNED_ANYWHERE: ReadonlyArray<readonly [pattern: RegExp, why: string]> = [
  [/\b(TODO|FIXME|XXX|HACK)\b/, 'finish it or file it'],
  [/@ts-(ignore|nocheck|expect-error)/, 'fix the type'],
]

const BANNED_IN_CODE: ReadonlyArray<readonly [pattern: RegExp, why: string]> = [
  [/\bas any\b|: any\b|<any>/, 'name the type'],
  [/\b(it|test|describe)\.(only|todo|skip)\(/, 'run it, or skip inside with a reason'],
  [/\b(enum|namespace) [A-Z]/, 'erasable syntax only'],
  [/\bclass \w+(Manager|Service|Impl|Helper)\b/, 'name what it is'],
  [/\binterface I[A-Z][a-z]/, 'no I prefix'],
]

/** Time and chance come in by `src/time`, so that everything else can be replayed. */
const OUTSIDE_TIME: ReadonlyArray<readonly [pattern: RegExp, use: string]> = [
  [/\bDate\.now\(|\bnew Date\(\)|\bDate\(\)/, 'Clock.now'],
  [/\bperformance\.now\(|\bprocess\.hrtime\b/, 'Clock.monotonic'],
  [/\b(setTimeout|setInterval|setImmediate)\(|node:timers|AbortSignal\.timeout\(/, 'Clock.sleep or Clock.after'],
  [/\bMath\.random\(/, 'Dice'],
  [/\brandomUUID\b|\brandomBytes\b|\bgetRandomValues\b|\brandomInt\b/, 'randomId'],
]

/** Finds broken rules in one file of `src`. */
export function untidy({ path, text }: SourceFile): string[] {
  const found: string[] = []
  const isTest = /\.(test|fixtures)\.ts$/.test(path)
  const lines = text.split('\n')
  if (BANNED_NAMES.test(path)) found.push(`${path}: the name says nothing; name the room or the thing`)
  if (lines.length > LINES_MAX && !LENGTH_REASON.test(text))
    found.push(`${path}: ${lines.length} lines; split it, or say "Past ${LINES_MAX} lines because …" in its header`)
  if (!isTest && !text.startsWith('/**')) found.push(`${path}: opens without a header that says what it is for`)
  lines.forEach((line, index) => {
    const at = `${path}:${index + 1}`
    for (const [pattern, why] of BANNED_ANYWHERE) if (pattern.test(line)) found.push(`${at}: ${why}: ${line.trim()}`)
    if (isComment(line)) return
    for (const [pattern, why] of BANNED_IN_CODE) if (pattern.test(line)) found.push(`${at}: ${why}: ${line.trim()}`)
    if (isTest || path.startsWith('src/time/')) return
    for (const [pattern, use] of OUTSIDE_TIME) if (pattern.test(line)) found.push(`${at}: use ${use}: ${line.trim()}`)
  })
  return found
}

const isComment = (line: string) => /^\s*(\*|\/\/|\/\*)/.test(line)
