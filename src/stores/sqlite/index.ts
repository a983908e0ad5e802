/**
 * The SQLite driver: the Store's laws in one local file, for one process or a few on one host.
 * Public as `reprise/stores/sqlite`; what each verb does is in the file of its name.
 */
import { RepriseError } from '../../failure/reprise-error.ts'
import type { Store } from '../../ports/store.ts'
import { AGEING_MS } from '../../run/place.ts'
import { type Clock, systemClock } from '../../time/clock.ts'
import { type Dice, systemDice } from '../../time/dice.ts'
import { SteadyTime } from '../../time/steady-time.ts'
import { nextTurn } from '../../time/turn.ts'
import { readBudgets, setBudgetWork } from './budgets.ts'
import { claimWork, Nonces, renewWork } from './claim.ts'
import { commitAllWork, commitWork } from './commit.ts'
import { type Connection, type Durability, loadLibrary } from './connection.ts'
import { createWork } from './create.ts'
import { CreateIn, otherLibrary } from './create-in.ts'
import { count, find } from './find.ts'
import { createFlowWork, flowOf, linksOf } from './flow.ts'
import { GroupCommit } from './group-commit.ts'
import { holdWork, readHolds, releaseWork } from './holds.ts'
import { noteWork, policyWork } from './note.ts'
import { patiently } from './patience.ts'
import { Pruner } from './prune.ts'
import { pulse } from './pulse.ts'
import { Readers } from './read.ts'
import { openSession, type Session } from './session.ts'
import { reorderWork, steerWork } from './steer.ts'
import { takeWork } from './take.ts'
import { isConnectionSpent, isUnreachable, unavailable } from './trouble.ts'
import { verify } from './verify.ts'
import { Watchers } from './watch.ts'

/** Longer than any honest transaction, shorter than a lease. */
const BUSY_MS = 10_000

/** Another process's submit is seen within this: a look costs microseconds. */
const WATCH_MS = 20

interface CommonOptions {
  /** What an acknowledged write survives: the loss of power, or only the end of the process. @default 'power' */
  readonly durability?: Durability
  /** How long to wait, without blocking, for a lock that another process holds. @default 10000 */
  readonly busyMs?: number
  /** How often to look for other processes' work; 0 for never. @default 20, and 0 with a clock of your own */
  readonly watchMs?: number
  /** A lower priority catches up one step in this time of waiting; 0 for never. For runs submitted from now on. @default 600000 */
  readonly ageingMs?: number
  /** The store's time. @default the system's clock */
  readonly clock?: Clock
  readonly dice?: Dice
}

/** A file of our own, or a better-sqlite3 database of the application's, which is never closed here. */
export type SqliteOptions = CommonOptions & ({ readonly file: string } | { readonly database: SqliteDatabase })

/** A better-sqlite3 database. */
export type SqliteDatabase = Connection

export type { Durability } from './connection.ts'
export type { SqliteTransaction } from './create-in.ts'

