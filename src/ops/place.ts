/**
 * Where a run stands among others: the flow it is a step of, what it needs, what needs it, and why it is blocked.
 * A read model: it reads the store and writes nothing.
 */
import type { Why } from '../policy/why.ts'
import type { Link, Links, RunView, Store } from '../ports/store.ts'
import type { State } from '../run/run.ts'

export interface Place {
  /** Name of its flow. */
  readonly flow?: string
  readonly needs: readonly Neighbour[]
  readonly dependents: readonly Neighbour[]
}

export interface Neighbour {
  readonly run: string
  /** Its step's name, or its task with its place in a join. */
  readonly name: string
  readonly state: State
  /** Still waited for. */
  readonly open: boolean
}

/** `undefined` for a run that stands alone. */
export async function placeOf(store: Store, run: RunView): Promise<Place | undefined> {
  const links = await store.links(run.id)
  const flow = run.flow === undefined ? undefined : await store.flow({ id: run.flow })
  if (!flow && links.needs.length === 0 && links.dependents.length === 0) return undefined
  return {
    ...(flow ? { flow: flow.name } : {}),
    needs: ofGeneration(links, run.generation).map(neighbourOf),
    dependents: links.dependents.map(neighbourOf),
  }
}

/** The children of joins in earlier generations are history. */
const ofGeneration = ({ needs }: Links, generation: number): readonly Link[] =>
  needs.filter(({ join }) => join === undefined || join.generation === generation)

const neighbourOf = ({ run, task, step, state, open, join }: Link): Neighbour => ({
  run,
  name: step ?? (join ? `${task} ${join.index + 1}` : task),
  state,
  open,
})

/** The run with the reason of its block as it is now: needs are fulfilled one by one, and no store keeps count in words. */
export function blockedRun(run: RunView, place: Place | undefined): RunView {
  if (run.state !== 'blocked' || run.why?.code === 'run.joining' || !place) return run
  const open = place.needs.filter((need) => need.open)
  const why = whyBlocked(open)
  return why ? { ...run, why } : run
}

function whyBlocked(open: readonly Neighbour[]): Why | undefined {
  const [first] = open
  const ended = open.find(({ state }) => state === 'failed' || state === 'cancelled')
  if (ended) {
    const how = ended.state === 'cancelled' ? 'cancelled' : 'failed'
    return { code: 'run.need_failed', params: { step: ended.name, how } }
  }
  return first && { code: 'run.blocked', params: { needs: open.length, first: first.name } }
}
