/**
 * `classify`: any thrown value in, one Failure out. Total, pure and bounded; gather evidence, weigh it, write the record.
 * It knows the order of these steps; shapes, rules and delays live in their own files.
 */

import { FACT_MAX, MESSAGE_MAX } from './bounds.ts'
import { builtIn } from './built-in.ts'
import type { RuleSet } from './define-rules.ts'
import type { Evidence } from './evidence.ts'
import { type Explanation, explainVerdict } from './explain.ts'
import { type FactValue, type Failure, type Kind, UNKNOWN_CODE } from './failure.ts'
import { gather } from './gather.ts'
import { safeText } from './mask-secrets.ts'
import { layerOf, SPEAKERS } from './rule.ts'
import { applyUserRules, type UserHit } from './user-rules.ts'
import { type Verdict, weigh } from './weigh.ts'

export interface ClassifyOptions {
  /** Epoch milliseconds at which the error was received. Absolute times are left out without it. */
  readonly now?: number
  /** Your own rules, asked before the built-in ones. */
  readonly rules?: RuleSet
}

/** A told delay means something only where waiting helps. */
const WAITS: ReadonlySet<Kind> = new Set(['transient', 'rate_limited', 'exhausted', 'interrupted'])

const UNKNOWN_ADVICE =
  'No rule knows this error: look at the message, and add a rule or throw a failure() that names it.'

interface Judged {
  readonly failure: Failure
  readonly evidence: Evidence
  readonly user: UserHit | undefined
  readonly verdict: Verdict | undefined
}

function judge(thrown: unknown, options: ClassifyOptions | undefined): Judged {
  const evidence = gather(thrown, options?.now)
  if (evidence.own !== undefined) return { failure: evidence.own, evidence, user: undefined, verdict: undefined }
  const verdict = weigh(evidence, builtIn())
  const user = options?.rules === undefined ? undefined : applyUserRules(options.rules, evidence)
  return { failure: write(thrown, evidence, verdict, user), evidence, user, verdict }
}

function write(thrown: unknown, evidence: Evidence, verdict: Verdict, user: UserHit | undefined): Failure {
  const entry = user?.rule ?? verdict.entry
  const kind = entry?.kind ?? 'transient'
  const retryAfterMs = user?.rule.retryAfterMs ?? (WAITS.has(kind) ? verdict.told?.ms : undefined)
  const facts = factsOf(evidence, verdict)
  const record: { -readonly [Key in keyof Failure]: Failure[Key] } = {
    kind,
    code: entry?.code ?? UNKNOWN_CODE,
    layer: entry?.layer ?? layerOf(kind),
    message:
      messageOf(evidence, verdict) ||
      safeText(nameless(thrown, evidence), MESSAGE_MAX) ||
      'an unreadable error was thrown',
    advice: entry?.advice ?? UNKNOWN_ADVICE,
    rule: user !== undefined ? `user/${user.rule.name}` : (verdict.winner?.match.rule ?? 'unknown/none'),
  }
  if (retryAfterMs !== undefined) record.retryAfterMs = retryAfterMs
  if (facts !== undefined) record.facts = facts
  return record
}

/** The outermost sentence, and the one that decided when it is another: "fetch failed: connect ECONNREFUSED …". */
function messageOf(evidence: Evidence, verdict: Verdict): string {
  const { texts } = evidence
  let first = 0
  // `429` or `Error` before a JSON body is no sentence; the body's own message is.
  while (
    first + 1 < texts.length &&
    !/[A-Za-z]{2}.*[ _][A-Za-z]{2}/.test((texts[first] as string).slice(0, 80)) &&
    (texts[first + 1] as string).length > 8
  )
    first++
  const text = texts[first]
  if (text === undefined) return ''
  const telling = verdict.winner !== undefined && verdict.winner.text > first ? texts[verdict.winner.text] : undefined
  if (telling === undefined || text.includes(telling)) return safeText(text, MESSAGE_MAX)
  return safeText(`${text.slice(0, MESSAGE_MAX / 2)}: ${telling}`, MESSAGE_MAX)
}

/** No sentence at all: the words it has, or what it is. */
function nameless(thrown: unknown, evidence: Evidence): string {
  const words = evidence.tokens.filter((token) => !token.value.includes(':')).map((token) => token.value)
  const status = evidence.statuses[0]
  if (status !== undefined) words.unshift(`status ${status.value}`)
  if (words.length > 0) return words.slice(0, 4).join(' ')
  switch (typeof thrown) {
    case 'undefined':
      return 'undefined was thrown'
    case 'string':
      return 'an empty string was thrown'
    case 'number':
    case 'bigint':
    case 'boolean':
    case 'symbol':
      return `${String(thrown).slice(0, 100)} was thrown`
    case 'function':
      return 'a function was thrown'
    default:
      return thrown === null ? 'null was thrown' : 'an object without a message was thrown'
  }
}

/** Words of the catalogue are safe by birth; any other name or code is as hostile as any text. */
const safeFact = (word: string): string => (builtIn().words.has(word) ? word : safeText(word, FACT_MAX))

function factsOf(evidence: Evidence, verdict: Verdict): Readonly<Record<string, FactValue>> | undefined {
  const { winner, told } = verdict
  const status = winner?.where === 'status' ? (winner.on as number) : evidence.statuses[0]?.value
  const name = evidence.tokens.find((token) => token.field === 'name' && token.value !== 'Error')
  const { constraint } = evidence.facts
  const speaker =
    evidence.speakers === 0 ? undefined : SPEAKERS.find((_, bit) => (evidence.speakers & (1 << bit)) !== 0)
  const facts: Record<string, FactValue> = {}
  if (status !== undefined) facts['status'] = status
  if (winner?.where === 'token') facts['on'] = safeFact(winner.on as string)
  if (name !== undefined) facts['name'] = safeFact(name.value)
  if (speaker !== undefined) facts['speaker'] = speaker
  if (typeof constraint === 'string') facts['constraint'] = safeFact(constraint)
  if (told !== undefined) facts['toldBy'] = told.from
  for (const _ in facts) return facts
  return undefined
}

/**
 * What went wrong, as data. Never throws, whatever was thrown; gives its own output back unchanged.
 *
 * @example
 * classify(new Error('connect ECONNREFUSED 127.0.0.1:5432')).kind // 'transient'
 */
export function classify(thrown: unknown, options?: ClassifyOptions): Failure {
  return judge(thrown, options).failure
}

/** The same verdict with its reasons: which rule hit, on what, and why the others considered did not. */
classify.explain = (thrown: unknown, options?: ClassifyOptions): Explanation => {
  const { failure, evidence, user, verdict } = judge(thrown, options)
  return explainVerdict(failure, evidence, verdict, user)
}
