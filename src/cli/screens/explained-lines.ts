/**
 * Decisions that were computed again, as a screen: each with its inputs and its verdict.
 */
import type { DecisionInputs, Explained, ExplainedStep } from '../../ops/index.ts'
import { say } from '../../policy/say.ts'
import { clockTime } from '../../time/zone.ts'
import { STATE_SIGNS } from '../terminal/palette.ts'
import type { Screen } from '../terminal/terminal.ts'
import { pad, wrap } from '../terminal/text.ts'

const HASH_SHOWN = 8

export function explainedLines(explained: Explained, screen: Screen, zone: string): string[] {
  const { run, steps, ledgers } = explained
  const ledgersWord =
    ledgers === 'equal'
      ? []
      : ['', ...wrap(screen.text(LEDGERS_DIFFER), screen.columns).map((line) => red(line, screen))]
  return [
    `${screen.paint.bold(screen.text(run.id))}  ${screen.text(run.task)}  ${screen.text(summary(explained))}`,
    ...steps.flatMap((step) => ['', ...stepLines(step, screen, zone, run.generation > 1)]),
    ...ledgersWord,
  ]
}

const LEDGERS_DIFFER = 'The run’s ledgers are not what its history adds up to; reprise verify tells more.'

function summary({ steps }: Explained): string {
  const of = (verdict: ExplainedStep['verdict']) => steps.filter((step) => step.verdict === verdict).length
  const decided = of('equal') + of('different')
  const unknown = of('unknown') > 0 ? ` ${of('unknown')} under a policy that the store does not have.` : ''
  if (decided === 0) return `Nothing had to be decided.${unknown}`
  const noun = decided === 1 ? 'decision' : 'decisions'
  const verdict = of('different') === 0 ? (decided === 1 ? 'equal' : 'all equal') : `${of('different')} different`
  return `${decided} ${noun} computed again: ${verdict}.${unknown}`
}

function stepLines(step: ExplainedStep, screen: Screen, zone: string, hasGenerations: boolean): string[] {
  const { paint } = screen
  const number = hasGenerations ? `${step.generation}/${step.attempt}` : String(step.attempt)
  const head = `${pad(number, 3, 'right')}  ${clockTime(step.endedAt, zone, step.endedAt)}`
  const indent = ' '.repeat(head.length + 2)
  const room = screen.columns - indent.length
  const body = (text: string) => wrap(screen.text(text), room).map((line) => indent + line)
  const what = step.failure ? `${screen.kind(step.failure.kind)} ${step.failure.kind}` : step.outcome
  const text = step.failure ? `${step.failure.message} (${step.failure.code}, rule ${step.failure.rule})` : ''
  return [
    `${head}  ${what}`,
    ...(text === '' ? [] : body(text)),
    ...(step.sentence === undefined ? [] : body(`→ ${step.sentence}`).map((line) => paint.dim(line))),
    ...(step.inputs ? body(inputsText(step.inputs, zone)).map((line) => paint.dim(line)) : []),
    ...verdictLines(step, screen, zone).map((line) => indent + line),
  ]
}

function inputsText(inputs: DecisionInputs, zone: string): string {
  const { policy, dice, ledgers, rung, noProgress, deadlineAt, now } = inputs
  const used = Object.entries(ledgers).flatMap(([name, count]) =>
    typeof count === 'number' && count > 0 ? [`${name} ${count}`] : [],
  )
  return [
    `from: policy ${policy.name ?? 'not known'} (${policy.hash.slice(0, HASH_SHOWN)})`,
    `dice ${dice.toFixed(4)}`,
    `before: ${used.join(', ') || 'empty ledgers'}`,
    ...(rung > 0 ? [`rung ${rung}`] : []),
    ...(noProgress ? ['same failure as before'] : []),
    ...(deadlineAt === undefined ? [] : [`deadline ${clockTime(deadlineAt, zone, now)}`]),
  ].join('; ')
}

function verdictLines(step: ExplainedStep, screen: Screen, zone: string): string[] {
  const { verdict, differs, recomputed, endedAt } = step
  if (verdict === 'equal') return [`${screen.sign(STATE_SIGNS.succeeded)} equal`]
  if (verdict === 'unknown') return ['not known: the store does not have this policy']
  if (verdict === 'undecided' || !recomputed) return []
  const now = say(recomputed.why, { now: endedAt, zone })
  return [
    red(`${screen.sign(STATE_SIGNS.failed)} different in ${differs.join(', ')}`, screen),
    ...wrap(screen.text(`now: ${recomputed.act}. ${now}`), screen.columns - 16),
  ]
}

const red = (text: string, screen: Screen) => screen.paint.hue(STATE_SIGNS.failed.hue, text)