export function sqlite(options: SqliteOptions): Store {
  const {
    durability = 'power',
    busyMs = BUSY_MS,
    clock = systemClock,
    dice = systemDice,
    ageingMs = AGEING_MS,
  } = options
  const { watchMs = clock === systemClock ? WATCH_MS : 0 } = options
  check(options)
  const database = 'database' in options ? options.database : undefined
  const file = 'file' in options ? options.file : options.database.name
  const time = new SteadyTime(clock)
  const patience = { clock, dice, busyMs }
  const nonces = new Nonces()
  const pruner = new Pruner()
  let session: Session | undefined
  let readers: Readers | undefined
  let opening: Promise<Session> | undefined
  let closed = false

  const createIn = new CreateIn({
    file,
    time,
    ageingMs,
    library: () => session?.writer.constructor,
    ...(database ? { database } : {}),
  })
  const openNow = (): Session => {
    const library = database?.constructor ?? loadLibrary()
    if (createIn.library !== undefined && createIn.library !== library) throw otherLibrary(file)
    return openSession({ file, durability, ...(database ? { database } : {}) })
  }
  const open = (): Promise<Session> => {
    opening ??= patiently(patience, openNow)
      .then((opened) => {
        session = opened
        readers = new Readers(opened.reader)
        return opened
      })
      .catch((error) => {
        throw isUnreachable(error) || isNoFolder(error) ? unavailable(file, error) : error
      })
      .finally(() => {
        opening = undefined
      })
    return opening
  }
  const drop = () => {
    session?.close()
    session = undefined
  }
  const watchers = new Watchers({
    everyMs: watchMs,
    version: () => session?.writer.pragma('data_version', { simple: true }) as number | undefined,
  })
  const group = new GroupCommit({
    ...patience,
    file,
    time,
    ageingMs,
    session: () => session ?? open(),
    drop,
    waking: () => watchers.hint(),
    woken: () => watchers.woken(),
  })
  const shut = () => Promise.reject(shutError(file))
  const write: GroupCommit['do'] = (work) => (closed ? shut() : group.do(work))
  const read = async <Answer>(ask: (readers: Readers) => Answer | Promise<Answer>): Promise<Answer> => {
    if (closed) return shut()
    if (!session) await open()
    try {
      return await patiently(patience, () => ask(readers as Readers))
    } catch (error) {
      if (isConnectionSpent(error)) drop()
      throw isUnreachable(error) ? unavailable(file, error) : error
    }
  }

  return {
    name: 'sqlite',
    create: async (runs) => write(createWork(runs)),
    createIn: (tx, runs) => {
      if (closed) throw shutError(file)
      const created = createIn.create(tx, runs)
      // A hint like any other: most transactions are over by the end of the turn, and a poll finds the rest.
      nextTurn(() => watchers.woken())
      return created
    },
    createFlow: async (flow) => write(createFlowWork(flow)),
    claim: (request) => write(claimWork(request, nonces)),
    renew: (request) => write(renewWork(request)),
    commit: (change) => write(commitWork(change)),
    commitAll: (ends) => write(commitAllWork(ends)),
    take: (request) => write(takeWork(request)),
    steer: (act) => write(steerWork(act)),
    reorder: (move) => write(reorderWork(move)),
    hold: (order) => write(holdWork(order)),
    release: (request) => write(releaseWork(request)),
    holds: () => read((readers) => readHolds(readers, time.now())),
    setBudget: (order) => write(setBudgetWork(order)),
    budgets: () => read((readers) => readBudgets(readers, time.now())),
    get: (ref) => read((readers) => readers.get(ref)),
    flow: (ref) => read((readers) => flowOf(readers, ref)),
    links: (run) => read((readers) => linksOf(readers, run)),
    find: (query) => read((readers) => find(readers, query, time.now())),
    count: (query) => read((readers) => count(readers, query, time.now())),
    pulse: (query) => read((readers) => pulse(readers, query, time.now())),
    attempts: (run) => read((readers) => readers.attempts(run)),
    journal: (run, generation) => read((readers) => readers.journal(run, generation)),
    note: (note) => write(noteWork(note)),
    notes: (query) => read((readers) => readers.notes(query)),
    keepPolicy: (hash, policy) => write(policyWork(hash, policy)),
    policy: (hash) => read((readers) => readers.policy(hash)),
    prune: (request) => pruner.prune(request, { read, write }),
    verify: () => read((readers) => verify(readers)),
    watch: (hint) => watchers.add(hint),
    close: async () => {
      closed = true
      watchers.close()
      await opening?.catch(() => undefined)
      await group.drained()
      drop()
    },
  }
}

const shutError = (file: string): RepriseError =>
  new RepriseError('store.unavailable', `The SQLite store ${file} was closed; open a new one.`)

/** better-sqlite3 says this without a code of SQLite's. */
const isNoFolder = (error: unknown): boolean => /directory does not exist/.test((error as Error).message)

function check(options: SqliteOptions): void {
  const { durability = 'power' } = options
  if ('database' in options && typeof options.database?.prepare !== 'function') {
    throw new TypeError(`database: ${typeof options.database}; allowed is an open better-sqlite3 database`)
  }
  if (!('database' in options) && (typeof options.file !== 'string' || options.file.trim() === '')) {
    throw new TypeError(`file: ${JSON.stringify(options.file)}; allowed is the path of a file, or ":memory:"`)
  }
  if (durability !== 'power' && durability !== 'process') {
    throw new TypeError(`durability: ${JSON.stringify(durability)}; allowed are "power" and "process"`)
  }
  for (const name of ['busyMs', 'watchMs', 'ageingMs'] as const) {
    const ms = options[name]
    if (ms !== undefined && !(Number.isFinite(ms) && ms >= 0)) {
      throw new RangeError(`${name}: ${ms}; allowed are milliseconds from 0`)
    }
  }
}
