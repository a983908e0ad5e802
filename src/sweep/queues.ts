/**
 * Tools for queues of failed messages: look, export, give to the documents again, purge what was exported. Looking takes nothing away:
 * what is taken to be read is given back.
 */
import { createHash } from 'node:crypto'
import { RepriseError } from '../failure/reprise-error.ts'
import type { Bus, Delivery } from '../ports/bus.ts'
import { actOn } from './operate.ts'
import type { Sweep } from './sweep.ts'

export interface QueueLine {
  readonly queue: string
  readonly id: string
  /** Of the body: with the id it tells this message from every other. */
  readonly sha256: string
  readonly body: string
}

export interface QueueActed {
  readonly queue: string
  readonly dryRun: boolean
  readonly matched: number
  readonly done: number
  /** Left where they are. */
  readonly left: number
}

/** Messages that a tool holds at a time, and in all: they are unacknowledged while they are looked at. */
const HELD_MAX = 10_000

export async function queueDepths(sweep: Sweep): Promise<readonly { queue: string; messages: number }[]> {
  const bus = busOf(sweep)
  const names = sweep.collections.flatMap(({ failures }) =>
    failures ? [failures.queue, `${failures.queue}.parked`] : [],
  )
  const depths = await Promise.all(names.map(async (queue) => ({ queue, messages: await bus.depth(queue) })))
  return depths.map(({ queue, messages }) => ({ queue, messages: messages ?? 0 }))
}

export interface QueueLook {
  readonly lines: readonly QueueLine[]
  /** Behind those, and not looked at. */
  readonly beyond: number
}

export async function peekQueue(sweep: Sweep, queue: string, limit = HELD_MAX): Promise<QueueLook> {
  return holding(busOf(sweep), queue, limit, async (held, _settle, beyond) => ({
    lines: held.map((each) => lineOf(queue, each)),
    beyond,
  }))
}

/** Removes messages that an export named; everything else goes back. */
export async function purgeQueue(
  sweep: Sweep,
  queue: string,
  lines: readonly Pick<QueueLine, 'id' | 'sha256'>[],
  { dryRun, by }: { readonly dryRun: boolean; readonly by: string },
): Promise<QueueActed> {
  const named = new Set(lines.map(({ id, sha256 }) => `${id} ${sha256}`))
  const acted = await holding(busOf(sweep), queue, HELD_MAX, async (held, settle, beyond) => {
    const matched = held.filter((each) => named.has(keyOf(each)))
    if (!dryRun) for (const each of matched) await settle(each)
    return {
      queue,
      dryRun,
      matched: matched.length,
      done: dryRun ? 0 : matched.length,
      left: held.length - matched.length + beyond,
    }
  })
  if (!dryRun) await noted(sweep, 'queue.purge', by, acted)
  return acted
}

/** The messages are heard as a pass would hear them, and every document that they name is due at once. */
export async function requeueQueue(
  sweep: Sweep,
  queue: string,
  { dryRun, by, spreadMs = 0 }: { readonly dryRun: boolean; readonly by: string; readonly spreadMs?: number },
): Promise<QueueActed> {
  const collection = sweep.collections.find(
    ({ failures }) => failures && (failures.queue === queue || `${failures.queue}.parked` === queue),
  )
  const failures = collection?.failures
  if (!collection || !failures) {
    const known = sweep.collections.flatMap((each) => each.failures?.queue ?? []).join(', ')
    throw new RepriseError('sweep.queue', `No collection hears of failures by the queue "${queue}". Allowed: ${known}.`)
  }
  const acted = await holding(busOf(sweep), queue, HELD_MAX, async (held, settle, beyond) => {
    let done = 0
    for (const each of held) {
      const ids = idsIn(each.body, failures.ids)
      const documents = await Promise.all(ids.map((id) => sweep.source.get(collection.shape, id)))
      // A message about documents that are not there is all that tells of them.
      if (documents.every((document) => document === undefined)) continue
      if (!dryRun) {
        for (const state of ['open', 'failed'] as const)
          await actOn(sweep, 'requeue', { collection, of: state, filter: { ids } }, { by, dryRun, spreadMs })
        await settle(each)
      }
      done += 1
    }
    return { queue, dryRun, matched: done, done: dryRun ? 0 : done, left: held.length - done + beyond }
  })
  if (!dryRun) await noted(sweep, 'queue.requeue', by, acted)
  return acted
}

function idsIn(body: string, ids: (data: Readonly<Record<string, unknown>>) => readonly string[]): readonly string[] {
  try {
    const event = JSON.parse(body) as { readonly body?: unknown; readonly data?: Readonly<Record<string, unknown>> }
    // A message that was put aside carries the original as text.
    if (typeof event.body === 'string') return idsIn(event.body, ids)
    return ids(event.data ?? (event as Readonly<Record<string, unknown>>))
  } catch {
    return []
  }
}

/** Holds messages while they are looked at, and gives back those that were not settled. `beyond` is how many were left in the queue. */
async function holding<T>(
  bus: Bus,
  queue: string,
  limit: number,
  look: (held: readonly Delivery[], settle: (delivery: Delivery) => Promise<void>, beyond: number) => Promise<T>,
): Promise<T> {
  const depth = await bus.depth(queue)
  if (depth === undefined)
    throw new RepriseError(
      'sweep.queue',
      `There is no queue "${queue}". \`reprise sweep queue list\` names those of the sweep.`,
    )
  const held = await bus.take(queue, limit)
  const settled = new Set<Delivery>()
  try {
    return await look(
      held,
      async (delivery) => {
        await delivery.ack()
        settled.add(delivery)
      },
      Math.max(0, depth - held.length),
    )
  } finally {
    for (const delivery of held) if (!settled.has(delivery)) await delivery.back()
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const keyOf = ({ id, body }: Delivery): string => `${id} ${sha256(body)}`
const lineOf = (queue: string, { id, body }: Delivery): QueueLine => ({ queue, id, sha256: sha256(body), body })

async function noted(
  sweep: Sweep,
  what: string,
  by: string,
  { queue, matched, done, left }: QueueActed,
): Promise<void> {
  await sweep.source.note({ at: await sweep.source.now(), by, what, data: { queue, matched, done, left } })
}

function busOf({ bus }: Sweep): Bus {
  if (bus) return bus
  throw new RepriseError('sweep.bus', 'This sweep has no bus, and so no queues. Name one: bus, or RABBITMQ_HOST.')
}
