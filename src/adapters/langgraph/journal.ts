/**
 * A journal for calls inside the nodes of a graph: an answer that was paid for is not bought again when the graph is resumed.
 * It knows where in a graph a call stands; where answers are kept is somebody else's affair.
 */
import type { Context } from '../../engine/context.ts'

/** Where a call stands: the same again when a graph is resumed, another one each time a loop comes by. */
export interface Place {
  readonly thread: string | undefined
  /** Follows from the checkpoint that the node started from. */
  readonly task: string
  readonly node: string
  /** Step and path in the graph, without any checkpoint. */
  readonly path: string
  /** Of the graph's own retries. */
  readonly attempt: number
}

export interface GraphJournal {
  /** The stored answer for this place, name and input, or what `send` answers, stored before anything judges it. */
  once<Answer>(place: Place, name: string, input: unknown, send: () => Promise<Answer>): Promise<Answer>
}

/**
 * Keeps answers in the journal of the run whose handler runs the graph; then the graph needs no checkpointer of its own.
 * @example reprise.handle(ask, (question, ctx) => agent(runJournal(ctx)).invoke({ question }))
 */
export function runJournal(ctx: Pick<Context, 'call'>): GraphJournal {
  return {
    once: ({ path, attempt }, name, input, send) =>
      ctx.call(`${path}.${attempt}/${name}`, send, input === undefined ? {} : { input }),
  }
}

interface PlacedConfig {
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly executionInfo?:
    | { readonly threadId?: string; readonly taskId: string; readonly nodeAttempt: number }
    | undefined
}

export function placeOf(config: PlacedConfig, node: string): Place {
  const { metadata = {}, executionInfo } = config
  const path = Array.isArray(metadata['langgraph_path']) ? metadata['langgraph_path'].slice(1).join('.') : node
  return {
    thread: executionInfo?.threadId,
    task: executionInfo?.taskId ?? '',
    node,
    path: `${String(metadata['langgraph_step'] ?? 0)}:${path}`,
    attempt: executionInfo?.nodeAttempt ?? 1,
  }
}
