/**
 * The model itself: a question and the fault it is to show become a reply, with tokens counted.
 * It knows no HTTP; faults of the connection never come here.
 */
import { diceFor, planOf, within } from './choose-fault.ts'
import { countTokens, cutToTokens, IMAGE_TOKENS } from './count-tokens.ts'
import type { FaultName } from './fault.ts'
import type { FaultPlan, Range } from './fault-plan.ts'
import { fillSchema, plainAnswer } from './fill-schema.ts'
import type { FoundDocument } from './find-document.ts'
import type { Question, Reply } from './question.ts'
import { factsFound } from './read-invoice.ts'
import { schemaInPrompt } from './schema-in-prompt.ts'
import { spoiledText } from './spoil.ts'

/** Strong models think before they answer, and it is paid for. */
const THOUGHTS: ReadonlyArray<readonly [model: RegExp, tokens: Range]> = [[/\bpro\b|\bopus\b|\bo\d\b/, [600, 1_100]]]

export interface Asked {
  readonly plan: FaultPlan
  readonly seed: number
  readonly take: number
  readonly fault: FaultName
  readonly question: Question
  readonly document: FoundDocument
}

export function answer(asked: Asked): Reply {
  const { question, document, fault } = asked
  const images = question.pictures.length * IMAGE_TOKENS
  const prompt = [
    question.system,
    ...question.texts,
    question.schema === undefined ? '' : JSON.stringify(question.schema),
  ]
  const input = countTokens(prompt.join('\n'), 'prompt') + images
  if (fault === 'safety') return { text: '', end: 'blocked-prompt', tokens: { input, images, output: 0, thoughts: 0 } }
  if (fault === 'safety-answer') {
    return { text: '', end: 'blocked-answer', tokens: { input, images, output: 0, thoughts: 0 } }
  }
  const dice = diceFor(asked.seed, 'answer', document.name, question.model, asked.take)
  const thoughts = within(thinkTokens(asked), dice)
  const whole = spoiledText(rightAnswer(question, document), fault, dice)
  const room = question.maxOutputTokens === undefined ? Number.POSITIVE_INFINITY : question.maxOutputTokens - thoughts
  const isCut = fault === 'truncated' || countTokens(whole, 'answer') > room
  const text = countTokens(whole, 'answer') > room ? cutToTokens(whole, Math.max(0, room)) : whole
  const tokens = { input, images, output: countTokens(text, 'answer'), thoughts }
  return { text, end: isCut ? 'length' : 'stop', tokens }
}

function thinkTokens({ plan, question }: Asked): Range {
  const own = planOf(plan, question.model).thinkTokens
  return own ?? THOUGHTS.find(([model]) => model.test(question.model))?.[1] ?? [0, 0]
}

function rightAnswer(question: Question, { invoice, text }: FoundDocument): unknown {
  const schema = question.schema ?? schemaInPrompt([question.system, ...question.texts])
  if (schema !== undefined) return fillSchema(schema, { invoice, text })
  return factsFound(invoice) === 0 ? { error: 'There is no document to read.' } : plainAnswer(invoice)
}
