/**
 * The one sentence about a run: what it does now and why. The same for lists, stories and pages.
 * Pure: the run and the store's time are handed in.
 */
import { say } from '../policy/say.ts'
import type { Why } from '../policy/why.ts'
import type { HoldView, RunView } from '../ports/store.ts'
import { covers } from '../run/hold.ts'
import { heldName } from '../run/hold-events.ts'
import { wordOf } from '../run/run.ts'
import { clockTime } from '../time/zone.ts'

export function headline(run: RunView, now: number, zone = 'UTC', holds: readonly HoldView[] = []): string {
  const tell = (why: Why) => say(why, { now, zone })
  const { why, dueAt, lease } = run
  const held = heldWhy(run, holds)
  switch (wordOf(run, now)) {
    case 'running':
      return `Attempt ${run.attempt} runs on ${lease?.worker ?? 'a worker'}${progressOf(run)}.`
    case 'ready':
      if (lease)
        return `No sign of life from ${lease.worker} since ${clockTime(lease.until, zone, now)}; the next worker takes it.`
      if (held) return tell(held)
      if (why?.code === 'run.again') return tell(why)
      return tell({ code: 'run.ready', params: { since: run.submittedAt } })
    case 'waiting':
      if (dueAt === undefined && run.concurrency) return tell({ code: 'run.parked', params: run.concurrency })
      return why ? tell(why) : tell({ code: 'run.scheduled', params: { at: dueAt ?? now } })
    case 'review':
      if (dueAt !== undefined && dueAt <= now)
        return tell({ code: 'run.overdue', params: { queue: queueOf(why), since: dueAt } })
      return why ? tell(why) : 'With a person.'
    case 'succeeded':
      return why ? tell(why) : tell({ code: 'run.succeeded', params: { attempts: run.attempt } })
    case 'failed':
      return why ? tell(why) : `Ended: ${run.failure?.message ?? 'no reason is stored'}`
    case 'cancelled':
      return why ? tell(why) : 'Cancelled.'
    case 'blocked':
      return why && why.code !== 'run.again' ? tell(why) : 'Waiting for the steps that it needs.'
  }
}

/** The hold that keeps a ready run from being taken; of several, the one that lasts longest. */
function heldWhy(run: RunView, holds: readonly HoldView[]): Why | undefined {
  const [hold] = holds
    .filter(({ what, phase }) => phase !== 'admitting' && covers(what, run))
    .sort((a, b) => (b.until ?? Number.POSITIVE_INFINITY) - (a.until ?? Number.POSITIVE_INFINITY))
  if (!hold) return undefined
  const { what, until, waiting } = hold
  const params = { resource: heldName(what), others: Math.max(0, waiting - 1) }
  return { code: 'run.held', params: { ...params, ...(until === undefined ? {} : { until }) } }
}

function progressOf({ progress }: RunView): string {
  if (!progress) return ''
  const of = progress.of === undefined ? '' : ` of ${progress.of}`
  return `: ${progress.done}${of}${progress.note === undefined ? '' : `, ${progress.note}`}`
}

function queueOf(why: Why | undefined): string {
  if (why?.code === 'run.handed_over') return why.params.queue
  const to = (why?.params as { readonly to?: unknown } | undefined)?.to
  return typeof to === 'string' ? to : 'the person'
}
