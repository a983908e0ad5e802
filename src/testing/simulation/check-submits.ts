/**
 * I1 to I3: what clients were told against what the store holds. The clients' log outranks everything the engine says.
 */
import { type ClientLine, only } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { isChild, itemOf } from './recorder.ts'

const submits = (lines: readonly ClientLine[]) => lines.filter(({ does }) => does === 'submit')

export const SUBMITS = [
  invariant('I1', 'Every submit that was answered ok is in the store at the end.', (history) => {
    const held = new Set(history.dump.runs.map(({ id }) => id))
    return submits(only(history, 'client'))
      .filter(({ phase, run }) => phase === 'ok' && !(run !== undefined && held.has(run)))
      .map(({ op, run, item }) => `submit ${op} of item ${item} was answered with ${run}, which is lost`)
  }),

  invariant('I2', 'Every run was asked for; an unknown submit made one run at most, a refused one none.', (history) => {
    const asked = grouped(submits(only(history, 'client')), ({ item }) => String(item))
    // What a run began is judged where runs are: clients know nothing of it.
    const own = history.dump.runs.filter(({ input }) => !isChild(input))
    const held = grouped(own, ({ input }) => String(itemOf(input)))
    const found = [...held.keys()].filter((item) => !asked.has(item)).map((item) => `item ${item} was never submitted`)
    for (const [item, lines] of asked) {
      const runs = held.get(item)?.length ?? 0
      const may = lines.some(({ phase }) => phase === 'ok' || phase === 'unknown' || phase === 'conflict')
      const pending =
        lines.filter(({ phase }) => phase === 'invoke').length > lines.filter(({ phase }) => phase !== 'invoke').length
      if (runs > 1) found.push(`item ${item} is in the store ${runs} times`)
      if (runs > 0 && !may && !pending) found.push(`item ${item} is in the store although every submit of it failed`)
    }
    return found
  }),

  invariant('I3', 'One run for each task and key, and every submit of them is told the same id.', (history) => {
    const nameOf = ({ task, key, flowKey, item }: Partial<ClientLine>) =>
      flowKey === undefined ? `${task} ${key}` : `item ${item} of flow ${flowKey}`
    const keyed = submits(only(history, 'client')).filter(
      ({ key, flowKey, phase }) => (key ?? flowKey) !== undefined && phase === 'ok',
    )
    const toldTwo = [...grouped(keyed, nameOf)]
      .map(([name, lines]) => [name, new Set(lines.map(({ run }) => run))] as const)
      .filter(([, ids]) => ids.size > 1)
      .map(([name, ids]) => `${name} was told as ${[...ids].join(' and ')}`)
    const heldTwo = [
      ...grouped(
        history.dump.runs.filter(({ key }) => key !== undefined),
        nameOf,
      ),
    ]
      .filter(([, runs]) => runs.length > 1)
      .map(([name, runs]) => `${name} is held by ${runs.map(({ id }) => id).join(' and ')}`)
    const createdTwice = [
      ...grouped(
        keyed.filter(({ created }) => created),
        nameOf,
      ),
    ]
      .filter(([, lines]) => lines.length > 1)
      .map(([name, lines]) => `${name} was told ${lines.length} times to be new`)
    return [...toldTwo, ...heldTwo, ...createdTwice]
  }),
]
