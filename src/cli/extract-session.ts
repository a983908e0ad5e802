/**
 * One extraction from documents to the story at its end: opens the store, submits, works, shows, writes the results.
 * `extract` and `start` say what is asked and of whom; how a document gets its answer is the extract room's.
 */
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import type { ResolvedConfig } from '../config/resolve-config.ts'
import { createReprise, type Reprise } from '../create-reprise.ts'
import {
  type Account,
  accountOf,
  alwaysStrongest,
  createExtraction,
  type ExtractedRun,
  type Extraction,
  type ExtractionOptions,
  type SourceDocument,
  strongestOf,
} from '../extract/index.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import { checkModel, type ModelOptions } from '../ladder/providers.ts'
import { CliError, usageError } from './cli-error.ts'
import type { Frame } from './frame.ts'
import { jsonLine } from './json-line.ts'
import { addressText, openStore, storeTrouble } from './open-store.ts'
import { zoneOf } from './reader.ts'
import {
  boardLines,
  boardSummary,
  createExtractBoard,
  type ExtractBoard,
  finishedLine,
} from './screens/extract-board.ts'
import { type EndFacts, endLines, nextLines, resultOf, verdict } from './screens/extract-end.ts'
import { startLiveBlock } from './terminal/live-block.ts'
import { shown, wrap } from './terminal/text.ts'

export interface SessionOptions {
  readonly documents: readonly SourceDocument[]
  readonly question: ExtractionOptions
  readonly models?: ModelOptions
  /** What the documents are called: `invoices`. */
  readonly noun: string
  /** A file for one JSON line per document. */
  readonly out?: string
  readonly concurrency: number
  readonly retryFailed?: boolean
  /** What stands above everything, when the store is open. */
  readonly greet: (where: { readonly store: string; readonly out?: string }) => readonly string[]
  readonly next: (accounts: readonly Account[]) => readonly (readonly [string, string])[]
}

export interface SessionEnd {
  readonly accounts: readonly Account[]
  /** Told to stop before everything was over. */
  readonly isStopped: boolean
}

/** A process that was killed keeps its runs this long from the one that goes on. */
const LEASE_MS = 10_000
/** How often it is looked whether anything is left, besides what the worker itself knows. */
const LOOK_MS = 300
const BUDGET_LOOK_MS = 1_000

/** What was typed or is not installed, found before a run was begun. */
const ASKED_WRONGLY = /^(extract|ladder|model|gate|ask)\./

const STOPPED = 'Stopped. What was paid for is stored; the same command goes on.'
const SAFE = 'Ctrl-C is safe: nothing paid for is lost. The same command goes on.'

export async function extractSession(
  { settings }: ResolvedConfig,
  frame: Frame,
  options: SessionOptions,
): Promise<SessionEnd> {
  const where = addressText(settings.store, frame.cwd)
  const store = await openStore(settings, frame.clock)
  const reprise = createReprise({
    store,
    limits: settings.limits,
    budgets: settings.budgets,
    clock: frame.clock,
    ...(options.models ? { models: options.models } : {}),
  })
  try {
    const extraction = createExtraction(reprise, options.question)
    // What every send would fail of is told before a run is begun.
    for (const each of extraction.ladder.rungs)
      if (each.type === 'model') await checkModel(each.model, options.models ?? {}, each.baseURL)
    const runs = await extraction.submit(options.documents, { retryFailed: options.retryFailed === true })
    const session = new Session(reprise, extraction, runs, options, frame)
    await session.begin()
    session.greet(where)
    const isStopped = await session.work()
    const accounts = await session.end(isStopped)
    return { accounts, isStopped }
  } catch (error) {
    if (isRepriseError(error) && ASKED_WRONGLY.test(error.code)) throw usageError(error.message)
    throw storeTrouble(error, where, 'What was paid for is stored.')
  } finally {
    await reprise.close()
  }
}

