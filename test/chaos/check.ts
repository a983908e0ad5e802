/**
 * What must hold after any scenario, judged by the evidence alone. Each law gives one sentence per breach.
 * The laws about clients, ledgers and decisions are those of the simulation's checker; the others need what only real processes leave.
 */
import { createHash } from 'node:crypto'
import { isTerminal } from '../../src/run/run.ts'
import { checkCalls } from './check-calls.ts'
import { type Evidence, eventsOf, lostLeases, type SeenRun } from './evidence.ts'
import { goneWorkers } from './gone-workers.ts'
import { sharedBreaches } from './shared-laws.ts'
import { isPoisoned } from './worker-pool.ts'

/** Clocks of one host, read at different moments. */
const SLACK_MS = 25

type Law = (evidence: Evidence) => readonly string[]

const LAWS: readonly Law[] = [
  sharedBreaches,
  runsWereAskedFor,
  everyRunEnded,
  successIsEarned,
  endsAreToldOnce,
  attemptsAreGapless,
  lapsesAreOfTheGone,
  leasesAreLostByTimeOnly,
  (evidence) => checkCalls(evidence).breaches,
  artifactsAreWhole,
  fileIsSound,
  processesLived,
]

/** Every breach of every law; empty is well. */
export const breachesOf = (evidence: Evidence): readonly string[] => LAWS.flatMap((law) => law(evidence))

function runsWereAskedFor({ runs, submits }: Evidence): string[] {
  const asked = new Set(submits.map(({ n }) => n))
  const twice = [...Map.groupBy(runs, ({ job }) => job.n)].filter(([, same]) => same.length > 1)
  return [
    ...runs.filter(({ job }) => !asked.has(job.n)).map(({ id }) => `${id} was never submitted`),
    ...twice.map(([n, same]) => `job ${n} is ${same.map(({ id }) => id).join(' and ')}`),
  ]
}

/** A person gets a run only after its crashes were counted; nothing here may fail for good. */
function everyRunEnded({ runs }: Evidence): string[] {
  return runs.flatMap(({ id, state, ledgers, lease }) => {
    if (state === 'succeeded') return lease ? [`${id} is succeeded and leased`] : []
    if (state === 'review') return ledgers.lapses >= 3 ? [] : [`${id} is with a person after ${ledgers.lapses} lapses`]
    return [`${id} is ${state}`]
  })
}

function successIsEarned({ runs, sends }: Evidence): string[] {
  const answered = new Map(sends.filter(({ failed }) => !failed).map((send) => [send.send, send]))
  return runs.flatMap(({ id, state, job, done }) => {
    if (state !== 'succeeded') return []
    if (!done) return [`${id} succeeded without an output`]
    const right =
      done.n === job.n &&
      answered.get(done.send)?.run === id &&
      (done.artifact !== undefined) === (job.artifact === true)
    return right ? [] : [`${id} holds ${JSON.stringify(done)}, asked was ${JSON.stringify(job)}`]
  })
}

function endsAreToldOnce(evidence: Evidence): string[] {
  const told = [...eventsOf(evidence, 'run.succeeded'), ...eventsOf(evidence, 'run.failed')]
  const stateOf = new Map(evidence.runs.map(({ id, state }) => [id, state]))
  const twice = [...Map.groupBy(told, ({ run, generation }) => `${run} generation ${generation}`)].filter(
    ([, ends]) => ends.length > 1,
  )
  const rows = evidence.runs.flatMap(({ id, attempts }) => {
    const at = attempts.findIndex(({ outcome }) => outcome === 'succeeded')
    return at === -1 || at === attempts.length - 1 ? [] : [`${id}: history goes on after its success`]
  })
  return [
    ...twice.map(([name, ends]) => `${name} ended ${ends.length} times`),
    ...told
      .filter(({ run, name }) => stateOf.get(run) !== name.slice('run.'.length))
      .map(({ run, name }) => `${run} was told as ${name}, is ${stateOf.get(run)}`),
    ...rows,
  ]
}

