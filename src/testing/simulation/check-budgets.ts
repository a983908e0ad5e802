/**
 * I15: budgets, counted anew from what the store executed and from what the provider received.
 */
import { inForce, nanoOf, type Reserve } from '../../run/budget.ts'
import { windowOf } from '../../time/window.ts'
import { type History, only, type ProviderLine, type StoreLine } from './history.ts'
import { invariant } from './invariant.ts'

type Commit = Extract<StoreLine, { verb: 'commit' }>

/** A reservation as it stands. */
interface Taken {
  readonly reserve: Reserve
  readonly windows: readonly string[]
  readonly until: number
  nano: number
  state: 'reserved' | 'spent' | 'released'
  sent: boolean
}

/** What a window has given out. */
interface Given {
  calls: number
  nano: number
  sends: number
}

export const BUDGETS = [
  invariant(
    'I15',
    'In each window the sends of a budget are at most what is spent and reserved of it, and that is at most its limit; nothing is refused that fits, and the store says the same at the end.',
    (history) => new Count(history).breaches(),
  ),
]

class Count {
  readonly #history: History
  readonly #calls = new Map<string, Taken[]>()
  readonly #windows = new Map<string, Given>()
  readonly #found: string[] = []

  constructor(history: History) {
    this.#history = history
  }

  breaches(): readonly string[] {
    for (const line of this.#history.lines) {
      if (line.log === 'provider') this.#sent(line)
      else if (line.log === 'store' && line.verb === 'commit') this.#committed(line)
    }
    this.#atTheEnd()
    return this.#found
  }

  #committed(line: Commit): void {
    const { change, answer } = line
    if (change.type === 'intent' && change.reserve) {
      if (answer === 'ok') this.#reserve(line, callOf(change), change.reserve)
      if (answer === 'over') this.#refused(line, change.reserve)
    }
    if (change.type === 'answer' && change.settle && change.take !== undefined)
      this.#settle(line, callOf({ ...change, take: change.take }), change.settle, change.costUsd)
  }

  #reserve({ at }: Commit, call: string, reserves: readonly Reserve[]): void {
    // Asked again after an unknown outcome.
    if (this.#calls.has(call)) return
    const taken = reserves.map((reserve): Taken => {
      const windows = windowsOf(reserve, at)
      const nano = nanoOf(reserve.usd)
      for (const window of windows) {
        const given = this.#given(window)
        given.calls += 1
        given.nano += nano
        const broken = this.#above(reserve, window, given)
        if (broken) this.#found.push(`${call}: ${broken}`)
      }
      return { reserve, windows, nano, until: at + reserve.lastsMs, state: 'reserved', sent: false }
    })
    this.#calls.set(call, taken)
  }

  #above({ limits }: Reserve, window: string, { calls, nano }: Given): string | undefined {
    const limit = inForce(limits, undefined)[window.includes(' day ') ? 'day' : 'month']
    if (limit?.calls !== undefined && calls > limit.calls) return `${window} has given out ${calls} of ${limit.calls}`
    if (limit?.usd !== undefined && nano > nanoOf(limit.usd))
      return `${window} has given out ${nano} nano-dollars of ${limit.usd} dollars`
    return undefined
  }

  #refused({ at, change }: Commit, reserves: readonly Reserve[]): void {
    const fits = reserves.every((reserve) =>
      windowsOf(reserve, at).every((window) => {
        const { calls, nano, sends } = this.#given(window)
        return !this.#above(reserve, window, { calls: calls + 1, nano: nano + nanoOf(reserve.usd), sends })
      }),
    )
    if (fits) this.#found.push(`${change.run}: refused although it fits`)
  }

  #settle({ at }: Commit, call: string, how: 'spend' | 'release', costUsd: number | undefined): void {
    for (const taken of this.#calls.get(call) ?? []) {
      if (taken.state !== 'reserved') continue
      const isLate = at >= taken.until
      const told = costUsd === undefined ? taken.nano : nanoOf(costUsd)
      const isReleased = how === 'release' && !isLate
      const nano = isReleased ? 0 : isLate ? Math.max(told, taken.nano) : told
      if (isReleased && taken.sent) this.#found.push(`${call}: given back although it was sent`)
      for (const window of taken.windows) {
        const given = this.#given(window)
        given.nano += nano - taken.nano
        if (isReleased) given.calls -= 1
      }
      taken.state = isReleased ? 'released' : 'spent'
      taken.nano = nano
    }
  }

  #sent(line: ProviderLine): void {
    const call = callOf({ ...line, name: line.call })
    for (const taken of this.#calls.get(call) ?? []) {
      taken.sent = true
      for (const window of taken.windows) {
        const given = this.#given(window)
        given.sends += 1
        if (given.sends > given.calls) this.#found.push(`${window}: ${given.sends} sends, ${given.calls} given out`)
      }
    }
  }

  #given(window: string): Given {
    const known = this.#windows.get(window) ?? { calls: 0, nano: 0, sends: 0 }
    this.#windows.set(window, known)
    return known
  }

  #atTheEnd(): void {
    const { dump } = this.#history
    for (const { name, windows } of dump.budgets)
      for (const { window, key, use } of windows) {
        const { calls, nano } = this.#windows.get(`${name} ${window} ${key}`) ?? { calls: 0, nano: 0 }
        const told = [use.calls.spent + use.calls.reserved, nanoOf(use.usd.spent) + nanoOf(use.usd.reserved)]
        if (told[0] !== calls || told[1] !== nano)
          this.#found.push(
            `${name} ${key}: the store tells ${told.join(' calls and ')} nano-dollars, it gave out ${calls} and ${nano}`,
          )
      }
    const unsent = [...this.#calls.values()].flat().filter(({ sent, state }) => !sent && state !== 'released').length
    const faults =
      only(this.#history, 'fault').length + only(this.#history, 'client').filter(({ does }) => does !== 'submit').length
    const isStopped = only(this.#history, 'event').some(
      ({ event }) =>
        event.name === 'run.interrupted' || event.name === 'lease.lost' || event.name === 'attempt.retried',
    )
    if (unsent > 0 && faults === 0 && !isStopped)
      this.#found.push(`${unsent} reserved and never sent, and there was no fault`)
  }
}

interface Named {
  readonly run: string
  readonly generation: number
  readonly name: string
  readonly inputHash: string
  readonly take: number
  readonly token: number
}

const callOf = ({ run, generation, name, inputHash, take, token }: Named): string =>
  `${run}.${generation}.${name}.${inputHash}.${take}@${token}`

const windowsOf = ({ budget, zone }: Reserve, at: number): string[] =>
  (['day', 'month'] as const).map((window) => `${budget} ${window} ${windowOf(window, at, zone).key}`)
