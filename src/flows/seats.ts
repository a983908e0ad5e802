/**
 * A fixed number of seats in this process: who finds none waits in line.
 */
export class Seats {
  #free: number
  readonly #line: (() => void)[] = []

  constructor(seats: number) {
    this.#free = seats
  }

  async use<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await new Promise<void>((resolve) => this.#line.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#line.shift()
      // The seat goes from hand to hand, so that nobody slips in between.
      if (next) next()
      else this.#free += 1
    }
  }
}
