/**
 * Which flow document an event is about: CloudEvents of Firestore triggers, whichever way the runtime hands them over.
 * It reads names only, never the document inside: that may be older than what is stored.
 */

/** What a Firestore trigger sends, as far as it is read here. */
export interface FlowEvent {
  readonly id?: string
  readonly type?: string
  /** `documents/flow_runs/abc` */
  readonly subject?: string
  /** `flow_runs/abc` */
  readonly document?: string
}

/** The id of the document in this collection; `undefined` for an event about anything else. */
export function flowIn(event: FlowEvent, collection: string): string | undefined {
  const path = event.document ?? event.subject?.replace(/^documents\//, '')
  const [first, id, ...more] = (path ?? '').split('/')
  return first === collection && id !== undefined && id !== '' && more.length === 0 ? id : undefined
}
