/**
 * `story`: everything about one run in the order a person asks for it: what now, what happened, what comes next, what is used up.
 * A read model: it reads the store and writes nothing.
 */
import { ledgerBounds } from '../policy/executions-bound.ts'
import { repairsOf } from '../policy/ladder.ts'
import { type Plan, plan } from '../policy/plan.ts'
import type { Policy } from '../policy/policy.ts'
import type { LedgerName } from '../policy/situation.ts'
import type { RunView, Store } from '../ports/store.ts'
import { isTerminal, type StateWord, wordOf } from '../run/run.ts'
import { policiesOf } from './explain.ts'
import { headline } from './headline.ts'
import { blockedRun, type Place, placeOf } from './place.ts'
import { storeNow } from './store-now.ts'
import { type StoryEntry, storyEntries } from './story-entries.ts'

/** Journals of older generations are history of history; the newest tell the story. */
const GENERATIONS_MAX = 20
const NOTES_MAX = 200

export interface Story {
  readonly run: RunView
  /** The state as readers say it. */
  readonly word: StateWord
  /** Store time of this look. */
  readonly now: number
  /** The current decision in one sentence. */
  readonly headline: string
  /** Oldest first. */
  readonly entries: readonly StoryEntry[]
  /** Absent once it has ended, and while a person has it. */
  readonly next?: Upcoming
  readonly ledgers: readonly LedgerLine[]
  /** The policy of its last decision; absent while nothing was decided. */
  readonly policy?: string
  /** Where it stands among others: its flow, what it needs, what needs it. Absent when it stands alone. */
  readonly place?: Place
  /** Physical sends over all generations. */
  readonly takes: number
}

export interface Upcoming {
  readonly attempt: number
  /** When it may begin; absent: at once. */
  readonly at?: number
  /** What follows if it keeps failing as it did last. Absent when it has not failed, or under an unknown policy. */
  readonly plan?: Plan
  readonly sentence: string
}

export interface LedgerLine {
  readonly name: LedgerName
  readonly used: number
  /** Absent: not known, because nothing was decided under a policy yet. */
  readonly max?: number
}

export interface StoryOptions {
  /** IANA zone of times in sentences; UTC when absent. */
  readonly zone?: string
}

/** `undefined` when there is no such run. */
export async function story(store: Store, runId: string, options: StoryOptions = {}): Promise<Story | undefined> {
  const run = await store.get({ id: runId })
  if (!run) return undefined
  const history = await store.attempts(run.id)
  const first = Math.max(1, run.generation - GENERATIONS_MAX + 1)
  const generations = Array.from({ length: run.generation - first + 1 }, (_, index) => first + index)
  const [now, place, { holds }, notes, policies, journals] = await Promise.all([
    storeNow(store),
    placeOf(store, run),
    store.holds(),
    store.notes({ run: run.id, limit: NOTES_MAX }),
    policiesOf(store, history),
    Promise.all(generations.map(async (each) => [each, await store.journal(run.id, each)] as const)),
  ])
  const { zone = 'UTC' } = options
  const hash = history.findLast((record) => record.policy !== undefined)?.policy
  const policy = hash === undefined ? undefined : policies.get(hash)
  const entries = storyEntries({ run, history, journals: new Map(journals), notes, policies }, now, { zone })
  const next = upcoming(run, now, policy)
  return {
    run,
    word: wordOf(run, now),
    now,
    headline: headline(blockedRun(run, place), now, zone, holds),
    entries,
    ...(next ? { next } : {}),
    ledgers: ledgerLines(run, policy),
    ...(policy ? { policy: policy.name } : {}),
    ...(place ? { place } : {}),
    takes: entries.reduce((sum, entry) => sum + (entry.type === 'call' ? entry.takes : 0), 0),
  }
}

export function upcoming(run: RunView, now: number, policy: Policy | undefined): Upcoming | undefined {
  const word = wordOf(run, now)
  if (isTerminal(run.state) || word === 'review' || word === 'blocked') return undefined
  const attempt = word === 'running' ? run.attempt : run.attempt + 1
  const at = word === 'waiting' ? run.dueAt : undefined
  const common = { attempt, ...(at === undefined ? {} : { at }) }
  if (!run.failure || !policy) return { ...common, sentence: 'then right: done' }
  const planned = plan(run.failure, policy, {
    now: Math.max(now, at ?? now),
    ledgers: run.ledgers,
    rung: run.rung,
    ...(run.deadlineAt === undefined ? {} : { deadlineAt: run.deadlineAt }),
  })
  return { ...common, plan: planned, sentence: `then right: done; ${wrong(planned)}` }
}

function wrong({ steps, end, handOver }: Plan): string {
  const times = steps.length === 1 ? 'wrong again' : `wrong ${steps.length} times`
  if (end === 'ignore') return `${times}: nothing to do`
  return `${times}: ${end === 'person' ? `to a person (${handOver?.to ?? 'review'})` : 'ended'}`
}

const LEDGERS = ['errors', 'rateWaits', 'interruptions', 'lapses', 'repairs', 'escalations'] as const

export function ledgerLines(run: RunView, policy: Policy | undefined): LedgerLine[] {
  const bounds = policy && ledgerBounds(policy)
  const rung = policy?.ladder?.[run.rung]
  return LEDGERS.map((name) => {
    // Corrections start anew on each rung, so what is left is the rung's own.
    const max = name === 'repairs' && rung ? repairsOf(rung) : bounds?.[name]
    return { name, used: run.ledgers[name], ...(max === undefined ? {} : { max }) }
  })
}
