/**
 * The client of the chaos suite: submits jobs under keys, asks again when it did not hear an answer, and logs what it asked and was told.
 * Its log is the evidence of what must not be lost.
 */
import type { Reprise } from '../../src/engine/reprise.ts'
import { isRepriseError } from '../../src/failure/reprise-error.ts'
import { CHAOS_TASK, type Job } from './job.ts'

export interface SubmitLine {
  readonly n: number
  readonly key: string
  readonly phase: 'invoke' | 'ok' | 'unknown'
  readonly run?: string
  readonly created?: boolean
  readonly message?: string
}

export class Submitter {
  readonly log: SubmitLine[] = []
  readonly #reprise: Reprise
  readonly #tell: (line: SubmitLine) => void

  /** With `tell`, each line is told as it is written. */
  constructor(reprise: Reprise, tell: (line: SubmitLine) => void = () => {}) {
    this.#reprise = reprise
    this.#tell = tell
  }

  #note(line: SubmitLine): void {
    this.log.push(line)
    this.#tell(line)
  }

  /** Runs that were acknowledged. */
  get acknowledged(): number {
    return new Set(this.log.flatMap(({ phase, key }) => (phase === 'ok' ? key : []))).size
  }

  /** True when it was acknowledged. */
  async submit(job: Job): Promise<boolean> {
    const known = { n: job.n, key: `job-${job.n}` }
    this.#note({ ...known, phase: 'invoke' })
    try {
      const { id: run, created } = await this.#reprise.submit(CHAOS_TASK, job, { key: known.key })
      this.#note({ ...known, phase: 'ok', run, created })
      return true
    } catch (error) {
      if (!isRepriseError(error) || !error.code.startsWith('store.')) throw error
      this.#note({ ...known, phase: 'unknown', message: error.message })
      return false
    }
  }

  async submitAll(jobs: readonly Job[]): Promise<void> {
    await Promise.all(jobs.map((job) => this.submit(job)))
  }
}
