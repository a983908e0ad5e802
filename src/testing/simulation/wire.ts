/**
 * The store as one process sees it: requests and answers travel for a while, and faults strike on the way.
 * A request on its way is executed even if its sender is gone by then; an answer reaches only the living.
 */
import { RepriseError } from '../../failure/reprise-error.ts'
import type { CommitAnswer, Store } from '../../ports/store.ts'
import type { Dice } from '../../time/dice.ts'
import type { Faults } from './faults.ts'
import type { FaultKind } from './history.ts'
import type { RecordedStore, Recorder } from './recorder.ts'
import type { SimProcess } from './sim-process.ts'
import type { World } from './world.ts'

export interface WireOptions {
  readonly world: World
  readonly process: SimProcess
  readonly recorded: RecordedStore
  readonly recorder: Recorder
  readonly faults: Faults
  readonly dice: Dice
  readonly leaseMs: number
  /** Hints of the store, as lossy as they may be. */
  readonly watch: (process: SimProcess, hint: () => void) => () => void
  /** A client does not die of a fault: it is outside. */
  readonly crashable: boolean
}

/** Reads change nothing, so executed-but-reported-failed is not a fault of theirs. */
const READS = new Set([
  'get',
  'flow',
  'links',
  'journal',
  'find',
  'count',
  'pulse',
  'attempts',
  'notes',
  'policy',
  'verify',
  'holds',
  'budgets',
])

export function wire(options: WireOptions): Store {
  const { process, recorded, watch } = options
  const { store } = recorded
  const { name } = process
  const ask = <Answer>(site: string, execute: () => Promise<Answer>, repeatable = true) =>
    travel(options, site, execute, repeatable)
  return {
    name: store.name,
    // Only a keyed submit may be delivered twice; that is what keys are for.
    create: (runs) =>
      ask(
        'create',
        () => recorded.create(name, runs),
        runs.every(({ key, onExisting }) => key !== undefined && onExisting !== 'retry'),
      ),
    createFlow: (flow) =>
      ask('createFlow', () => recorded.createFlow(name, flow), flow.key !== undefined && flow.onExisting !== 'retry'),
    claim: (request) => ask('claim', () => recorded.claim(name, request)),
    renew: (request) => ask('renew', () => recorded.renew(name, request)),
    commit: (change) => ask(`commit.${change.type}`, () => recorded.commit(name, change)),
    commitAll: (ends) =>
      ask('commit.end', async () => {
        const answers: CommitAnswer[] = []
        for (const end of ends) answers.push(await recorded.commit(name, end))
        return answers
      }),
    take: (request) => ask('take', () => recorded.take(name, request)),
    steer: (act) => ask('steer', () => recorded.steer(name, act), false),
    reorder: (move) => ask('reorder', () => recorded.reorder(name, move), false),
    hold: (order) => ask('hold', () => recorded.hold(name, order)),
    release: (request) => ask('release', () => recorded.release(name, request), false),
    prune: (request) => ask('prune', () => recorded.prune(name, request)),
    holds: () => ask('holds', () => store.holds()),
    setBudget: (order) => ask('setBudget', () => store.setBudget(order)),
    budgets: () => ask('budgets', () => store.budgets()),
    get: (ref) => ask('get', () => store.get(ref)),
    flow: (ref) => ask('flow', () => store.flow(ref)),
    links: (run) => ask('links', () => store.links(run)),
    find: (query) => ask('find', () => store.find(query)),
    count: (query) => ask('count', () => store.count(query)),
    pulse: (query) => ask('pulse', () => store.pulse(query)),
    attempts: (run) => ask('attempts', () => store.attempts(run)),
    journal: (run, generation) => ask('journal', () => store.journal(run, generation)),
    note: (note) => ask('note', () => store.note(note), false),
    notes: (query) => ask('notes', () => store.notes(query)),
    keepPolicy: (hash, policy) => ask('keepPolicy', () => store.keepPolicy(hash, policy)),
    policy: (hash) => ask('policy', () => store.policy(hash)),
    verify: () => ask('verify', () => store.verify()),
    watch: (hint) => watch(process, hint),
    close: async () => {},
  }
}

function travel<Answer>(
  options: WireOptions,
  site: string,
  execute: () => Promise<Answer>,
  repeatable: boolean,
): Promise<Answer> {
  const { world, process, recorder, dice, leaseMs } = options
  return new Promise((resolve, reject) => {
    if (!process.alive) return
    const fault = drawn(options, site, repeatable)
    if (fault) recorder.note({ log: 'fault', process: process.name, fault, site })
    if (fault === 'crashBefore') return process.crash()
    const lateMs = fault === 'delay' ? Math.ceil(leaseMs * (1 + 2 * dice())) : 0
    const late = dice() < 0.5 ? 'request' : 'answer'
    world.after(latencyMs(dice) + (late === 'request' ? lateMs : 0), async () => {
      const answerMs = latencyMs(dice) + (late === 'answer' ? lateMs : 0)
      if (fault === 'unavailable') return process.deliver(answerMs, () => reject(trouble('store.unavailable', site)))
      let answer: Answer
      try {
        answer = await execute()
        if (fault === 'duplicate') await execute()
      } catch (error) {
        return process.deliver(answerMs, () => reject(error))
      }
      if (fault === 'crashAfter') return process.crash()
      process.deliver(answerMs, () => (fault === 'unknown' ? reject(trouble('store.unknown', site)) : resolve(answer)))
    })
  })
}

function drawn({ faults, crashable }: WireOptions, site: string, repeatable: boolean): FaultKind | undefined {
  const fault = faults.draw(site)
  if (!crashable && (fault === 'crashBefore' || fault === 'crashAfter')) return 'unavailable'
  if (fault === 'duplicate' && !repeatable) return undefined
  return fault === 'unknown' && READS.has(site) ? 'unavailable' : fault
}

const trouble = (code: 'store.unavailable' | 'store.unknown', site: string) =>
  new RepriseError(code, `simulated: ${site} ${code === 'store.unknown' ? 'may have happened' : 'was not reached'}`)

/** Mostly next to nothing, sometimes long enough for anybody to come between. */
function latencyMs(dice: Dice): number {
  const draw = dice()
  if (draw < 0.5) return 0
  return draw < 0.95 ? Math.floor(dice() * 6) : Math.floor(dice() * 400)
}
