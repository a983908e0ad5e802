/**
 * What a simulation leaves behind, as plain data: what clients saw, what the store executed, what the provider received, what the
 * handlers did, what the engine told, which faults were injected, and the final dump. The checker reads nothing else.
 */
import type { Policy } from '../../policy/policy.ts'
import type {
  Act,
  BudgetView,
  Change,
  CommitAnswer,
  CreatedRun,
  Finding,
  Limit,
  Links,
  Move,
  MovedRun,
  Note,
  PruneRequest,
  RunView,
} from '../../ports/store.ts'
import type { RepriseEvent } from '../../run/event.ts'
import type { HoldOrder, HoldTarget } from '../../run/hold.ts'
import type { JournalEntry } from '../../run/journal.ts'
import type { NeedPolicy } from '../../run/need.ts'
import type { AttemptRecord, ConcurrencyKey, Lane } from '../../run/run.ts'

/** Every line of every log has its place in one order, and the store's time. */
export interface Line {
  readonly seq: number
  readonly at: number
  /** The process that it happened in or was caused by. */
  readonly process: string
}

/** A client's or an operator's view: what was asked, and what it was told. */
export interface ClientLine extends Line {
  readonly log: 'client'
  readonly op: number
  readonly does: 'submit' | 'cancel' | 'retry' | 'reorder' | 'hold' | 'release' | 'review'
  readonly phase: 'invoke' | 'ok' | 'fail' | 'unknown' | 'conflict' | 'lost'
  readonly task?: string
  readonly key?: string
  /** What was submitted: the same item twice is the same input. */
  readonly item?: number
  readonly run?: string
  readonly created?: boolean
  /** The flow's key, when the item is a step of one that has one. */
  readonly flowKey?: string
  /** Of a person's decision: whose hand it was, and JSON of what they gave as the answer. */
  readonly by?: string
  readonly token?: number
  readonly value?: string
}

/** Something that the store executed, in the order of execution, whether or not anybody heard the answer. */
export type StoreLine = Line & { readonly log: 'store' } & StoreOperation

export type StoreOperation =
  | {
      readonly verb: 'create'
      /** In the order of the request, as are the answers. */
      readonly asked: readonly AskedRun[]
      readonly runs: readonly (CreatedRun | 'conflict')[]
    }
  | {
      readonly verb: 'claim'
      readonly worker: string
      readonly nonce: string
      readonly alone: boolean
      readonly leaseMs: number
      readonly token: number
      readonly runs: readonly ClaimedLine[]
    }
  | {
      readonly verb: 'renew'
      readonly worker: string
      readonly leaseMs: number
      readonly leases: readonly { readonly run: string; readonly token: number }[]
      readonly lost: readonly string[]
    }
  | ({ readonly verb: 'commit'; readonly change: Change } & Answered)
  | {
      readonly verb: 'take'
      readonly run: string
      readonly by: string
      readonly leaseMs: number
      /** Absent: it was lost to somebody else, or is not with a person. */
      readonly token?: number
    }
  | ({ readonly verb: 'steer'; readonly act: Act } & Answered)
  | ({ readonly verb: 'reorder'; readonly move: Move } & Answered)
  | ({ readonly verb: 'hold'; readonly order: HoldOrder } & Answered)
  | ({ readonly verb: 'release'; readonly what: HoldTarget } & Answered)
  | { readonly verb: 'prune'; readonly request: PruneRequest; readonly pruned: readonly string[] }

interface Answered {
  readonly answer: CommitAnswer['answer']
  /** Other runs that the store says it moved. */
  readonly moved?: readonly Pick<MovedRun, 'run' | 'generation' | 'state'>[]
  /** What became of the children of an end. */
  readonly created?: readonly (CreatedRun | 'conflict')[]
  /** The hold that the quotas of an answer led to. */
  readonly hold?: HoldOrder
}

/** A run as it was asked for. */
export interface AskedRun {
  readonly item: number
  readonly lane: Lane
  readonly priority: number
  readonly dueAt?: number
  readonly concurrency?: ConcurrencyKey
  /** Of a step: its name, the steps that it needs, and what it wants when one of them ends without success. */
  readonly step?: string
  readonly needs?: readonly string[]
  readonly onNeedFailed?: NeedPolicy
}

export interface ClaimedLine {
  readonly id: string
  readonly generation: number
  readonly attempt: number
  readonly lapses: number
  readonly resource?: string
  readonly lapsed?: boolean
  readonly deadlineAt?: number
  /** It goes first, for these holds. */
  readonly probes?: readonly HoldTarget[]
}

