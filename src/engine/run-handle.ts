/**
 * What a submitter holds: the run's id, and a way to wait for its end.
 */

import type { Failure } from '../failure/failure.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import type { RunView, Store } from '../ports/store.ts'
import { isTerminal } from '../run/run.ts'
import type { Clock } from '../time/clock.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { fromJson } from './json.ts'

export type RunResult<Output> =
  | { readonly ok: true; readonly value: Output; readonly cost: number }
  | { readonly ok: false; readonly failure: Failure; readonly cost: number }

export interface RunHandle<Output = unknown> {
  readonly id: string
  /** False when the key's run existed already. */
  readonly created: boolean
  /** Waits for the end, however long it takes unless told; a person's part included. Throws when time is up, never for a failed run. */
  result(options?: { readonly timeoutMs?: Duration }): Promise<RunResult<Output>>
}

/** How often the store is asked when no hint comes: the run may end in another process. */
const LOOK_FIRST_MS = 20
const LOOK_MAX_MS = 1_000

export function runHandle<Output>(store: Store, clock: Clock, id: string, created: boolean): RunHandle<Output> {
  return {
    id,
    created,
    async result({ timeoutMs } = {}) {
      const limitMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : parseDuration(timeoutMs, 'timeoutMs')
      return resultOf<Output>(await ended(store, clock, id, limitMs))
    },
  }
}

async function ended(store: Store, clock: Clock, id: string, limitMs: number): Promise<RunView> {
  const endsAt = clock.monotonic() + limitMs
  for (let waitMs = LOOK_FIRST_MS; ; waitMs = Math.min(waitMs * 2, LOOK_MAX_MS)) {
    const run = await store.get({ id })
    if (!run) throw new RepriseError('run.not_found', `There is no run ${id}: it may have been pruned.`)
    if (isTerminal(run.state)) return run
    const leftMs = endsAt - clock.monotonic()
    if (leftMs <= 0) {
      throw new RepriseError(
        'result.timeout',
        `Run ${id} is ${run.state} after ${limitMs} ms. It goes on; ask again, or give it longer.`,
      )
    }
    await hintOrTime(store, clock, Math.min(waitMs, leftMs))
  }
}

/** Resolves at the store's next hint, or when the time is over. */
function hintOrTime(store: Store, clock: Clock, ms: number): Promise<void> {
  const controller = new AbortController()
  const unwatch = store.watch(() => controller.abort())
  return clock
    .sleep(ms, controller.signal)
    .catch(() => {})
    .finally(unwatch)
}

function resultOf<Output>(run: RunView): RunResult<Output> {
  const cost = run.costUsd
  if (run.state === 'succeeded') {
    return { ok: true, value: (run.output === undefined ? undefined : fromJson(run.output)) as Output, cost }
  }
  return { ok: false, failure: run.failure ?? endedWithout(run), cost }
}

/** A cancelled or skipped run has no failure of its own. */
export function endedWithout(run: Pick<RunView, 'state' | 'why'>): Failure {
  const { why } = run
  const skipped = why?.code === 'run.skipped'
  return {
    kind: 'final',
    code: skipped ? 'run.skipped' : `run.${run.state}`,
    layer: 'workflow',
    message: skipped
      ? `The run was skipped: it needs ${why.params.step}.`
      : `The run was ${run.state}${why?.code === 'run.cancelled' ? ` by ${why.params.by}` : ''}.`,
    advice: 'Retry it if it is still wanted.',
    rule: 'own/ended',
  }
}