class Session {
  readonly #reprise: Reprise
  readonly #extraction: Extraction
  readonly #runs: readonly ExtractedRun[]
  readonly #options: SessionOptions
  readonly #frame: Frame
  readonly #board: ExtractBoard = createExtractBoard()
  readonly #startedAt: number
  /** Accounts of documents that are over, by run. */
  readonly #accounts = new Map<string, Account>()
  #before = { documents: 0, calls: 0, usd: 0 }
  #budget: { readonly name: string; readonly used: number; readonly limit?: number } | undefined

  constructor(
    reprise: Reprise,
    extraction: Extraction,
    runs: readonly ExtractedRun[],
    options: SessionOptions,
    frame: Frame,
  ) {
    this.#reprise = reprise
    this.#extraction = extraction
    this.#runs = runs
    this.#options = options
    this.#frame = frame
    this.#startedAt = frame.clock.monotonic()
  }

  /** What earlier processes have done already. */
  async begin(): Promise<void> {
    for (const { run, document, created } of this.#runs) {
      const account = created ? undefined : await this.#read(run)
      this.#board.add(run, document.name, account)
    }
    const all = [...this.#accounts.values()]
    this.#before = {
      documents: all.filter(({ outcome }) => outcome !== 'open').length,
      calls: all.reduce((sum, { calls }) => sum + calls, 0),
      usd: all.reduce((sum, { usd }) => sum + usd, 0),
    }
  }

  greet(where: string): void {
    const { quiet, human } = this.#frame.terminal()
    const { out } = this.#options
    if (!quiet) human.lines(...this.#options.greet({ store: where, ...(out === undefined ? {} : { out }) }))
  }

  /** True when it was told to stop. */
  async work(): Promise<boolean> {
    if (this.#board.documents().every(({ outcome }) => outcome !== 'open')) return false
    const { clock } = this.#frame
    const { quiet, human, env } = this.#frame.terminal()
    const zone = zoneOf(env)
    const { category, task } = this.#extraction
    let foot = SAFE
    const block = startLiveBlock({
      screen: human,
      clock,
      quiet,
      paint: (columns) => boardLines(this.#board, { ...this.#facts(zone), foot }, human, columns),
      progress: () => summaryOf(this.#board),
    })
    const stop = this.#frame.interruption()
    const unlisten = this.#reprise.on('*', (event) => {
      const ended = this.#board.hear(event)
      if (ended && 'run' in event && event.run !== undefined) {
        if (ended.recourse !== 'first') block.log(finishedLine(ended, human))
        void this.#read(event.run).catch(() => undefined)
      }
      block.update()
    })
    const worker = this.#reprise.work({
      concurrency: this.#options.concurrency,
      leaseMs: LEASE_MS,
      tasks: [task.name],
      categories: [category],
    })
    try {
      await this.#settled(stop)
      if (stop.aborted) {
        const { running } = this.#board
        foot = stoppingText(running)
        block.log(foot)
      }
      await worker.stop()
      return stop.aborted
    } finally {
      unlisten()
      block.close()
    }
  }

