/**
 * One seed, from the first submit to rest: a phase in which anything may go wrong, then one in which nothing does and everything
 * must come to rest. The same seed gives the same history, line by line.
 */

import { limitsOf } from '../../engine/limits.ts'
import type { Links, RunView, Store } from '../../ports/store.ts'
import { memory } from '../../stores/memory/index.ts'
import { type Clock, turn } from '../../time/clock.ts'
import { Clients } from './clients.ts'
import { Fleet } from './fleet.ts'
import type { Dump, History } from './history.ts'
import { CANARY } from './play.ts'
import { RUNS_MAX, snapshotOf } from './recorder.ts'
import { SIM_TASKS } from './sim-tasks.ts'
import { Stage } from './stage.ts'
import type { World } from './world.ts'

export interface SimulateOptions {
  readonly seed: number
  /** The store to try, with its clock and its ageing; memory unless told. It is closed at the end. */
  readonly open?: (clock: Clock, ageingMs: number) => Store
}

/** Everything a script may ask for is over long before: waits of seconds, sleeps of a minute, a handful of each. */
const QUIET_MAX_MS = 1_800_000
const STEPS_MAX = 300_000
const LOOK_EVERY_MS = 3_000

export async function simulate({
  seed,
  open = (clock, ageingMs) => memory({ clock, ageingMs }),
}: SimulateOptions): Promise<History> {
  const stage = new Stage(seed, open)
  const { world, recorded, character, recorder } = stage
  const clients = new Clients(stage)
  const fleet = new Fleet(stage)
  clients.plan(character.safetyMs)
  fleet.start()
  const safeUntil = world.now + character.safetyMs
  await run(world, () => world.now >= safeUntil)
  stage.faults.stop()
  fleet.calm()
  clients.calm()
  const quietFrom = world.now
  await run(world, await restReached(stage, clients, quietFrom))
  const endedAt = world.now
  const { unstopped, timersLeft } = await fleet.end(() => run(world, () => world.now > endedAt + 60_000))
  const dump = await dumpOf(stage)
  await recorded.store.close()
  return {
    seed,
    steps: world.steps,
    lines: recorder.lines,
    dump,
    quietFrom,
    slots: fleet.slots,
    // Lost hints, a crash, the wait for the lease and for the new process, and a little for the way.
    claimBoundMs: 2 * character.pollMs + 4 * character.leaseMs + 2_000,
    limits: limitsOf(character.limits),
    ageingMs: character.ageingMs,
    timersLeft,
    unstopped,
    policyOf: Object.fromEntries(Object.values(SIM_TASKS).map(({ name, policy }) => [name, policy])),
    canaries: [CANARY],
  }
}

/** Lets things happen until `over` says so, or nothing is left, or it takes too long. */
async function run(world: World, over: () => boolean): Promise<void> {
  // What was set off from outside comes first, however long the store takes to answer.
  await turn()
  while (!over() && world.steps < STEPS_MAX && (await world.step()));
}

/** Ended and blocked runs do not move by themselves. */
const MOVING = ['ready', 'running', 'waiting', 'review'] as const

/** Looks at the store now and then; at rest when nothing can move by itself, or when it has had its time. */
async function restReached({ world, recorded }: Stage, clients: Clients, quietFrom: number): Promise<() => boolean> {
  let atRest = false
  const look = async (): Promise<void> => {
    const { runs } = await recorded.store.find({ states: MOVING, limit: RUNS_MAX })
    atRest = (!clients.busy && runs.every(resting)) || world.now > quietFrom + QUIET_MAX_MS
    if (!atRest) world.after(LOOK_EVERY_MS, look)
  }
  await look()
  return () => atRest
}

export const resting = ({ state, dueAt, lease }: RunView): boolean =>
  lease === undefined && state !== 'ready' && state !== 'waiting' && !(state === 'review' && dueAt !== undefined)

async function dumpOf({ recorded: { store, gone }, world, shelf }: Stage): Promise<Dump> {
  const { runs: kept } = await store.find({ limit: RUNS_MAX })
  const seen = [...gone]
  const links: Record<string, Links> = {}
  for (const run of kept) {
    seen.push(await snapshotOf(store, run))
    const ofRun = await store.links(run.id)
    if (ofRun.needs.length + ofRun.dependents.length > 0) links[run.id] = ofRun
  }
  const policies: Record<string, string> = {}
  for (const { policyHash } of Object.values(SIM_TASKS)) {
    const policy = await store.policy(policyHash)
    if (policy !== undefined) policies[policyHash] = policy
  }
  const artifacts = Object.fromEntries([...shelf.objects].map(([path, { sha256 }]) => [path, sha256]))
  return {
    at: world.now,
    runs: seen.map(({ run }) => run),
    gone: gone.map(({ run }) => run.id),
    links,
    attempts: Object.fromEntries(seen.map(({ run, attempts }) => [run.id, attempts])),
    journals: Object.fromEntries(seen.map(({ run, journals }) => [run.id, journals])),
    notes: await store.notes({}),
    policies,
    findings: await store.verify(),
    artifacts,
    budgets: (await store.budgets()).budgets,
  }
}
