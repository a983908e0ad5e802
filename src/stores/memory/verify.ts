/**
 * `verify` of the memory driver: every invariant that can be read from its rows, one finding per breach.
 * It repairs nothing.
 */
import type { Finding } from '../../ports/store.ts'
import { faultOfBucket, faultOfHold } from '../../run/check-hold.ts'
import { covers } from '../../run/hold.ts'
import { isEndedByNeed, isFulfilled, isHopeless } from '../../run/need.ts'
import { isTerminal, STATES } from '../../run/run.ts'
import { disorder, wrongLedger } from '../verify-history.ts'
import { brokenBudgets } from './budgets.ts'
import { isCrowded, isParked } from './keys.ts'
import { isOpen } from './needs.ts'
import { joined, type Row, type Tables } from './rows.ts'

/** Sums of money are compared as such: binary fractions do not add up exactly. */
const COST_SLACK_USD = 1e-9

type Law = readonly [law: string, broken: (row: Row, tables: Tables) => string | false]

export function verify(tables: Tables): Finding[] {
  const ofRuns = [...tables.runs.values()].flatMap((row) =>
    LAWS.flatMap(([law, broken]) => {
      const found = broken(row, tables)
      return found === false ? [] : [{ law, run: row.id, found }]
    }),
  )
  const ofKeys = [...tables.keys].flatMap(([name, { run }]) => {
    const row = tables.runs.get(run)
    const fits = row === undefined || row.key === JSON.parse(name)[1]
    return fits ? [] : [{ law: 'a key points to its run', run, found: `the key ${name} points to another run's` }]
  })
  return [...ofRuns, ...ofKeys, ...ofFlows(tables), ...ofHolds(tables), ...brokenBudgets(tables)]
}

function ofFlows({ flows, flowKeys, runs }: Tables): Finding[] {
  const law = 'a flow has its steps and its key'
  const lost = [...flows.values()].flatMap(({ id, rows }) =>
    rows.some((row) => !runs.has(row.id)) || rows[0]?.id !== id
      ? [{ law, run: id, found: 'a step of it is not there' }]
      : [],
  )
  const keys = [...flowKeys].flatMap(([name, id]) =>
    flows.get(id)?.key === JSON.parse(name)[1] ? [] : [{ law, run: id, found: `the key ${name} is not of this flow` }],
  )
  return [...lost, ...keys]
}

function ofHolds({ holds, buckets, runs, last }: Tables): Finding[] {
  const finding = (law: string, found: string | undefined, run?: string): Finding[] =>
    found === undefined ? [] : [{ law, found, ...(run === undefined ? {} : { run }) }]
  return [
    ...[...holds].flatMap(([name, hold]) => {
      const { probing } = hold
      const row = probing && runs.get(probing.run)
      const isOut = row?.lease?.token === probing?.token
      const astray =
        row && isOut && !covers(hold.what, row.lane)
          ? `${name} has its probe in ${JSON.stringify(row.lane)}`
          : undefined
      const unknown =
        probing && probing.token > last.token ? `${name} has a probe with token ${probing.token}` : undefined
      return [
        ...finding('a hold is of something, and in one of its phases', faultOfHold(name, hold)),
        ...finding('a probe is of the lane that is held', astray, probing?.run),
        ...finding('a token was given out by a claim', unknown, probing?.run),
      ]
    }),
    ...[...buckets].flatMap(([name, bucket]) =>
      finding('a bucket is of its resource, and in one of its phases', faultOfBucket(name, bucket)),
    ),
  ]
}

