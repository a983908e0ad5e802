/**
 * The user's module with handlers: loaded, told apart, and given what the configuration says about its tasks.
 * The module is the user's code and runs as such; it either brings an instance of its own or registers on ours.
 */
import { createRequire } from 'node:module'
import { isAbsolute, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Settings } from '../config/config.ts'
import type { Reprise } from '../create-reprise.ts'
import { hashOf } from '../engine/json.ts'
import { defineTask, type Task } from '../engine/task.ts'
import { definePolicy } from '../policy/define-policy.ts'
import { CliError } from './cli-error.ts'
import { shown } from './terminal/text.ts'

export interface App {
  readonly reprise: Reprise
  /** Tasks that are known by their definition: registered on our instance, or exported by the module. */
  readonly tasks: ReadonlyMap<string, Task>
  /** It made its instance itself, with a store of its own. */
  readonly bringsStore: boolean
}

const WHAT_TO_EXPORT =
  'Export, as default or as `app` or `reprise`, an instance made by createReprise, or a function that is given one: `export default (reprise) => { reprise.task(…) }`.'

/** `make` is called only if the module wants an instance. */
export async function loadApp(
  path: string,
  settings: Settings,
  cwd: string,
  make: () => Promise<Reprise>,
): Promise<App> {
  const name = isAbsolute(path) && !relative(cwd, path).startsWith('..') ? relative(cwd, path) : path
  const module = await importFrom(path, cwd).catch((cause: unknown) => {
    throw refused(`The app ${shown(name)} cannot be loaded.`, cause)
  })
  const tasks = new Map<string, Task>()
  for (const exported of Object.values(module)) if (isTask(exported)) tasks.set(exported.name, exported)
  const found = module['default'] ?? module['reprise'] ?? module['app']
  if (isReprise(found)) return { reprise: found, tasks, bringsStore: true }
  if (typeof found !== 'function') throw refused(`The app ${shown(name)} exports nothing that works.`, undefined)
  const reprise = await make()
  try {
    await found(registering(reprise, settings, tasks))
  } catch (cause) {
    await reprise.close()
    throw refused(`The app ${shown(name)} failed while it registered its handlers.`, cause)
  }
  return { reprise, tasks, bringsStore: false }
}

async function importFrom(path: string, cwd: string): Promise<Readonly<Record<string, unknown>>> {
  const file = isAbsolute(path) ? path : createRequire(join(cwd, 'app.js')).resolve(path)
  return import(/* @vite-ignore */ pathToFileURL(file).href)
}

/** Our instance, as the module sees it: every task is noted, and gets what the configuration says about it. */
function registering(reprise: Reprise, settings: Settings, tasks: Map<string, Task>): Reprise {
  const note = <Each extends Task>(task: Each): Each => {
    tasks.set(task.name, task)
    return task
  }
  return {
    ...reprise,
    handle: (task, handler) => {
      reprise.handle({ ...task, ...note(configured(task as Task, settings)) } as typeof task, handler)
    },
    task: (name, options, handler) => {
      const task = defineTask({ ...options, name })
      const adapted = { ...task, ...note(configured(task as Task, settings)) } as typeof task
      reprise.handle(adapted, handler)
      return adapted
    },
  }
}

/** The policy of the configuration goes before the task's own; its timeouts stand in where a policy sets no limits. */
function configured(task: Task, { policies, timeouts }: Settings): Task {
  const chosen = policies[task.name] ?? task.policy
  const needsLimits = chosen.limits === undefined && Object.keys(timeouts).length > 0
  const policy = needsLimits ? definePolicy({ limits: timeouts }, chosen) : chosen
  return policy === task.policy ? task : { ...task, policy, policyHash: hashOf(policy) }
}

function isReprise(value: unknown): value is Reprise {
  return hasFunctions(value, ['work', 'submit', 'handle', 'on', 'close'])
}

function isTask(value: unknown): value is Task {
  return typeof value === 'object' && value !== null && 'policyHash' in value && 'name' in value && 'policy' in value
}

function hasFunctions(value: unknown, names: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null) return false
  return names.every((name) => typeof (value as Record<string, unknown>)[name] === 'function')
}

function refused(message: string, cause: unknown): CliError {
  return new CliError({
    code: 'APP_INVALID',
    message,
    ...(cause === undefined ? {} : { cause }),
    tryThis: WHAT_TO_EXPORT,
    exit: 2,
    touched: 'No run was touched.',
  })
}
