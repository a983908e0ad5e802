/**
 * The entry point of functions that Firestore triggers: for each event it does what can be done of that one document, within the
 * time of an invocation. Events may come twice, late or out of order: only what is stored counts.
 */
import type { Reprise } from '../engine/reprise.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { Store } from '../ports/store.ts'
import type { EventOf } from '../run/event.ts'
import { adoptFlow, tellStep } from '../stores/firestore/adopt.ts'
import { type FirestoreOptions, firestore } from '../stores/firestore/index.ts'
import { systemClock } from '../time/clock.ts'
import { type FlowEvent, flowIn } from './flow-event.ts'
import type { FlowOutcome } from './outcome.ts'
import { Seats } from './seats.ts'

/** What a handler needs of `createReprise`. */
export type FlowReprise = Pick<Reprise<never>, 'work' | 'on' | 'close'>

export interface FlowHandlerOptions {
  /** Where the flows are. */
  readonly firestore?: Omit<FirestoreOptions, 'only'>
  /** Puts the engine together on the store of one document: `createReprise({ store, artifacts })` with its handlers. */
  readonly open: (store: Store) => FlowReprise
  /** Invocations that work at the same time in this instance; the others wait their turn. @default 1 */
  readonly concurrency?: number
  /** How long the platform lets an invocation live, the wait for its turn included. @default 780,000 */
  readonly invocationMs?: number
  /** Kept back for writing the end, where a task's policy says nothing of it (that of reports keeps 120 s). @default 120,000 */
  readonly finalizeReserveMs?: number
}

export type FlowHandler = (event: FlowEvent) => Promise<FlowOutcome>

const INVOCATION_MS = 780_000
const FINALIZE_RESERVE_MS = 120_000
/** Leases outlive their invocation by this, so that nobody takes a step that is still being written. */
const LEASE_BEYOND_MS = 60_000
/** So often the store is asked again before an invocation gives up. */
const TROUBLE_MAX = 5

export function createFlowHandler(options: FlowHandlerOptions): FlowHandler {
  const { concurrency = 1, invocationMs = INVOCATION_MS, finalizeReserveMs = FINALIZE_RESERVE_MS } = options
  for (const [field, value] of Object.entries({ concurrency, invocationMs, finalizeReserveMs }))
    if (!Number.isInteger(value) || value < 1)
      throw new RangeError(`${field}: ${value}; allowed are whole numbers from 1`)
  if (finalizeReserveMs >= invocationMs)
    throw new RangeError(`finalizeReserveMs: ${finalizeReserveMs}; allowed is less than invocationMs (${invocationMs})`)
  const { collection = 'flow_runs' } = options.firestore ?? {}
  const seats = new Seats(concurrency)
  return async (event) => {
    const flow = flowIn(event, collection)
    if (flow === undefined)
      throw new RepriseError(
        'flow.event',
        `The event is about ${JSON.stringify(event.document ?? event.subject)}. Allowed: documents of ${collection}; filter the trigger by its path.`,
      )
    const arrivedAt = systemClock.monotonic()
    const leftMs = () => Math.ceil(invocationMs - (systemClock.monotonic() - arrivedAt))
    return seats.use(() => handle(options, flow, leftMs, finalizeReserveMs))
  }
}

async function handle(
  options: FlowHandlerOptions,
  flow: string,
  leftMs: () => number,
  finalizeReserveMs: number,
): Promise<FlowOutcome> {
  const { firestore: place = {} } = options
  if (leftMs() <= finalizeReserveMs)
    throw new RepriseError(
      'flow.busy',
      `The event of flow ${flow} waited for its turn until ${leftMs()} ms of its time were left. Raise concurrency, or let the platform send this instance fewer events at a time; with retries on, the event comes again.`,
    )
  const adopted = await adoptFlow(place, flow)
  if (adopted.answer === 'missing') return { flow, done: 0, code: 'FLOW_RUN_NOT_FOUND' }
  if (adopted.answer === 'invalid') return { flow, done: 0, code: 'FLOW_RUN_INVALID', message: adopted.message }
  const tasks = new Set<string>()
  const reprise = options.open(inInvocation(firestore({ ...place, only: flow }), leftMs, tasks))
  const seen = watch(reprise)
  const worker = reprise.work({
    concurrency: 1,
    leaseMs: leftMs() + LEASE_BEYOND_MS,
    finalizeReserveMs,
    endsAt: adopted.now + leftMs(),
  })
  try {
    await Promise.race([worker.idle(), seen.gaveUp])
  } finally {
    await worker.stop({ drainMs: seen.trouble === undefined ? finalizeReserveMs : 0 }).catch(() => {})
    await reprise.close().catch(() => {})
  }
  const outcome = outcomeOf(flow, adopted, seen)
  await tell(place, outcome, worker.id, tasks)
  return outcome
}

