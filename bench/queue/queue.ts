/**
 * What the harness asks of every contender: submit, work, and say how long it took. One file per contender fulfils it.
 * It knows no workload and no server.
 */

export interface Input {
  readonly i: number
}

/** What a run does. What it returns is kept as the run's output where the contender can. */
export type Handle = (input: Input, call: Call) => unknown

/** A journalled call, where the contender has such a thing. */
export type Call = <Value>(name: string, send: () => Promise<Value>) => Promise<Value>

export interface Queue {
  submitMany(inputs: readonly Input[], dueInMs?: number): Promise<void>
  /** Resolves once the contender has acknowledged it. */
  submit(input: Input): Promise<void>
  /** Executes until `count` runs have succeeded; answers with the milliseconds from a worker that is ready to their acknowledged ends. */
  drain(count: number, handle: Handle, concurrency: number): Promise<number>
  /** The same for runs that fail once, where a retry cannot be had without a delay in `drain`. */
  drainFailingOnce?(count: number, handle: Handle, concurrency: number): Promise<number>
  /** What every user waits between a failure and its retry, and `drainFailingOnce` cuts out. */
  readonly retryWaitMs?: number
  /** A worker that waits for work; answers with the way to stop it. */
  listen(handle: Handle): Promise<() => Promise<void>>
  /** A worker in another process; tells when a run starts there, in milliseconds of the host's monotonic clock. */
  listenElsewhere?(started: (i: number, atMs: number) => void): Promise<() => Promise<void>>
  /** What a person asks of a full store: the newest page, a count, the failed ones. */
  look?(): Promise<void>
  /** Runs that have succeeded and are kept, for a check outside the measured time; `undefined` where ends are deleted. */
  succeeded(): Promise<number | undefined>
  /** Runs that are ready and may not be claimed, because what they need is held. */
  submitHeld?(inputs: readonly Input[]): Promise<void>
  close(): Promise<void>
}

/** What the harness has started for a cell. */
export interface Surroundings {
  /** An empty folder of the cell's own. */
  readonly folder: string
  readonly redis: Readonly<Record<'everysec' | 'always', number | undefined>>
  /** Connection string of an administrator, without a database. */
  readonly postgres: string | undefined
  /** Runs may return something, and it must be kept. */
  readonly outputs: boolean
}

export interface Contender {
  readonly name: string
  /** What an acknowledged write survives, in a few words. */
  readonly durability: string
  readonly needs?: 'redis' | 'postgres'
  /** Measured with this share of the runs, because all of them would take minutes. */
  readonly share?: number
  /** A queue of its own, empty. `label` tells two of one cell apart. */
  open(surroundings: Surroundings, label: string): Promise<Queue>
}

export const chunks = <Item>(items: readonly Item[], size: number): Item[][] =>
  Array.from({ length: Math.ceil(items.length / size) }, (_, index) => items.slice(index * size, (index + 1) * size))

/** Contenders without a journal make the call and nothing else. */
export const callOnly: Call = (_name, send) => send()

/** Takes items from a list with `concurrency` hands, as a worker does. */
export async function withHands<Item>(
  items: readonly Item[],
  concurrency: number,
  each: (item: Item) => unknown,
): Promise<void> {
  let next = 0
  const hand = async () => {
    while (next < items.length) await each(items[next++] as Item)
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, hand))
}

/** Resolves when it was called `count` times. */
export function countdown(count: number): { readonly hit: () => void; readonly over: Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>()
  let left = count
  return {
    hit: () => {
      left -= 1
      if (left === 0) resolve()
    },
    over: promise,
  }
}
