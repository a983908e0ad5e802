/**
 * A history as text, one line per thing that happened, for people and for comparing two histories byte by byte.
 */
import { sentenceOf } from '../../run/event.ts'
import type { History, LogLine, StoreLine } from './history.ts'
import { WORLD_BEGINS_AT } from './world.ts'

/** The whole story, oldest first. With `run`, only what concerns that run and its processes' faults. */
export function trace(history: History, run?: string): string {
  return history.lines
    .filter((line) => run === undefined || line.log === 'fault' || JSON.stringify(line).includes(`"${run}"`))
    .map(lineOf)
    .join('\n')
}

function lineOf(line: LogLine): string {
  const at = ((line.at - WORLD_BEGINS_AT) / 1_000).toFixed(3).padStart(9)
  return `${String(line.seq).padStart(6)} ${at} ${line.process.padEnd(7)} ${line.log.padEnd(8)} ${wordsOf(line)}`
}

function wordsOf(line: LogLine): string {
  switch (line.log) {
    case 'client':
      return `${line.does} ${line.op} ${line.phase}${told({ task: line.task, key: line.key, item: line.item, run: line.run })}`
    case 'store':
      return storeWords(line)
    case 'provider':
      return `received ${line.call} take ${line.take} of ${line.run}/${line.generation} with token ${line.token}`
    case 'handler':
      return `${line.does} ${line.run}/${line.generation} attempt ${line.attempt} with token ${line.token}${line.suspended ? ', suspended' : ''}${line.value === undefined ? '' : ` ${line.value}`}`
    case 'children':
      return `${line.joined ? `joined ${line.joined.name} ${line.joined.results}` : 'submitted one'} in ${line.run}/${line.generation} with token ${line.token}`
    case 'event': {
      const { name, ...fields } = line.event
      const { run, attempt } = fields as { readonly run?: string; readonly attempt?: number }
      return `${name}${told({ run, attempt })}: ${sentenceOf(line.event)}`
    }
    case 'fault':
      return `${line.fault}${told({ site: line.site, ms: line.ms })}`
    case 'artifact':
      return `${line.answer} ${line.path} ${line.sha256.slice(0, 8)}`
  }
}

function storeWords(line: StoreLine): string {
  switch (line.verb) {
    case 'create':
      return `create ${line.runs.map((each) => (each === 'conflict' ? each : `${each.id}/${each.generation}${each.created ? '' : ' known'}`)).join(' ')}`
    case 'claim':
      return `claim ${line.worker}${line.alone ? ' alone' : ''} → token ${line.token}: ${line.runs.map(({ id, attempt, lapses }) => `${id} attempt ${attempt}${lapses > 0 ? ` (${lapses} lapses)` : ''}`).join(', ') || 'nothing'}`
    case 'renew':
      return `renew ${line.leases.map(({ run, token }) => `${run}@${token}`).join(' ')}${line.lost.length > 0 ? ` → lost ${line.lost.join(' ')}` : ''}`
    case 'take':
      return `take ${line.run} by ${line.by} → ${line.token === undefined ? 'lost' : `token ${line.token}`}`
    case 'commit': {
      const { change } = line
      const detail =
        change.type === 'end'
          ? `${change.state}${change.unstarted ? ' unstarted' : ''}${told({ dueAt: change.dueAt, why: change.why?.code, failure: change.failure?.code })}`
          : change.type === 'progress'
            ? ''
            : `${change.name}${change.type === 'intent' ? ` take ${change.take}` : change.failure ? ` ${change.failure.code}` : ''}`
      return `commit ${change.type} ${change.run}@${change.token} ${detail} → ${line.answer}${others(line)}`
    }
    case 'steer':
      return `${line.act.type} ${line.act.run} → ${line.answer}${others(line)}`
    case 'reorder':
      return `reorder ${line.move.run}${told({ priority: line.move.priority, dueAt: line.move.dueAt })} → ${line.answer}`
    case 'hold':
      return `hold ${line.order.what}${told({ until: line.order.until })}`
    case 'release':
      return `release ${line.what} → ${line.answer}`
    case 'prune':
      return `prune ${line.pruned.join(' ') || 'nothing'}`
  }
}

function others({
  created = [],
  moved = [],
}: Pick<Extract<StoreLine, { verb: 'commit' }>, 'created' | 'moved'>): string {
  const begun = created.flatMap((each) => (each === 'conflict' ? [] : each.id)).join(' ')
  const went = moved.map(({ run, generation, state }) => `${run}/${generation} ${state}`).join(', ')
  return `${begun && `, begins ${begun}`}${went && `, moves ${went}`}`
}

function told(fields: Readonly<Record<string, string | number | undefined>>): string {
  const shown = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name} ${value}`]))
  return shown.length === 0 ? '' : ` (${shown.join(', ')})`
}