/** The store of one invocation: a lease ends with it, whenever in it the lease began. What is claimed for is noted in `tasks`. */
function inInvocation(store: Store, leftMs: () => number, tasks: Set<string>): Store {
  const leaseMs = () => Math.max(0, leftMs()) + LEASE_BEYOND_MS
  return {
    ...store,
    claim: (request) => {
      for (const task of request.tasks) tasks.add(task)
      return store.claim({ ...request, leaseMs: leaseMs() })
    },
    renew: (request) => store.renew({ ...request, leaseMs: leaseMs() }),
  }
}

interface Seen {
  started: number
  done: number
  refused: boolean
  trouble: EventOf<'store.trouble'> | undefined
  readonly gaveUp: Promise<void>
}

function watch(reprise: FlowReprise): Seen {
  let giveUp = () => {}
  const gaveUp = new Promise<void>((resolve) => {
    giveUp = resolve
  })
  const seen: Seen = { started: 0, done: 0, refused: false, trouble: undefined, gaveUp }
  const troubles = { claim: 0, write: 0 }
  reprise.on('attempt.started', () => {
    seen.started += 1
    troubles.claim = 0
  })
  reprise.on('call.answered', () => {
    troubles.write = 0
  })
  for (const name of [
    'run.succeeded',
    'run.failed',
    'attempt.retried',
    'run.review',
    'run.suspended',
    'run.interrupted',
  ] as const)
    reprise.on(name, () => {
      seen.done += 1
      troubles.write = 0
    })
  reprise.on('write.refused', () => {
    seen.refused = true
  })
  reprise.on('store.trouble', (event) => {
    // Idle looks go well while writes fail, so each is counted by itself.
    const verb = event.verb === 'claim' ? 'claim' : 'write'
    troubles[verb] += 1
    const isGivenUp = event.verb.startsWith('end of ')
    if (!isGivenUp && troubles[verb] < TROUBLE_MAX) return
    seen.trouble = event
    giveUp()
  })
  return seen
}

function outcomeOf(
  flow: string,
  { ready, blocked }: { readonly ready: readonly string[]; readonly blocked: readonly string[] },
  { started, done, refused, trouble }: Seen,
): FlowOutcome {
  if (trouble) {
    const code = started > done ? 'FIRESTORE_FINALIZE_FAILED' : 'FIRESTORE_CLAIM_FAILED'
    return { flow, done, code, message: trouble.message }
  }
  if (refused) return { flow, done, code: 'STEP_FINALIZE_CONFLICT' }
  if (started > 0) return { flow, done }
  if (ready.length > 0) return { flow, done, code: 'STEP_CLAIM_CONFLICT' }
  return { flow, done, code: blocked.length > 0 ? 'DEPENDENCY_NOT_SUCCEEDED' : 'NO_READY_STEP' }
}

/** What the store did to the invocation is said on the step, if it can be; its state stays, and the next event goes on from it. */
async function tell(
  place: FirestoreOptions,
  { flow, code, message = '' }: FlowOutcome,
  worker: string,
  tasks: ReadonlySet<string>,
): Promise<void> {
  if (code === 'FIRESTORE_CLAIM_FAILED')
    await tellStep(place, flow, { code, message }, ({ status, task }) => status === 'READY' && tasks.has(String(task)))
  if (code === 'FIRESTORE_FINALIZE_FAILED')
    await tellStep(place, flow, { code, message }, (step) => step.status === 'RUNNING' && step.worker === worker)
}
