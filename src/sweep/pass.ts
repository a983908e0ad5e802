/**
 * One pass over one collection, top to bottom: judge the dependency, hear of failures, count what is stuck, send what was left behind,
 * begin what is due, move what failed, count what is left. Trouble in one step is told and counted; the next pass goes on.
 */
import { archiveFailed } from './archive-failed.ts'
import { beginDue } from './begin-due.ts'
import type { Collection } from './collection.ts'
import { allowedBy, type Health, healthAfter, lookFrom, WELL } from './health.ts'
import { hearFailures } from './hear-failures.ts'
import { type CollectionReport, newReport, type PassParts, trouble, troubleType } from './pass-parts.ts'
import { sendAgain } from './send.ts'

export async function sweepCollection(parts: PassParts, collection: Collection): Promise<CollectionReport> {
  const report = newReport(collection)
  const step = async (act: () => Promise<void>): Promise<void> => {
    if (parts.signal?.aborted) return
    try {
      await act()
    } catch (error) {
      trouble(parts, report, troubleType(error), error)
    }
  }
  let health: Health = WELL
  await step(async () => {
    health = await judge(parts, collection)
    report.health = health.state
  })
  await step(() => hearFailures(parts, collection, report, health.stretch))
  let counts = 0
  await step(async () => {
    await countStuck(parts, collection, report)
    counts += 1
  })
  await step(() => sendAgain(parts, collection, report))
  await step(async () => {
    const allowed = allowedBy(health, collection.limit)
    await beginDue(parts, collection, report, allowed)
    if (health.state === 'sick' && report.begun > 0) await rememberProbes(parts, collection)
  })
  await step(() => archiveFailed(parts, collection, report))
  await step(async () => {
    await countLeft(parts, collection, report)
    counts += 1
  })
  report.isCounted = counts === 2
  return report
}

async function countStuck(parts: PassParts, collection: Collection, report: CollectionReport): Promise<void> {
  const where = { is: 'stuck', before: parts.now() - collection.stuckAgeMs } as const
  report.stuck = await parts.source.count(collection.shape, where)
  if (report.stuck === 0) return
  const { documents } = await parts.source.find(collection.shape, { where, order: 'oldest', limit: 1 })
  const [oldest] = documents
  const since = oldest && (oldest.lastAttemptAt ?? oldest.createdAt ?? oldest.marks.seenAt)
  if (since !== undefined) report.oldestStuckMs = Math.max(0, parts.now() - since)
}

async function countLeft(parts: PassParts, { shape }: Collection, report: CollectionReport): Promise<void> {
  const now = parts.now()
  report.waiting = await parts.source.count(shape, { is: 'waiting', after: now })
  report.failed = await parts.source.count(shape, { is: 'failed' })
  if (report.health === 'sick') report.deferred = await parts.source.count(shape, { is: 'due', by: now })
}

const memoryOf = ({ shape }: Collection) => `health/${shape.name}`

/** What was remembered, brought up to date by what is seen now. Two sweepers that judge at once come to the same; one writes it down. */
async function judge(parts: PassParts, collection: Collection): Promise<Health> {
  const { source, emit, now, dryRun } = parts
  const recalled = await source.recall(memoryOf(collection))
  const before: Health = recalled ? (JSON.parse(recalled.value) as Health) : WELL
  const since = lookFrom(before, now())
  const [processed, troubled] = await Promise.all([
    source.count(collection.shape, { is: 'processed', since }),
    source.count(collection.shape, { is: 'troubled', since }),
  ])
  const health = healthAfter(before, { processed, troubled }, now())
  if (health === before || dryRun) return health
  const kept = await source.remember(memoryOf(collection), JSON.stringify(health), recalled?.rev ?? 0)
  if (kept === 'ok' && health.state !== before.state) {
    const { name } = collection.shape
    emit({ name: 'sweep.dependency', at: now(), collection: name, state: health.state, processed, troubled })
  }
  return health
}

async function rememberProbes({ source, now, dryRun }: PassParts, collection: Collection): Promise<void> {
  if (dryRun) return
  const recalled = await source.recall(memoryOf(collection))
  if (!recalled) return
  const health = JSON.parse(recalled.value) as Health
  const probed: Health = { ...health, probedAt: now() }
  await source.remember(memoryOf(collection), JSON.stringify(probed), recalled.rev)
}
