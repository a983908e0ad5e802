/**
 * A Failure, and the reasons of a verdict, as lines on a screen.
 * It shows what the record says and adds nothing.
 */
import type { Considered, Explanation } from '../failure/explain.ts'
import type { Failure } from '../failure/failure.ts'
import { formatDuration } from '../time/duration.ts'
import { definition } from './terminal/definition.ts'
import type { Screen } from './terminal/terminal.ts'
import { widthOf, wrap } from './terminal/text.ts'

/** A message of a thousand characters is a page; its start tells enough here, and --json has the rest. */
const MESSAGE_LINES_MAX = 4
const LOSERS_MAX = 5

export function failureLines(failure: Failure, screen: Screen): string[] {
  const { paint } = screen
  const glyph = screen.kind(failure.kind)
  const indent = ' '.repeat(widthOf(glyph) + 1)
  const columns = screen.columns - indent.length
  const told = failure.retryAfterMs === undefined ? '' : `  ${toldSentence(failure)}`
  const message = wrap(screen.text(failure.message), columns)
  const cutMessage =
    message.length > MESSAGE_LINES_MAX
      ? [...message.slice(0, MESSAGE_LINES_MAX - 1), `${message[MESSAGE_LINES_MAX - 1]}${screen.ellipsis}`]
      : message
  return [
    `${glyph} ${failure.kind}  ${paint.bold(screen.text(failure.code))}${paint.dim(told)}`,
    ...cutMessage.map((line) => indent + line),
    ...wrap(screen.text(failure.advice), columns).map((line) => indent + paint.dim(line)),
  ]
}

function toldSentence({ retryAfterMs = 0, facts }: Failure): string {
  const teller = facts?.['toldBy']
  return `told to wait ${formatDuration(retryAfterMs)}${teller === undefined ? '' : ` (${teller})`}`
}

export function explanationLines(explanation: Explanation, screen: Screen): string[] {
  const { considered, evidence } = explanation
  const losers = considered.filter((one) => one.lost !== undefined)
  const more = losers.length - LOSERS_MAX
  const facts: [string, string][] = [
    ['rule', `${explanation.rule}, on ${explanation.on}`],
    ...losers.slice(0, LOSERS_MAX).map((one, index): [string, string] => [index === 0 ? 'not' : '', loser(one)]),
    ...(more > 0 ? [['', `and ${more} more`] as [string, string]] : []),
    ...seen('status', evidence.statuses),
    ...seen('words', evidence.words),
    ...seen('speaker', evidence.speakers),
    ...seen('delays', evidence.delays),
  ]
  return definition(screen, facts, ' '.repeat(widthOf(screen.kind('final')) + 1))
}

const loser = ({ rule, on, lost }: Considered) => `${rule}, on ${on}: ${lost}`

function seen(label: string, values: readonly string[]): [string, string][] {
  return values.length === 0 ? [] : [[label, values.join(', ')]]
}