/** Each execution has a row of history, but for a first-try success and for those that vanished with their neighbours. */
function attemptsAreGapless(evidence: Evidence): string[] {
  const begins = Map.groupBy(eventsOf(evidence, 'attempt.started'), ({ run }) => run)
  const gone = goneWorkers(evidence)
  return evidence.runs.flatMap(({ id, attempt: last, attempts, state, generation }) => {
    const found: string[] = []
    const begun = Map.groupBy(begins.get(id) ?? [], ({ attempt }) => attempt)
    const numbers = attempts.map(({ attempt }) => attempt)
    if (generation !== 1) found.push(`${id} is generation ${generation}`)
    if (numbers.some((number, at) => number <= (numbers[at - 1] ?? 0)))
      found.push(`${id}: attempts ${numbers.join(', ')}`)
    const rows = new Set(numbers)
    for (let number = 1; number <= last; number += 1) {
      const begin = begun.get(number) ?? []
      if (begin.length > 1) found.push(`${id}: attempt ${number} was begun ${begin.length} times`)
      const firstTry = number === 1 && last === 1 && state === 'succeeded'
      const vanished = begin.length === 0 || begin.every(({ worker }) => gone(worker, id))
      if (!rows.has(number) && !firstTry && !vanished) found.push(`${id}: attempt ${number} left no trace`)
    }
    if ([...begun.keys(), ...numbers].some((number) => number > last)) found.push(`${id}: begun past attempt ${last}`)
    return found
  })
}

function lapsesAreOfTheGone(evidence: Evidence): string[] {
  const gone = goneWorkers(evidence)
  return evidence.runs.flatMap(({ id, attempts }) =>
    attempts
      .filter(({ outcome, worker }) => outcome === 'lapsed' && !gone(worker, id))
      .map(({ worker, attempt }) => `${id}: attempt ${attempt} lapsed, and ${worker} was well`),
  )
}

/** A living worker loses a lease only when its renewal came later than the lease lasted. */
function leasesAreLostByTimeOnly(evidence: Evidence): string[] {
  return lostLeases(evidence)
    .filter(({ gapMs }) => gapMs < evidence.leaseMs - SLACK_MS)
    .map(
      ({ worker, run, gapMs }) =>
        `${worker} lost ${run} ${Math.round(gapMs)} ms after it had it for ${evidence.leaseMs} ms`,
    )
}

function artifactsAreWhole({ runs, artifacts, strayArtifacts }: Evidence): string[] {
  const found = strayArtifacts.map((name) => `artifact folder ${name} belongs to no run`)
  for (const { id, done, job } of runs) {
    if (!done?.artifact) continue
    const { uri, sha256 } = done.artifact
    const body = artifacts.get(uri)
    if (body === undefined || body === 'broken') found.push(`${id}: ${uri} is ${body ?? 'absent'}`)
    else if (createHash('sha256').update(body).digest('hex') !== sha256)
      found.push(`${id}: ${uri} is not what it was told to be`)
    else if ((JSON.parse(new TextDecoder().decode(body)) as { n: number }).n !== job.n)
      found.push(`${id}: ${uri} is of another job`)
  }
  return found
}

function fileIsSound({ findings, integrity, runs }: Evidence): string[] {
  const unfinished = (run: SeenRun) => isTerminal(run.state) !== (run.finishedAt !== undefined)
  return [
    ...findings.map(({ law, run, found }) => `verify: ${run ?? 'store'}: ${law}: ${found}`),
    ...(integrity === 'ok' ? [] : [`integrity_check: ${integrity}`]),
    ...runs.filter(unfinished).map(({ id, state }) => `${id} is ${state}, finished at another time`),
  ]
}

/** A process ends because it was killed or because it was told to; never by itself. */
function processesLived({ processes }: Evidence): string[] {
  return processes.flatMap(({ pid, exit, stderr }) => {
    if (isPoisoned({ exit, stderr })) return []
    if (exit?.signal === 'SIGKILL' || exit?.code === 0)
      return stderr.includes('Error') ? [`process ${pid} said: ${stderr}`] : []
    return [`process ${pid} ended with ${exit?.code ?? exit?.signal ?? 'nothing, it still runs'}: ${stderr}`]
  })
}