/** One physical send, as the other side saw it. */
export interface ProviderLine extends Line {
  readonly log: 'provider'
  readonly run: string
  readonly generation: number
  readonly attempt: number
  readonly token: number
  readonly call: string
  readonly inputHash: string
  readonly take: number
  readonly idempotencyKey: string
  readonly body: string
  /** What it charges for this send. */
  readonly costUsd: number
}

/** A handler begins or comes to an end, as the handler itself knows it. */
export interface HandlerLine extends Line {
  readonly log: 'handler'
  readonly does: 'begin' | 'return' | 'throw'
  readonly run: string
  readonly generation: number
  readonly attempt: number
  readonly token: number
  /** The context threw to suspend it, whatever the handler made of that. */
  readonly suspended?: boolean
  /** JSON of what it returned. */
  readonly value?: string
  /** JSON of the outputs that it was given when it began, by step. */
  readonly needs?: string
}

/** A handler was given what came of its children, or asked for a run that begins with its success. */
export interface ChildrenLine extends Line {
  readonly log: 'children'
  readonly run: string
  readonly generation: number
  readonly token: number
  /** Absent when it asked for one that begins with its success. */
  readonly joined?: {
    readonly name: string
    readonly onFailure: 'fail' | 'collect'
    /** JSON of what the join gave back. */
    readonly results: string
  }
}

export interface EventLine extends Line {
  readonly log: 'event'
  readonly event: RepriseEvent
}

export const FAULTS = ['unavailable', 'unknown', 'delay', 'duplicate', 'crashBefore', 'crashAfter'] as const

export type FaultKind = (typeof FAULTS)[number]

export interface FaultLine extends Line {
  readonly log: 'fault'
  readonly fault: FaultKind | 'crash' | 'pause' | 'stop' | 'poison'
  /** The store operation it hit. */
  readonly site?: string
  readonly ms?: number
}

export interface ArtifactLine extends Line {
  readonly log: 'artifact'
  readonly path: string
  readonly answer: 'created' | 'reused' | 'conflict'
  readonly sha256: string
}

export type LogLine =
  | ClientLine
  | StoreLine
  | ProviderLine
  | HandlerLine
  | ChildrenLine
  | EventLine
  | FaultLine
  | ArtifactLine

export interface Dump {
  readonly at: number
  /** Those that were pruned as they were seen last. */
  readonly runs: readonly RunView[]
  /** Ids of those that the store does not have any more. */
  readonly gone: readonly string[]
  /** Of the runs that the store has and that need others or are needed. */
  readonly links: Readonly<Record<string, Links>>
  readonly attempts: Readonly<Record<string, readonly AttemptRecord[]>>
  /** By run, then by generation. */
  readonly journals: Readonly<Record<string, Readonly<Record<number, readonly JournalEntry[]>>>>
  readonly notes: readonly (Note & { readonly at: number })[]
  readonly policies: Readonly<Record<string, string>>
  readonly findings: readonly Finding[]
  /** Path and hash of every object. */
  readonly artifacts: Readonly<Record<string, string>>
  readonly budgets: readonly BudgetView[]
}

export interface History {
  readonly seed: number
  /** Things that happened. */
  readonly steps: number
  readonly lines: readonly LogLine[]
  readonly dump: Dump
  /** When faults ended and everything had to come to rest. */
  readonly quietFrom: number
  /** Runs that one worker may hold at a time, all workers together, in the quiet phase. */
  readonly slots: number
  /** A ready run must be claimed within this long while a slot is free, in the quiet phase. */
  readonly claimBoundMs: number
  /** What every claim carried. */
  readonly limits: readonly Limit[]
  /** How long a run waits until it has caught up a step of priority; 0 for ever. */
  readonly ageingMs: number
  /** Timers that a stopped worker left behind. */
  readonly timersLeft: number
  /** Workers that did not stop when told. */
  readonly unstopped: readonly string[]
  /** By task: what it was defined with, whatever the store kept. */
  readonly policyOf: Readonly<Record<string, Policy>>
  /** Texts that must appear nowhere. */
  readonly canaries: readonly string[]
}

const sorted = new WeakMap<readonly LogLine[], Map<string, readonly LogLine[]>>()

/** The lines of one log. Asked for again and again, so each log is picked out once. */
export function only<Log extends LogLine['log']>(
  { lines }: Pick<History, 'lines'>,
  log: Log,
): readonly Extract<LogLine, { log: Log }>[] {
  const logs = sorted.get(lines) ?? new Map<string, readonly LogLine[]>()
  sorted.set(lines, logs)
  const picked = logs.get(log) ?? lines.filter((line) => line.log === log)
  logs.set(log, picked)
  return picked as readonly Extract<LogLine, { log: Log }>[]
}
