/**
 * A plan as people read it: one sentence, the timeline, and the bounds below it.
 * Every figure comes from the plan; this file only finds words and columns for them.
 */
import type { Failure, Kind } from '../failure/failure.ts'
import {
  type LedgerName,
  ledgerBounds,
  type Plan,
  type PlanStep,
  type Policy,
  type Span,
  say,
} from '../policy/index.ts'
import { briefDuration, formatDuration } from '../time/duration.ts'
import { failureLines } from './show-failure.ts'
import { definition } from './terminal/definition.ts'
import { table } from './terminal/table.ts'
import type { Screen } from './terminal/terminal.ts'
import { wrap } from './terminal/text.ts'

/** Longer timelines keep their start and their end; what repeats between is told in one line. */
const STEPS_MAX = 14
const STEPS_AT_START = 7
const STEPS_AT_END = 3

const LEDGER_WORDS: Readonly<Record<LedgerName, string>> = {
  errors: 'error',
  rateWaits: 'rate wait',
  interruptions: 'interruption',
  lapses: 'crash',
  repairs: 'repair',
  escalations: 'rung change',
}

export function planLines(plan: Plan, policy: Policy, subject: Failure | Kind, now: number, screen: Screen): string[] {
  const title = typeof subject === 'string' ? [`${screen.kind(subject)} ${subject}`] : failureLines(subject, screen)
  return [
    ...title,
    '',
    ...wrap(screen.text(headline(plan)), screen.columns),
    '',
    ...timeline(plan, policy, screen),
    '',
    ...definition(screen, bounds(plan, policy, now), ''),
  ]
}

/** What happens, in one sentence. */
function headline({ end, callsMax, policy, handOver, steps }: Plan): string {
  if (end === 'ignore') return `A benign race: under ${policy} nothing is done and nothing is stored.`
  const last = steps.at(-1)?.failsMs ?? AT_ONCE
  if (!handOver) {
    if (callsMax === 1) return `Under ${policy} it ends at once, as failed.`
    return `If it keeps failing like this, ${policy} makes ${callsMax} calls and then ends it as failed, ${when(last)}.`
  }
  const within = handOver.withinMs === undefined ? '' : `, to be answered within ${briefDuration(handOver.withinMs)}`
  const person = `queue ${handOver.queue}${within}`
  if (callsMax === 1) return `Under ${policy} a person gets it at once: ${person}.`
  return `If it keeps failing like this, ${policy} makes ${callsMax} calls and then gives it to a person, ${when(handOver.afterMs)}: ${person}.`
}

const AT_ONCE: Span = { earliestMs: 0, likelyMs: 0, latestMs: 0 }

function when({ earliestMs, latestMs }: Span): string {
  if (latestMs === null) return `not before ${formatDuration(earliestMs)}`
  if (latestMs === 0) return 'at once'
  if (earliestMs === latestMs) return `after ${formatDuration(latestMs)}`
  return `after ${formatDuration(latestMs)} at most`
}

function timeline(plan: Plan, policy: Policy, screen: Screen): string[] {
  const { paint } = screen
  const hasRungs = plan.steps.some((step) => step.rung !== undefined)
  const entries = ledgerEntries(plan, policy)
  const rows = plan.steps.map((step, index) => [
    String(step.execution),
    offset(step.failsMs),
    ...(hasRungs ? [screen.text(step.rung ?? '')] : []),
    screen.text(next(step)),
    entryText(entries[index], screen),
  ])
  const columns = [
    { header: 'call', align: 'right' },
    { header: 'fails after', align: 'right' },
    ...(hasRungs ? ([{ header: 'rung' }] as const) : []),
    { header: 'then', flexible: true },
    { header: 'entry', droppable: true },
  ] as const
  const lines = table(screen, columns, rows)
  if (rows.length <= STEPS_MAX) return lines
  const folded = rows.length - STEPS_AT_START - STEPS_AT_END
  // The first line is the header.
  return [
    ...lines.slice(0, STEPS_AT_START + 1),
    paint.dim(`${screen.ellipsis.padStart(4)}  ${folded} more in the same manner`),
    ...lines.slice(-STEPS_AT_END),
  ]
}

/** The time since the first failure; where dice are thrown, that of the middle ones. */
function offset({ earliestMs, likelyMs, latestMs }: Span): string {
  const ms = likelyMs ?? earliestMs
  if (ms === 0 && latestMs === 0) return '0 s'
  return earliestMs === latestMs ? formatDuration(ms) : `about ${formatDuration(ms)}`
}

