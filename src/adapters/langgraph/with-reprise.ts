/**
 * `withReprise(node)`: a node that ends in a state instead of an exception: what went wrong, attempt n of m, and what comes next.
 * The workflow's failures are decided here; infrastructure has been tried below, so a graph that meets it does not try it again.
 */
import { type ClassifyOptions, classify as classifyThrown } from '../../failure/classify.ts'
import type { Failure } from '../../failure/failure.ts'
import { fingerprint } from '../../failure/fingerprint.ts'
import { isRepriseError } from '../../failure/reprise-error.ts'
import { ambientAttempt, wantAmbient } from '../../observe/ambient.ts'
import type { Policy } from '../../policy/policy.ts'
import { presets } from '../../policy/presets.ts'
import type { Emit } from '../../run/event.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { type Dice, systemDice } from '../../time/dice.ts'
import { type Mode, modeOf } from '../mode.ts'
import { type GraphJournal, placeOf } from './journal.ts'
import { judgeNode } from './judge-node.ts'
import { FIRST_LOOP, type LoopState, type NodeFailure, type RepriseState, type RepriseUpdate } from './state.ts'

// At the door, so that also the first attempt of a process is known to the graphs inside it.
wantAmbient()

/** What of a node's config is used here. */
export interface GraphConfig {
  readonly signal?: AbortSignal
  readonly writer?: unknown
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly executionInfo?: { readonly threadId?: string; readonly taskId: string; readonly nodeAttempt: number }
}

export interface NodeScope<Config = GraphConfig> {
  readonly config: Config
  /** Aborts when the graph is stopped. */
  readonly signal: AbortSignal
  /** Number of this attempt in its loop, 1 for the first. */
  readonly attempt: number
  /** The rung to work on, by the policy's ladder; absent without one. */
  readonly rung?: string
  /** Does something in the world once, if the node has a journal: a resumed graph gets the stored answer. */
  call<Answer>(name: string, send: () => Promise<Answer>, options?: { readonly input?: unknown }): Promise<Answer>
}

export interface NodeOptions<State> {
  /** The node's name, as given to `addNode`. */
  readonly name: string
  /** Nodes of one loop share one count, such as the query that is written, checked and run. The node's own name unless given. */
  readonly ledger?: string
  readonly policy?: Policy
  /** `observe` tells and throws on: the graph's own retries stay. */
  readonly mode?: Mode
  /** Your own classifier, such as `queryFailure` for an agent that writes SQL. */
  readonly classify?: (thrown: unknown, options: ClassifyOptions) => Failure
  /** The answer that failed. The same failure on the same answer is no progress, and is not asked for again. */
  readonly answer?: (state: State) => unknown
  readonly journal?: GraphJournal
  /** Shows a failure to the user. It also goes to `streamMode: 'custom'`. */
  readonly onFailure?: (failed: NodeFailure) => void
  readonly emit?: Emit
  readonly clock?: Clock
  readonly dice?: Dice
}

type Written = { readonly reprise: RepriseUpdate }

/**
 * @example graph.addNode('execute', withReprise(execute, { name: 'execute', classify: queryFailure }))
 */
export function withReprise<
  State extends { readonly reprise?: RepriseState },
  Update extends object,
  Config extends GraphConfig = GraphConfig,
>(
  node: (state: State, scope: NodeScope<Config>) => Update | Promise<Update>,
  options: NodeOptions<State>,
): (state: State, config: Config) => Promise<(Update & Written) | Written> {
  const { name, ledger = name, policy = presets.sqlAgent, classify = classifyThrown, journal, answer } = options
  if (typeof node !== 'function') throw new RangeError(`withReprise: node is ${typeof node}; allowed are functions`)
  if (typeof name !== 'string' || name === '')
    throw new RangeError(`withReprise: name is ${JSON.stringify(name)}; allowed is the name of the node`)
  const mode = modeOf(options.mode)
  const { clock = systemClock, dice = systemDice } = options

  return async (state, config) => {
    const loop = state.reprise?.loops[ledger] ?? FIRST_LOOP
    const scope = scopeOf(config, loop)
    await waitFor(state.reprise?.last, scope.signal)
    try {
      const update = await node(state, scope)
      return withUpdate(update, { type: 'succeeded', ...clearing(state.reprise?.last) })
    } catch (thrown) {
      if (isNotOurs(thrown) || scope.signal.aborted) throw thrown
      const now = clock.now()
      const failure = classify(thrown, { now })
      const mark = answer ? `${fingerprint(failure)} ${JSON.stringify(answer(state) ?? null)}` : undefined
      const judged = judgeNode({ node: name, failure, policy, loop, now, dice: dice(), mark })
      show(judged.failed, config)
      if (mode === 'observe') throw thrown
      return { reprise: { type: 'failed', ledger, ...judged } }
    }
  }

  function scopeOf(config: Config, loop: LoopState): NodeScope<Config> {
    const { errors, repairs, rateWaits, escalations } = loop.ledgers
    const rung = policy.ladder?.[loop.rung]?.name
    return {
      config,
      signal: config.signal ?? new AbortController().signal,
      attempt: errors + repairs + rateWaits + escalations + 1,
      ...(rung === undefined ? {} : { rung }),
      call: (call, send, { input } = {}) => (journal ? journal.once(placeOf(config, name), call, input, send) : send()),
    }
  }

  /** A retry that was scheduled begins when it may, and not when the graph comes by. */
  async function waitFor(last: NodeFailure | undefined, signal: AbortSignal): Promise<void> {
    const waitMs = last?.node === name && last.next === 'retry' && last.at !== undefined ? last.at - clock.now() : 0
    if (waitMs > 0) await clock.sleep(waitMs, signal)
  }

  function show(failed: NodeFailure, { writer }: Config): void {
    options.onFailure?.(failed)
    if (typeof writer === 'function') writer({ type: 'reprise', ...failed })
    const { node: failing, attempt: retry, of, next, failure } = failed
    const fields = { node: failing, retry, of, next, failure }
    const attempt = ambientAttempt()
    if (attempt) attempt.tell('node.failed', fields)
    else options.emit?.({ name: 'node.failed', at: clock.now(), ...fields })
  }
}

const clearing = (last: NodeFailure | undefined) =>
  last === undefined ? {} : { clears: { node: last.node, attempt: last.attempt } }

/** Interrupts and commands of the graph, suspensions of a run, and our own mistakes pass through. */
function isNotOurs(thrown: unknown): boolean {
  if (isRepriseError(thrown)) return true
  if (typeof thrown !== 'object' || thrown === null) return false
  return 'is_bubble_up' in thrown || Symbol.for('reprise.leave') in thrown
}

/** A node may answer with a `Command`, whose update is a part of it. */
function withUpdate<Update extends object>(update: Update, reprise: RepriseUpdate): Update & Written {
  const command = update as { readonly lg_name?: unknown; update?: unknown }
  if (command?.lg_name !== 'Command') return { ...update, reprise }
  if (!Array.isArray(command.update)) command.update = { ...(command.update as object | undefined), reprise }
  return update as Update & Written
}
