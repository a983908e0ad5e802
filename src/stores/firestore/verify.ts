/**
 * `verify` of the Firestore driver: every invariant that can be read from its documents, one finding per breach.
 * It repairs nothing.
 */
import type { Finding } from '../../ports/store.ts'
import { isFulfilled, isHopeless } from '../../run/need.ts'
import { EMPTY_LEDGERS, isTerminal, STATES } from '../../run/run.ts'
import { disorder, wrongLedger } from '../verify-history.ts'
import { topOf } from './document.ts'
import { attempts, everything } from './find.ts'
import { readJournal } from './journal.ts'
import { read } from './look.ts'
import { isOpen } from './needs.ts'
import { keyRef, keys, type Place } from './place.ts'
import type { Row } from './row.ts'
import { nowOf, readRef, Unit } from './unit.ts'
import { verifyBeside } from './verify-beside.ts'
import { brokenLines, uncounted, wronglyParked } from './verify-turns.ts'

/** Sums of money are compared as such: binary fractions do not add up exactly. */
const COST_SLACK_USD = 1e-9

export async function verify(place: Place): Promise<Finding[]> {
  const findings: Finding[] = []
  const unit = new Unit(place, await nowOf(place))
  for await (const page of everything(place)) {
    for (const row of page) {
      for (const [law, found] of await breachesOf(place, unit, row))
        if (found !== false) findings.push({ law, run: row.id, found })
    }
  }
  for (const snapshot of (await read(place, keys(place))).docs) {
    const { run, key } = snapshot.data()
    const row = typeof run === 'string' ? await unit.row(run) : undefined
    if (row && row.key !== key)
      findings.push({ law: 'a key points to its run', run: row.id, found: `the key ${key} points to another run's` })
  }
  return [...findings, ...(await brokenLines(place, unit)), ...(await verifyBeside(place))]
}

type Breach = readonly [law: string, found: string | false]

async function breachesOf(place: Place, unit: Unit, row: Row): Promise<Breach[]> {
  const { state, lease, dueAt } = row
  const known: Breach = ['a state is one of the seven', !STATES.includes(state) && `state ${state}`]
  const found: Breach = ['a document can be found by what is in it', misplaced(row)]
  if (isOthers(row)) return [known, found]
  const [history, needs] = [await attempts(place, row.id), await neededOf(unit, row)]
  const isWaiting = state === 'waiting' || state === 'review'
  return [
    known,
    [
      'a lease only on a run that is ready or in review',
      lease && state !== 'ready' && state !== 'review' ? `a lease on ${state}` : false,
    ],
    ['a due time only on waiting or review', dueAt !== undefined && !isWaiting && `a due time on ${state}`],
    ['an output only on succeeded', row.output !== undefined && state !== 'succeeded' && `an output on ${state}`],
    [
      'a finish time exactly on ended runs',
      (row.finishedAt !== undefined) !== isTerminal(state) && `finished at ${row.finishedAt} in ${state}`,
    ],
    ['a suspect is not finished', row.suspect === true && isTerminal(state) && `a suspect that is ${state}`],
    [
      'a token was given out by a claim',
      (row.endedBy ?? 0) > row.token && `token ${row.endedBy}, but the last was ${row.token}`,
    ],
    ['ledgers are the fold of history', wrongLedger({ ...row, ledgers: row.ledgers ?? EMPTY_LEDGERS }, history)],
    ['history is in order', disorder(row, history)],
    ['cost is what the journal settled', await wrongCost(place, row)],
    found,
    ['a need is open only while it is not fulfilled', fulfilledYetOpen(needs)],
    ['blocked exactly while a need is open', wronglyBlocked(row)],
    ['no run waits for what cannot come', hopeless(row, needs)],
    ['a need ties two runs', orphan(needs)],
    ['a key points to its run', await lostKey(place, row)],
    ['no run is parked whose key has room', await wronglyParked(place, row)],
    ['a key counts the runs that are out', await uncounted(place, row)],
  ]
}

/** A step of a document that others made, and that nobody took here: how it got where it is, is their affair. */
const isOthers = ({ token, doc: { raw } }: Row): boolean =>
  token === 0 && raw['single'] !== true && raw['name'] === undefined

type Needed = { readonly need: NonNullable<Row['needs']>[number]; readonly needed: Row | undefined }

const neededOf = (unit: Unit, row: Row): Promise<Needed[]> =>
  Promise.all((row.needs ?? []).map(async (need) => ({ need, needed: await unit.row(need.run) })))

function misplaced({ doc, step }: Row): string | false {
  const [first] = doc.rows.keys()
  // What was not taken in is found by no claim yet, and need not be.
  if (step !== first || doc.raw['order'] === undefined) return false
  const wrong = Object.entries(topOf(doc)).find(
    ([field, value]) => JSON.stringify(doc.raw[field]) !== JSON.stringify(value),
  )
  return (
    wrong !== undefined &&
    `${wrong[0]} is ${JSON.stringify(doc.raw[wrong[0]])}, the steps say ${JSON.stringify(wrong[1])}`
  )
}

function fulfilledYetOpen(needs: readonly Needed[]): string | false {
  const found = needs.find(({ need, needed }) => need.open && needed && isFulfilled(need.kind, needed.state))
  return found !== undefined && `its need ${found.need.run} is ${found.needed?.state}, and yet open`
}

function wronglyBlocked(row: Row): string | false {
  const open = (row.needs ?? []).filter(isOpen).length
  const wrong = row.state === 'blocked' ? open === 0 : open > 0 && !isTerminal(row.state)
  return wrong && `${row.state} with ${open} open needs`
}

function hopeless(row: Row, needs: readonly Needed[]): string | false {
  const found = needs.find(({ need, needed }) => need.open && needed && isHopeless(need.kind, needed.state))
  return row.state === 'blocked' && found !== undefined && `its need ${found.need.run} is ${found.needed?.state}`
}

function orphan(needs: readonly Needed[]): string | false {
  const lost = needs.find(({ needed }) => needed === undefined)
  return lost !== undefined && `it needs ${lost.need.run}, which is not there`
}

async function lostKey(place: Place, row: Row): Promise<string | false> {
  if (row.key === undefined) return false
  const known = await readRef(place, keyRef(place, row.lane.task, row.key))
  return (!known.exists || known.get('run') !== row.id) && `no entry for ${JSON.stringify([row.lane.task, row.key])}`
}

async function wrongCost(place: Place, row: Row): Promise<string | false> {
  const entries = row.entries === undefined && !row.costUsd ? [] : await readJournal(place, row.id)
  const settled = entries.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0)
  return Math.abs(settled - (row.costUsd ?? 0)) > COST_SLACK_USD && `${row.costUsd} USD, the journal has ${settled}`
}