function next(step: PlanStep): string {
  const { act, to, why } = step
  if (act === 'ignore') return 'nothing to do'
  if (act === 'fail') return 'ends as failed'
  if (act === 'escalate') return why.code.startsWith('person.') ? `to a person: ${to}` : `next rung: ${to}`
  const asks = step.entry === 'repairs' ? 'asks again' : 'tries again'
  return `${asks} ${wait(step)}`
}

function wait({ failsMs, nextMs, why }: PlanStep): string {
  if (!nextMs) return ''
  const min = nextMs.earliestMs - failsMs.earliestMs
  const max = nextMs.latestMs === null || failsMs.latestMs === null ? null : nextMs.latestMs - failsMs.latestMs
  if (max === 0) return 'at once'
  const told = why.code === 'wait.told' || why.code === 'wait.told_counted' ? ', as told' : ''
  if (max === null) return `after ${briefDuration(min)} or more`
  if (min === max) return `after ${briefDuration(min)}${told}`
  return min === 0 ? `within ${briefDuration(max)}` : `after ${briefDuration(min)} to ${briefDuration(max)}`
}

interface Entry {
  readonly ledger: LedgerName
  readonly used: number
  readonly max: number
}

/** The entry that each execution makes. Corrections start anew on each rung. */
function ledgerEntries(plan: Plan, policy: Policy): (Entry | undefined)[] {
  const max = ledgerBounds(policy)
  const used: Partial<Record<LedgerName, number>> = {}
  let repairsMax = max.repairs
  return plan.steps.map(({ entry, act, why }) => {
    if (!entry) return undefined
    used[entry] = (used[entry] ?? 0) + 1
    if (why.code === 'ask.again') repairsMax = why.params.max
    if (act === 'escalate') used.repairs = 0
    return { ledger: entry, used: used[entry], max: entry === 'repairs' ? repairsMax : max[entry] }
  })
}

/** Only errors count as attempts; the other ledgers are dim. */
function entryText(entry: Entry | undefined, screen: Screen): string {
  if (!entry) return ''
  const text = `${LEDGER_WORDS[entry.ledger]} ${entry.used} of ${entry.max}`
  return entry.ledger === 'errors' ? text : screen.paint.dim(text)
}

function bounds(plan: Plan, policy: Policy, now: number): [string, string][] {
  const last = plan.steps.at(-1)
  const lastAt = now + (last?.failsMs.likelyMs ?? last?.failsMs.earliestMs ?? 0)
  const byRung = Object.entries(plan.callsByRung).map(([rung, calls]) => `${rung} ${calls}`)
  const { handOver } = plan
  return [
    ['end', last ? say(last.why, { now: lastAt }) : ''],
    [
      'calls',
      `at most ${plan.callsMax}${byRung.length > 1 ? ` (${byRung.join(', ')})` : ''}; ${counted(plan, policy)}`,
    ],
    ['money', money(plan, policy)],
    ['person', handOver ? `${handOver.to}, queue ${handOver.queue}, ${when(handOver.afterMs)}` : 'none in this plan'],
    ['bound', `at most ${plan.executionsBound} executions under ${plan.policy}, whatever fails in whatever order`],
  ]
}

function counted({ steps }: Plan, policy: Policy): string {
  const count = steps.filter((step) => step.counted).length
  const free = steps.length - count
  return `${count} of ${policy.maxAttempts} attempts counted${free > 0 ? `, ${free} not counted` : ''}`
}

function money({ costMaxUsd, callsByRung }: Plan, { ladder }: Policy): string {
  if (costMaxUsd !== null) {
    const parts = (ladder ?? []).flatMap((rung) => {
      const calls = callsByRung[rung.name]
      return rung.type === 'model' && rung.maxCostUsd !== undefined && calls !== undefined
        ? `${rung.name} ${calls} × $${rung.maxCostUsd.toFixed(4)}`
        : []
    })
    return `at most $${costMaxUsd.toFixed(4)}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
  }
  const unpriced = ladder?.find(
    (rung) => rung.type === 'model' && rung.maxCostUsd === undefined && callsByRung[rung.name] !== undefined,
  )
  return unpriced ? `not known: ${unpriced.name} has no price` : 'not known: the policy names no price'
}
