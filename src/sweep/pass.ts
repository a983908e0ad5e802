/**
 * One pass over one collection, top to bottom: hear of failures, judge the dependency, count what is stuck, send what was left behind,
 * begin what is due, move what failed, count what is left. Trouble in one step is told and counted; the next pass goes on.
 */
import { archiveFailed } from './archive-failed.ts'
import { beginDue } from './begin-due.ts'
import type { Collection } from './collection.ts'
import { allowedBy, type Health, healthAfter, lookFrom, probed, WELL } from './health.ts'
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
  // Heard first: how the probes of the last pass ended is evidence for this one.
  await step(async () => {
    health = (await recallHealth(parts, collection)).health
    await hearFailures(parts, collection, report, health.stretch)
  })
  await step(async () => {
    health = await judge(parts, collection)
    report.health = health.state
  })
  let counts = 0
  await step(async () => {
    await countStuck(parts, collection, report)
    counts += 1
  })
  await step(() => sendAgain(parts, collection, report))
  await step(async () => {
    const allowed = allowedBy(health, collection.limit)
    const from = parts.now()
    await beginDue(parts, collection, report, allowed)
    if (health.state === 'sick' && report.begun > 0) await rememberProbes(parts, collection, from)
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

async function recallHealth({ source }: PassParts, collection: Collection) {
  const recalled = await source.recall(memoryOf(collection))
  return { health: recalled ? (JSON.parse(recalled.value) as Health) : WELL, rev: recalled?.rev ?? 0 }
}

/** What was remembered, brought up to date by what is seen now. Two sweepers that judge at once come to the same; one writes it down. */
async function judge(parts: PassParts, collection: Collection): Promise<Health> {
  const { source, emit, now, dryRun } = parts
  const { health: before, rev } = await recallHealth(parts, collection)
  const since = lookFrom(before, now())
  const [processed, troubled] = await Promise.all([
    source.count(collection.shape, { is: 'processed', since }),
    source.count(collection.shape, { is: 'troubled', since }),
  ])
  const health = healthAfter(before, { processed, troubled }, now())
  if (health === before || dryRun) return health
  const kept = await source.remember(memoryOf(collection), JSON.stringify(health), rev)
  if (kept === 'ok' && health.state !== before.state) {
    const { name } = collection.shape
    emit({ name: 'sweep.dependency', at: now(), collection: name, state: health.state, processed, troubled })
  }
  return health
}

async function rememberProbes(parts: PassParts, collection: Collection, from: number): Promise<void> {
  if (parts.dryRun) return
  const { health, rev } = await recallHealth(parts, collection)
  if (health.state === 'sick')
    await parts.source.remember(memoryOf(collection), JSON.stringify(probed(health, from)), rev)
}
