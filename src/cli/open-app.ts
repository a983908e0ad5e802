/**
 * The instance that a command works with: the app's, or one on the configured store, opened and sure to answer.
 */
import { rabbitmqBus } from '../bus/rabbitmq/index.ts'
import type { Settings } from '../config/config.ts'
import type { ResolvedConfig } from '../config/resolve-config.ts'
import { createReprise, type Reprise, type RepriseOptions } from '../create-reprise.ts'
import type { Task } from '../engine/task.ts'
import { type App, loadApp } from './app-module.ts'
import { usageError } from './cli-error.ts'
import type { Frame } from './frame.ts'
import { addressText, openArtifacts, openStore, storeTrouble } from './open-store.ts'

export interface OpenedApp extends App {
  /** The store as people read it. */
  readonly where: string
}

/** What the configuration says about keeping runs; without a word about runs nothing is deleted. */
function retentionOf({ retention }: Settings): Pick<RepriseOptions, 'retention'> {
  const { keysMs: keys, artifacts, keepMax, ...kept } = retention
  const { succeededMs: succeeded, failedMs: failed, cancelledMs: cancelled } = kept
  const said = Object.entries({ succeeded, failed, cancelled, keepMax }).filter(([, limit]) => limit !== undefined)
  return said.length === 0 ? {} : { retention: { ...Object.fromEntries(said), keys, artifacts } }
}

const NO_TASKS: ReadonlyMap<string, Task> = new Map()

/** With an app if one is configured. A store that does not answer is told at once, not after the first run. */
export async function openApp({ settings, entries }: ResolvedConfig, frame: Frame): Promise<OpenedApp> {
  const make = async (): Promise<Reprise> =>
    createReprise({
      store: await openStore(settings, frame.clock),
      artifacts: await openArtifacts(settings.artifacts, frame.clock),
      limits: settings.limits,
      budgets: settings.budgets,
      clock: frame.clock,
      // Inside one process the store itself wakes its watchers.
      ...(settings.bus.driver === 'amqp' ? { bus: rabbitmqBus({ url: settings.bus.url, clock: frame.clock }) } : {}),
      ...retentionOf(settings),
    })
  const app =
    settings.app === undefined
      ? { reprise: await make(), tasks: NO_TASKS, bringsStore: false }
      : await loadApp(settings.app, settings, frame.cwd, make)
  const where = app.bringsStore ? `${app.reprise.store.name} of the app` : addressText(settings.store, frame.cwd)
  try {
    const asked = entries.find(({ name }) => name === 'store')?.origin
    if (app.bringsStore && asked?.startsWith('flag:'))
      throw usageError(
        'The app brings its own store, so --store has no effect.',
        'Export a function from the app, and it is given the configured one.',
      )
    await app.reprise.store.notes({ limit: 1 })
    return { ...app, where }
  } catch (error) {
    await app.reprise.close()
    throw storeTrouble(error, where)
  }
}
