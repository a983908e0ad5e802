/**
 * Hands each event to whoever listens, clean of secrets, and shields the engine from its listeners.
 * It keeps nothing: an event without a listener is gone.
 */
import type { EventName, EventOf, RepriseEvent } from '../run/event.ts'
import { processRedactor, type Redact } from './redact.ts'

export type Listener<Name extends EventName = EventName> = (event: EventOf<Name>) => unknown

/** Takes a listener back. Harmless when called twice. */
export type Off = () => void

export interface Emitter {
  /** True while anybody listens to anything: without, there is no need to make an event. */
  readonly listening: boolean
  /** Never throws and never waits. */
  emit(event: RepriseEvent): void
  /** `'*'` hears everything. Returns the way to stop listening. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): Off
  on(name: '*', listener: Listener): Off
  /** One more value that must not leave in any event. */
  know(secret: string): void
}

export interface EmitterOptions {
  readonly redact?: Redact
  /** Told once for each listener that fails. A process warning unless given. */
  readonly report?: (message: string) => void
}

export function createEmitter(options: EmitterOptions = {}): Emitter {
  const { redact = processRedactor(), report = warn } = options
  // Copied on each change, so that a listener may come and go while an event is handed round.
  let listeners: ReadonlyMap<EventName | '*', readonly Listener[]> = new Map()
  const reported = new WeakSet<Listener>()

  const failed = (listener: Listener, event: RepriseEvent, error: unknown) => {
    if (reported.has(listener)) return
    reported.add(listener)
    const message = error instanceof Error ? error.message : String(error)
    report(redact(`A listener failed on ${event.name}: ${message}. Its further failures are not reported.`))
  }

  const tell = (listener: Listener, event: RepriseEvent) => {
    try {
      const answer = listener(event)
      if (isThenable(answer)) answer.then(undefined, (error: unknown) => failed(listener, event, error))
    } catch (error) {
      failed(listener, event, error)
    }
  }

  return {
    get listening() {
      return listeners.size > 0
    },
    emit(event) {
      const named = listeners.get(event.name)
      const all = listeners.get('*')
      if (!named && !all) return
      const clean = redact(event)
      if (named) for (const listener of named) tell(listener, clean)
      if (all) for (const listener of all) tell(listener, clean)
    },
    on(name: EventName | '*', given: Listener<never>) {
      // Wrapped, so that the same function may listen twice and each is taken back by itself.
      const listener: Listener = (event) => given(event as never)
      listeners = new Map(listeners).set(name, [...(listeners.get(name) ?? []), listener])
      return () => {
        const rest = (listeners.get(name) ?? []).filter((each) => each !== listener)
        const next = new Map(listeners)
        if (rest.length > 0) next.set(name, rest)
        else next.delete(name)
        listeners = next
      }
    },
    know: (secret) => redact.know(secret),
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function warn(message: string): void {
  process.emitWarning(message, { type: 'RepriseWarning', code: 'REPRISE_LISTENER' })
}