const LAWS: readonly Law[] = [
  ['a state is one of the seven', (row) => !STATES.includes(row.state) && `state ${row.state}`],
  [
    'a lease only on a run that is ready or in review',
    (row) => row.lease !== undefined && row.state !== 'ready' && row.state !== 'review' && `a lease on ${row.state}`,
  ],
  [
    'a due time only on waiting or review',
    (row) =>
      row.dueAt !== undefined && row.state !== 'waiting' && row.state !== 'review' && `a due time on ${row.state}`,
  ],
  [
    'an output only on succeeded',
    (row) => row.output !== undefined && row.state !== 'succeeded' && `an output on ${row.state}`,
  ],
  [
    'a finish time exactly on ended runs',
    (row) =>
      (row.finishedAt !== undefined) !== isTerminal(row.state) && `finished at ${row.finishedAt} in ${row.state}`,
  ],
  ['a suspect is not finished', (row) => row.suspect && isTerminal(row.state) && `a suspect that is ${row.state}`],
  ['a token was given out by a claim', unknownToken],
  ['ledgers are the fold of history', (row) => wrongLedger(row, row.history)],
  ['history is in order', (row) => disorder(row, row.history)],
  ['cost is what the journal settled', wrongCost],
  [
    'an open run can be found by a claim',
    (row, tables) => isTerminal(row.state) === tables.open.has(row) && `${row.state}, but listed otherwise`,
  ],
  ['a need is open only while it is not fulfilled', fulfilledYetOpen],
  ['blocked exactly while a need is open', wronglyBlocked],
  ['no run is parked whose key has room', wronglyParked],
  ['no run waits for what cannot come', hopeless],
  ['a need ties two runs', orphan],
  ['a step belongs to a flow and to a run', strayStep],
  ['a need is of one flow, or of a join', strayNeed],
  ['what ended by its need has such a need', endedByNobody],
  [
    'a key points to its run',
    (row, tables) =>
      row.key !== undefined &&
      ![...tables.keys].some(([name, { run }]) => run === row.id && JSON.parse(name)[1] === row.key) &&
      `no entry for ${joined(row.lane.task, row.key)}`,
  ],
]

function fulfilledYetOpen(row: Row): string | false {
  const need = row.needs.find(({ open, kind, needed }) => open && isFulfilled(kind, needed.state))
  return need !== undefined && `its need ${need.needed.id} is ${need.needed.state}, and yet open`
}

function wronglyBlocked(row: Row): string | false {
  const open = row.needs.filter(isOpen).length
  const wrong = row.state === 'blocked' ? open === 0 : open > 0 && !isTerminal(row.state)
  return wrong && `${row.state} with ${open} open needs`
}

function wronglyParked(row: Row, tables: Tables): string | false {
  if (!isParked(row)) return false
  if (!row.concurrency) return 'waiting for nothing'
  return !isCrowded(tables, row) && `of ${row.concurrency.key} fewer than ${row.concurrency.max} are out or before it`
}

function hopeless(row: Row): string | false {
  const need = row.needs.find(({ open, kind, needed }) => open && isHopeless(kind, needed.state))
  return row.state === 'blocked' && need !== undefined && `its need ${need.needed.id} is ${need.needed.state}`
}

function orphan(row: Row, tables: Tables): string | false {
  const lost = row.needs.find(({ needed }) => !tables.runs.has(needed.id))
  return lost !== undefined && `it needs ${lost.needed.id}, which is not there`
}

function strayStep(row: Row, { flows }: Tables): string | false {
  const isListed = flows.get(row.flow ?? '')?.rows.includes(row) ?? false
  return (row.step !== undefined || row.flow !== undefined) && !isListed && `the step ${row.step} of ${row.flow}`
}

function strayNeed(row: Row): string | false {
  const stray = row.needs.find(({ join, needed }) =>
    join ? join.generation > row.generation : row.flow === undefined || needed.flow !== row.flow,
  )
  return (
    stray !== undefined &&
    `it needs ${stray.needed.id} of ${stray.join ? `generation ${stray.join.generation}` : stray.needed.flow}`
  )
}

function endedByNobody(row: Row): string | false {
  const isRight =
    !isEndedByNeed(row.why) || row.needs.some(({ open, kind, needed }) => open && isHopeless(kind, needed.state))
  return !isRight && `${row.state} by ${row.why?.code}`
}

function unknownToken(row: Row, tables: Tables): string | false {
  const journaled = [...row.journals.values()].flatMap((entries) => [...entries.values()].map(({ token }) => token))
  const tokens = [row.lease?.token ?? 0, row.endedBy ?? 0, ...row.history.map(({ token }) => token), ...journaled]
  const unknown = tokens.find((token) => token > tables.last.token)
  return unknown !== undefined && `token ${unknown}, but the last claim had ${tables.last.token}`
}

function wrongCost(row: Row): string | false {
  const entries = [...row.journals.values()].flatMap((journal) => [...journal.values()])
  const settled = entries.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)
  return Math.abs(settled - row.costUsd) > COST_SLACK_USD && `${row.costUsd} USD, the journal has ${settled}`
}