  /** The true accounts, the results file, the story. */
  async end(isStopped: boolean): Promise<readonly Account[]> {
    const { json, out, quiet, human } = this.#frame.terminal()
    const accounts: Account[] = []
    const results: string[] = []
    for (const { run, document } of this.#runs) {
      const account = { ...(await this.#read(run)), name: document.name }
      accounts.push(account)
      const files = document.files.map(({ path }) => nearPath(path, this.#frame.cwd))
      results.push(jsonLine(resultOf(account, files)))
    }
    if (this.#options.out !== undefined) await writeResults(resolve(this.#frame.cwd, this.#options.out), results)
    if (json) out.lines(...results)
    const facts = this.#endFacts(accounts)
    if (quiet) human.lines(human.text(verdict(facts)))
    else human.lines('', ...endLines(facts, human))
    if (isStopped) human.lines('', ...wrap(STOPPED, human.columns))
    else if (!quiet) human.lines('', ...nextLines(this.#options.next(accounts), human))
    return accounts
  }

  #endFacts(accounts: readonly Account[]): EndFacts {
    const { ladder } = this.#extraction
    const always = alwaysStrongest(accounts, ladder, this.#options.models?.prices)
    const distinct = [...new Map(accounts.map((account) => [account.run, account])).values()]
    const sum = (figure: (account: Account) => number) => distinct.reduce((total, each) => total + figure(each), 0)
    return {
      accounts,
      noun: this.#options.noun,
      elapsedMs: this.#frame.clock.monotonic() - this.#startedAt,
      here: {
        documents: distinct.filter(({ outcome }) => outcome !== 'open').length - this.#before.documents,
        calls: sum(({ calls }) => calls) - this.#before.calls,
        usd: sum(({ usd }) => usd) - this.#before.usd,
      },
      ...(always === undefined ? {} : { always }),
      seen: this.#board.kinds(),
    }
  }

  #facts(zone: string) {
    const { clock } = this.#frame
    const accounts = [...this.#accounts.values()].filter(({ outcome }) => outcome !== 'open')
    const always = alwaysStrongest(accounts, this.#extraction.ladder, this.#options.models?.prices)
    return {
      elapsedMs: clock.monotonic() - this.#startedAt,
      before: this.#before.documents,
      ...(always === undefined || always.isFloor ? {} : { always }),
      ...(this.#budget ? { budget: this.#budget } : {}),
      now: clock.now(),
      zone,
    }
  }

  async #read(run: string): Promise<Account> {
    const view = await this.#reprise.get(run)
    if (!view)
      throw new CliError({ code: 'RUN_UNKNOWN', message: `Run ${shown(run)} is gone from the store.`, exit: 1 })
    const account = await accountOf(this.#reprise.store, view)
    this.#accounts.set(run, account)
    return account
  }

  /** Resolves when every run of this question is over or with a person, or when told to stop. */
  async #settled(stop: AbortSignal): Promise<void> {
    const { clock } = this.#frame
    const query = {
      tasks: [this.#extraction.task.name],
      categories: [this.#extraction.category],
      states: ['ready', 'running', 'waiting'] as const,
    }
    let lookedAt = Number.NEGATIVE_INFINITY
    while (!stop.aborted) {
      const counts = await this.#reprise.store.count(query)
      if (counts.every(({ runs }) => runs === 0)) return
      if (clock.monotonic() - lookedAt > BUDGET_LOOK_MS) {
        lookedAt = clock.monotonic()
        this.#budget = await this.#lookAtBudget()
      }
      await clock.sleep(LOOK_MS, stop).catch(() => {})
    }
  }

  async #lookAtBudget() {
    const drawn = strongestOf(this.#extraction.ladder)?.budget
    if (!drawn) return undefined
    const { budgets } = await this.#reprise.store.budgets()
    const known = budgets.find(({ name }) => name === drawn.name)
    const calls = known?.windows.find(({ window }) => window === 'day')?.use.calls
    const limit = calls?.limit ?? (typeof drawn.day === 'number' ? drawn.day : undefined)
    const used = calls ? calls.spent + calls.reserved : 0
    return { name: drawn.name, used, ...(limit === undefined ? {} : { limit }) }
  }
}

/** The line is made only when it is written: it looks at every document. */
const summaryOf = (board: ExtractBoard) => ({
  share: board.share,
  get line() {
    return boardSummary(board)
  },
})

function stoppingText(running: number): string {
  if (running === 0) return 'Stopping: nothing is under way.'
  const calls = running === 1 ? '1 call ends' : `${running} calls end`
  return `Stopping: ${calls} first (Ctrl-C again leaves now; nothing paid for is lost).`
}

function nearPath(path: string, cwd: string): string {
  const near = relative(cwd, path)
  return near.startsWith('..') ? path : near
}

/** Whole or not at all: a reader never sees half of it. */
async function writeResults(file: string, lines: readonly string[]): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(`${file}.part`, lines.map((line) => `${line}\n`).join(''))
    await rename(`${file}.part`, file)
  } catch (cause) {
    throw new CliError({
      code: 'FILE_UNWRITABLE',
      message: `The results cannot be written to ${shown(file)}.`,
      cause,
      tryThis: 'Another `--out`; the same command goes on, and nothing is bought twice.',
      exit: 1,
      touched: 'Every answer is stored.',
    })
  }
}
