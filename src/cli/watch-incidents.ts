/**
 * Keeps incidents for a command that goes on: for the sweep after each pass, for a worker now and then. Trouble with it is told and
 * stops nobody: documents and runs come first.
 */
import type { Settings } from '../config/config.ts'
import { loadConfig } from '../config/load-config.ts'
import { createReprise, type Reprise, type RunningWorker } from '../engine/reprise.ts'
import { safeText } from '../failure/mask-secrets.ts'
import {
  createIncidents,
  hearExhaustion,
  type Incidents,
  sightingsOfPass,
  sightingsOfStore,
  webhookOut,
  webhookTask,
} from '../incidents/index.ts'
import { createEmitter } from '../observe/emitter.ts'
import type { RepriseEvent } from '../run/event.ts'
import type { PassReport } from '../sweep/sweep.ts'
import type { Clock } from '../time/clock.ts'
import type { Frame } from './frame.ts'
import { openStore, storeTrouble } from './open-store.ts'

type Tell = (event: RepriseEvent) => void

function incidentsOn(reprise: Reprise, settings: Settings, clock: Clock, tell: Tell): Incidents {
  const { calendar, owners, webhook } = settings.incidents
  const emitter = createEmitter()
  emitter.on('*', tell)
  return createIncidents({
    store: reprise.store,
    calendar,
    owners,
    emit: (event) => emitter.emit(event),
    ...(webhook ? { deliver: webhookOut(reprise, webhook, clock) } : {}),
  })
}

/** Trouble as one line, for whoever reads the errors. */
const troubleLine = (error: unknown): string =>
  `Incidents could not be looked after: ${safeText(error instanceof Error ? error.message : String(error), 400)}`

export interface SweepWatch extends AsyncDisposable {
  saw(report: PassReport): Promise<void>
}

/** A single pass does not wait longer than this for a receiver: what is left is sent by the next. */
const DELIVER_ONCE_MS = 15_000

/** Only where a store is named: a sweep by itself leaves no file behind. */
export async function watchSweep(
  store: string | undefined,
  frame: Frame,
  { tell, isOnce }: { readonly tell: Tell; readonly isOnce: boolean },
): Promise<SweepWatch | undefined> {
  const { env, err } = frame.terminal()
  const { settings, entries } = await loadConfig({ cwd: frame.cwd, env, flags: { store } })
  if (entries.find(({ name }) => name === 'store')?.origin === 'default') return undefined
  const reprise = createReprise({ store: await openStore(settings, frame.clock), clock: frame.clock })
  let worker: RunningWorker | undefined
  try {
    const incidents = incidentsOn(reprise, settings, frame.clock, tell)
    await reprise.store.notes({ limit: 1 })
    if (settings.incidents.webhook) worker = reprise.work({ tasks: [webhookTask], concurrency: 4 })
    return {
      async saw(report) {
        try {
          await incidents.look(sightingsOfPass(report), { by: 'sweep' })
        } catch (error) {
          err.lines(err.text(troubleLine(error)))
        }
      },
      async [Symbol.asyncDispose]() {
        if (isOnce && worker)
          await Promise.race([worker.idle(), frame.clock.sleep(DELIVER_ONCE_MS).catch(() => undefined)])
        await worker?.stop({ drainMs: 1_000 })
        await reprise.close()
      },
    }
  } catch (error) {
    await reprise.close()
    throw storeTrouble(error, 'the store of incidents', 'No document was touched.')
  }
}

/** Often enough for limits of an hour; each look is a handful of counts. */
const LOOK_EVERY_MS = 5 * 60_000

/** Looks now, every five minutes, and a last time when it is let go. */
export function watchStore(reprise: Reprise, settings: Settings, frame: Frame, tell: Tell): AsyncDisposable {
  const { err } = frame.terminal()
  const { stuckAfterMs } = settings.incidents
  const incidents = incidentsOn(reprise, settings, frame.clock, tell)
  const exhaustion = hearExhaustion()
  const off = reprise.on('run.failed', exhaustion.hear)
  const look = async (): Promise<void> => {
    try {
      await incidents.look(await sightingsOfStore(reprise.store, { exhausted: exhaustion.take(), stuckAfterMs }), {
        by: 'work',
        whole: 'task:',
      })
    } catch (error) {
      err.lines(err.text(troubleLine(error)))
    }
  }
  let looking = look()
  let cancel = later()
  function later(): () => void {
    return frame.clock.after(LOOK_EVERY_MS, () => {
      looking = looking.then(look)
      cancel = later()
    })
  }
  return {
    async [Symbol.asyncDispose]() {
      cancel()
      off()
      await looking
      await look()
    },
  }
}
