/**
 * What a verb over runs would do, or did: counts first, then what they are, then what was left out and why.
 */
import type { Skipped, Steered } from '../../ops/index.ts'
import { emphasise } from '../terminal/emphasis.ts'
import { table } from '../terminal/table.ts'
import type { Screen } from '../terminal/terminal.ts'
import { wrap } from '../terminal/text.ts'
import { stateCell } from './run-table.ts'

const GROUPS_SHOWN = 8
const NAMED_SHOWN = 10

const PAST = {
  retry: 'Retried',
  cancel: 'Cancelled',
  reprioritise: 'Reprioritised',
  reschedule: 'Rescheduled',
} as const

/** Steps that went along are told, because nobody named them. */
function movedText({ verb, done, moved }: Steered): string {
  if (moved.length === 0) return ''
  const them = done === 1 ? 'it' : 'them'
  const went = verb === 'retry' ? (moved.length === 1 ? 'begins again' : 'begin again') : 'ended'
  return ` ${runs(moved.length)} that needed ${them} ${went} with ${them}.`
}

export function steeredLines(steered: Steered, isNamed: boolean, screen: Screen): string[] {
  const { verb, dryRun, eligible, done, more } = steered
  const { paint } = screen
  const head = dryRun
    ? `Would ${verb} ${paint.bold(runs(eligible))}${more ? ' (there are more; this is what one call takes)' : ''}`
    : `${PAST[verb]} ${paint.bold(runs(done))}${changedText(steered)}.${movedText(steered)}`
  return [
    head,
    ...groupLines(steered, screen),
    ...(isNamed ? namedLines(steered, screen) : leftOutLines(steered, screen)),
    ...(dryRun && eligible > 0
      ? [
          '',
          ...emphasise(
            wrap(
              `Nothing has changed yet. Add \`--yes\` to ${verb} ${eligible === 1 ? 'it' : 'them'}.`,
              screen.columns,
            ),
            screen,
          ),
        ]
      : []),
    ...(!dryRun && more ? ['', 'There are more; the same command again goes on.'] : []),
  ]
}

const runs = (count: number) => `${count} ${count === 1 ? 'run' : 'runs'}`

function changedText({ skipped }: Steered): string {
  const changed = skipped.filter(({ reason }) => reason === 'changed').length
  return changed === 0 ? '' : `, ${changed} skipped (changed meanwhile)`
}

function groupLines({ groups, dryRun }: Steered, screen: Screen): string[] {
  if (!dryRun || groups.length === 0) return []
  const rows = groups
    .slice(0, GROUPS_SHOWN)
    .map(({ task, state, code, runs: count }) => [
      String(count),
      stateCell(state, screen),
      screen.text(task),
      screen.text(code ?? ''),
    ])
  const rest = groups.length - rows.length
  return [
    ...table(
      screen,
      [{ header: '', align: 'right' }, { header: '' }, { header: '' }, { header: '', flexible: true }],
      rows,
      '  ',
    ),
    ...(rest > 0 ? [`  and ${rest} more groups`] : []),
  ]
}

/** For a filter: how many were left out, by the reason. */
function leftOutLines({ skipped, verb }: Steered, screen: Screen): string[] {
  const left = Map.groupBy(
    skipped.filter(({ reason }) => reason !== 'changed'),
    ({ reason }) => reason,
  )
  if (left.size === 0) return []
  const parts = [...left].map(([reason, members]) => `${members.length} ${reason}`)
  return wrap(`  Left out, because ${verb} does not apply: ${parts.join(', ')}`, screen.columns).map((line) =>
    screen.paint.dim(line),
  )
}

/** For runs that somebody named: each with its reason. */
function namedLines({ skipped, verb }: Steered, screen: Screen): string[] {
  const rest = skipped.length - NAMED_SHOWN
  const sentences = skipped
    .slice(0, NAMED_SHOWN)
    .map((each) => `${each.run} is left as it is: ${reasonText(each, verb)}`)
  return [
    ...sentences.flatMap((sentence) => wrap(screen.text(sentence), screen.columns)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ]
}

function reasonText({ reason }: Skipped, verb: Steered['verb']): string {
  switch (reason) {
    case 'not found':
      return 'there is no such run.'
    case 'changed':
      return 'it changed meanwhile.'
    case 'ended by its need':
      return 'it ended by its need, and begins again with that. `reprise show` names it.'
    case 'succeeded':
      return verb === 'retry' ? 'it succeeded; submit it anew to have it done again.' : 'it has succeeded.'
    case 'failed':
    case 'cancelled':
      return `it is ${reason} already.`
    case 'running':
      return 'it is running.'
    case 'review':
      return verb === 'retry' || verb === 'cancel'
        ? 'it lies with a person.'
        : 'it waits for a person, not for its turn.'
    default:
      return `it is ${reason} and goes on by itself.`
  }
}
