/**
 * What the parts of a worker share: the store and its door, time and chance, and where events go.
 */
import type { Emitter } from '../observe/emitter.ts'
import type { EventTracing } from '../observe/event-tracing.ts'
import type { Artifacts } from '../ports/artifacts.ts'
import type { Store } from '../ports/store.ts'
import type { Clock } from '../time/clock.ts'
import type { Dice } from '../time/dice.ts'
import type { BudgetRegistry } from './budgets.ts'
import type { ContextMaker } from './context-maker.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { StoreDoor } from './store-door.ts'
import type { StoreTime } from './store-time.ts'

export interface WorkerParts {
  /** A random instance name: host names repeat, and two workers of one name would take each other for themselves. */
  readonly worker: string
  readonly store: Store
  readonly door: StoreDoor
  readonly keeper: LeaseKeeper
  readonly time: StoreTime
  readonly clock: Clock
  readonly dice: Dice
  /** Makes names that nobody else makes. */
  readonly ids: (bytes: number) => string
  readonly emitter: Emitter
  readonly budgets: BudgetRegistry
  readonly artifacts?: Artifacts
  /** Runs handlers and calls inside their spans. */
  readonly tracing?: Pick<EventTracing, 'withAttemptSpan' | 'withCallSpan'>
  /** When this process will be gone (a function's invocation), in store time. */
  readonly endsAt?: number
  /** Kept back from every call's time for writing the end. */
  readonly finalizeReserveMs: number
  /** Makes what handlers are given, when that is more than the engine's own verbs. */
  readonly contextOf?: ContextMaker
}
