/**
 * The event catalogue: everything that Reprise tells while it works, each with its level, its fields and its sentence.
 * The reference page is printed from here; what an event is as a value is `event.ts`, and nothing here emits.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import { formatDuration } from '../time/duration.ts'
import { BUDGET_EVENTS } from './budget-events.ts'
import { CLIENT_EVENTS } from './client-events.ts'
import {
  bag,
  count,
  decisionField,
  entry,
  failureField,
  instant,
  LEDGER_WORDS,
  LEVELS,
  ledgerField,
  maybe,
  millis,
  text,
  texts,
  usd,
  whyField,
  word,
  yes,
} from './event-entry.ts'
import { ATTEMPT, CALL, RUN } from './event-fields.ts'
import { HOLD_EVENTS } from './hold-events.ts'
import { INCIDENT_EVENTS } from './incident-events.ts'
import { LADDER_EVENTS } from './ladder-events.ts'
import { REVIEW_EVENTS } from './review-events.ts'
import { SWEEP_EVENTS } from './sweep-events.ts'

export const EVENTS = {
  'run.submitted': entry(
    'debug',
    'A new run is stored.',
    { ...RUN, priority: count('Smaller goes first.'), dueAt: maybe(instant('It waits until then.')) },
    ({ run, task, dueAt }, { time }) =>
      dueAt === undefined
        ? `Run ${run} of ${task} is submitted.`
        : `Run ${run} of ${task} is submitted and waits until ${time(dueAt)}.`,
  ),
  'run.returned': entry(
    'debug',
    'A submit met its key: the existing run is the answer.',
    RUN,
    ({ run, task, key }) =>
      `${task} was asked before${key === undefined ? '' : ` with key ${key}`}: run ${run} answers.`,
  ),
  'run.unblocked': entry(
    'debug',
    'The last thing that a run waited for has ended: a need of a step, a child of a join. It is ready now.',
    { ...RUN, after: text('Id of the run whose end did it.') },
    ({ run, after }) => `Run ${run} is ready: ${after} was the last that it waited for.`,
  ),
  'run.skipped': entry(
    'warn',
    'A step ended without being executed, because a need of it did not succeed and it asked to be skipped then.',
    { ...RUN, why: whyField('The reason as code and parameters; it names the need.') },
    ({ run, why }, { say }) => `Run ${run}: ${say(why)}`,
  ),
  'submit.conflict': entry(
    'warn',
    'A run that a handler submitted was not begun: its key belongs to a run with another input.',
    { ...ATTEMPT, child: text('Task of the run that was not begun.'), childKey: text('Its key.') },
    ({ child, childKey }) => `${child} with key ${childKey} was not begun: the key belongs to another input.`,
  ),
  'attempt.started': entry(
    'info',
    'A worker begins to execute a run: the first time, a retry, or again after a wait that was nobody’s error.',
    {
      ...ATTEMPT,
      token: count('The lease’s token.'),
      retry: count('Errors before this attempt: 0 at first, n for retry n.'),
      retriesMax: count('Retries that the policy allows.'),
    },
    ({ attempt, worker, retry, retriesMax }) => {
      if (attempt === 1) return `Attempt 1 begins on ${worker}.`
      return retry === 0
        ? `Attempt ${attempt} begins on ${worker}; no error so far.`
        : `Attempt ${attempt} begins on ${worker}: retry ${retry} of ${retriesMax}.`
    },
  ),
  'attempt.retried': entry(
    'warn',
    'An attempt failed and a retry is scheduled.',
    {
      ...ATTEMPT,
      retry: count('Number of the coming retry: errors so far.'),
      retriesMax: count('Retries that the policy allows.'),
      delayMs: millis('From now to the retry.'),
      dueAt: instant('When the retry may begin.'),
      why: whyField('The reason as code and parameters.'),
      decision: decisionField('The decision as it is stored.'),
      failure: failureField('What went wrong.'),
    },
    ({ attempt, retry, retriesMax, failure, why, decision }, { say }) => {
      const nth = decision.counted ? ` Retry ${retry} of ${retriesMax}.` : ''
      return `Attempt ${attempt} failed (${failure.code})${words(failure, why)}.${nth} ${say(why)}`
    },
  ),
  'run.escalated': entry(
    'warn',
    'An attempt failed and the run goes on at the next rung of its ladder.',
    {
      ...ATTEMPT,
      to: text('The rung.'),
      why: whyField('The reason as code and parameters.'),
      decision: decisionField('The decision as it is stored.'),
      failure: failureField('What went wrong.'),
    },
    ({ attempt, failure, why }, { say }) =>
      `Attempt ${attempt} failed (${failure.code})${words(failure, why)}. ${say(why)}`,
  ),
  'run.succeeded': entry(
    'info',
    'A run is done. With `retries` above 0, a retry succeeded.',
    {
      ...ATTEMPT,
      retries: count('Errors on the way: 0 when nothing failed.'),
      ms: millis('Length of this attempt.'),
      sinceSubmitMs: millis('From submit to now.'),
      costUsd: maybe(usd('Money settled by its takes.')),
    },
    ({ attempt, retries, sinceSubmitMs }) => {
      const after = `${formatDuration(sinceSubmitMs)} after submit`
      if (retries > 0) return `Succeeded at retry ${retries} (attempt ${attempt}), ${after}.`
      return attempt === 1 ? `Succeeded, ${after}.` : `Succeeded at attempt ${attempt} without an error, ${after}.`
    },
  ),
  'attempts.spent': entry(
    'warn',
    'One of a run’s ledgers ran out. What becomes of the run is told by `run.failed`, `run.review` or `run.escalated`.',
    {
      ...ATTEMPT,
      ledger: ledgerField('The ledger that ran out.'),
      used: count('Entries in it.'),
      max: count('Entries that the policy allows.'),
      failure: maybe(failureField('The last failure.')),
    },
    ({ ledger, used, max, failure }) =>
      `No more ${LEDGER_WORDS[ledger]}: ${used} of ${max} used${failure ? `, the last one ${failure.code}` : ''}.`,
  ),
  'run.failed': entry(
    'error',
    'A run ended failed. Only an operator’s retry brings it back.',
    {
      ...ATTEMPT,
      failure: failureField('The last failure.'),
      why: whyField('The reason of the end.'),
      ledger: maybe(ledgerField('The ledger that ran out, when one did.')),
      attempts: count('Executions of this generation.'),
      submittedAt: instant('When it was submitted.'),
      firstAt: maybe(instant('When its first attempt began, if known.')),
      lastAt: instant('When its last attempt began.'),
    },
    ({ attempts, failure, why, submittedAt, firstAt, lastAt }, { time, say }) => {
      const tries = attempts === 1 ? '1 attempt' : `${attempts} attempts`
      const first = firstAt === undefined ? `submitted at ${time(submittedAt)}` : `the first at ${time(firstAt)}`
      const times = attempts === 1 ? `at ${time(lastAt)}` : `${first}, the last at ${time(lastAt)}`
      return `Failed after ${tries}, ${times} (${failure.code})${words(failure, why)}. ${say(why)}`
    },
  ),
  'run.review': entry(
    'warn',
    'A run waits for a person.',
    {
      ...ATTEMPT,
      why: whyField('The reason.'),
      queue: maybe(text('The desk that it lies on.')),
      dueAt: maybe(instant('When the person is overdue.')),
      failure: maybe(failureField('What went wrong.')),
    },
    ({ queue, why, dueAt }, { time, say }) => {
      const reason = say(why)
      const desk = queue === undefined || reason.includes(queue) ? '' : ` at ${queue}`
      return `Waits for a person${desk}${dueAt === undefined ? '' : `, due by ${time(dueAt)}`}. ${reason}`
    },
  ),
  'run.suspended': entry(
    'info',
    'An attempt ended without an error because the handler waits for something. Not counted.',
    {
      ...ATTEMPT,
      on: text('What it waits for: a sleep, a call, a person, a join, by its name in the handler.'),
      until: maybe(instant('When it goes on at the latest; absent while it waits for somebody.')),
    },
    ({ on, until }, { time }) =>
      `Suspended on ${on}${until === undefined ? '' : ` until ${time(until)}`}. No slot is taken meanwhile; not counted.`,
  ),
  'run.interrupted': entry(
    'info',
    'A worker gave a run back: it stops, or too little time was left. Another one goes on.',
    {
      ...ATTEMPT,
      cause: text('What interrupted it.'),
      dueAt: maybe(instant('When it may be claimed again; absent: at once.')),
      counted: yes('True once the interruptions of the policy are used up.'),
    },
    ({ worker, cause, counted }) =>
      `Worker ${worker} gave the run back (${cause}); ${counted ? 'counted, because its interruptions are used up' : 'not counted'}.`,
  ),
  'run.lapsed': entry(
    'warn',
    'A lease ended by itself: its worker crashed, hung, or lost the store.',
    {
      ...RUN,
      attempt: count('Number of the execution that was lost.'),
      worker: text('The worker that fell silent.'),
      claimedBy: text('The worker that found it.'),
      counted: yes('False for a suspect: it was claimed with others, and nobody knows which of them was to blame.'),
      lapses: count('Counted lapses so far.'),
      lapsesMax: count('Lapses that send the run to a person.'),
    },
    ({ worker, claimedBy, counted, lapses, lapsesMax }) => {
      const verdict = counted ? `Crash ${lapses} of ${lapsesMax}.` : 'Not counted: it was not alone on its worker.'
      return `No sign of life from ${worker}; claimed by ${claimedBy}. ${verdict}`
    },
  ),
  'run.cancelled': entry(
    'info',
    'An operator cancelled a run. Whoever executes it is told at its next write or renewal.',
    { ...RUN, by: text('Who did it.') },
    ({ by }) => `Cancelled by ${by}.`,
  ),
  'run.generation': entry(
    'info',
    'An operator’s retry: the run starts over as a new generation; its history is kept.',
    { ...RUN, by: text('Who did it.') },
    ({ by, generation }) => `${by} retries it: generation ${generation} begins; history is kept.`,
  ),
  'lease.lost': entry(
    'warn',
    'A renewal found that the run belongs to somebody else or was cancelled, or came too late to be sure. Its handler is told to stop.',
    { ...ATTEMPT, token: count('The token that no longer counts.') },
    ({ worker, token }) => `Worker ${worker} no longer owns the run (token ${token}); its handler is told to stop.`,
  ),
  'write.refused': entry(
    'warn',
    'A write came after its lease and changed nothing.',
    {
      ...ATTEMPT,
      token: count('The token that no longer counts.'),
      what: word(['end', 'intent', 'answer', 'progress'], 'The kind of write.'),
    },
    ({ worker, token, what }) =>
      `A late ${what} of ${worker} came after its lease (token ${token}). It is noted and changed nothing.`,
  ),
  'call.sent': entry(
    'debug',
    'A call’s intent is stored and the call goes out.',
    { ...CALL, take: count('Number of this send under this call.') },
    ({ call, take }) => `${call}: take ${take} goes out.`,
  ),
  'call.repeated': entry(
    'info',
    'A call failed on infrastructure and is repeated inside the same attempt, silent to the handler.',
    {
      ...CALL,
      take: count('Number of the send that failed.'),
      retry: count('Number of the coming repeat.'),
      retriesMax: count('Repeats that the policy allows.'),
      delayMs: millis('From now to the repeat.'),
      code: text('Code of the failure.'),
      failure: failureField('What went wrong.'),
    },
    ({ call, retry, retriesMax, delayMs, code }) =>
      `${call}: ${code}; repeat ${retry} of ${retriesMax} ${delayMs > 0 ? `in ${formatDuration(delayMs)}` : 'at once'}.`,
  ),
  'call.answered': entry(
    'debug',
    'A call was answered and the answer is stored.',
    {
      ...CALL,
      take: count('Number of the send that was answered.'),
      ms: millis('From this send to its answer.'),
      costUsd: maybe(usd('Price of the call, if it told one.')),
    },
    ({ call, take, ms }) => `${call}: answered in ${formatDuration(ms)}${take > 1 ? ` at take ${take}` : ''}.`,
  ),
  'call.failed': entry(
    'info',
    'A call failed for good inside this attempt; the handler gets the error.',
    {
      ...CALL,
      take: count('Number of the last send.'),
      ms: millis('From the first send of this attempt to the failure.'),
      failure: failureField('What went wrong.'),
    },
    ({ call, take, failure }) =>
      `${call}: failed after ${take === 1 ? '1 take' : `${take} takes`}: ${failure.code}: ${closed(failure.message)}`,
  ),
  'call.replayed': entry(
    'debug',
    'A stored answer is used instead of a new call.',
    {
      ...CALL,
      answeredAt: instant('When it was stored.'),
      late: yes('True for a receipt: the answer came after its owner’s lease.'),
    },
    ({ call, answeredAt }, { time }) =>
      `${call}: the answer was already paid for at ${time(answeredAt)}; not bought again.`,
  ),
  'call.receipt': entry(
    'info',
    'An answer came after its lease. It is kept, and the present owner uses it if it has none of its own.',
    { ...CALL, token: count('The token that no longer counts.') },
    ({ call, worker }) => `${call}: a late answer of ${worker} came after its lease. Kept as a receipt.`,
  ),
  'call.ambiguous': entry(
    'warn',
    'An earlier send has neither answer nor failure: nobody knows whether it arrived.',
    {
      ...CALL,
      intentAt: instant('When it was sent.'),
      recourse: word(['again', 'person'], 'What is done about it.'),
    },
    ({ call, intentAt, recourse }, { time }) =>
      `${call}: sent at ${time(intentAt)}, and nobody knows whether it arrived. ${recourse === 'again' ? 'Sent again.' : 'A person decides.'}`,
  ),
  'suspension.swallowed': entry(
    'warn',
    'A handler caught the suspension that it should have let pass. The attempt ends suspended all the same.',
    { ...ATTEMPT, on: text('What it was to wait for.') },
    ({ task, on }) =>
      `The handler of ${task} caught the suspension on ${on}. The attempt ends suspended; let what ctx throws pass.`,
  ),
  'artifact.stored': entry(
    'debug',
    'An artifact is stored, or was there already with the same content.',
    {
      ...ATTEMPT,
      artifact: text('Its name.'),
      uri: text('Where it lies.'),
      bytes: count('Its size.'),
      reused: yes('True when it was there already.'),
    },
    ({ artifact, bytes, reused }) => `Artifact ${artifact} (${bytes} bytes) is ${reused ? 'there already' : 'stored'}.`,
  ),
  progress: entry(
    'debug',
    'A handler told how far it is.',
    {
      ...ATTEMPT,
      done: count('Units done.'),
      of: maybe(count('Units in all.')),
      note: maybe(text('The handler’s words.')),
    },
    ({ done, of, note }) => `${of === undefined ? done : `${done} of ${of}`}${note === undefined ? '' : `: ${note}`}`,
  ),
  log: entry(
    'info',
    'A handler said something by `ctx.log`. Its level is the one that the handler chose.',
    {
      ...ATTEMPT,
      level: word(LEVELS, 'The level that the handler chose.'),
      message: text('The handler’s words.'),
      data: maybe(bag('The handler’s fields.')),
    },
    ({ message }) => message,
  ),
  ...HOLD_EVENTS,
  ...BUDGET_EVENTS,
  ...REVIEW_EVENTS,
  ...LADDER_EVENTS,
  ...CLIENT_EVENTS,
  ...SWEEP_EVENTS,
  ...INCIDENT_EVENTS,
  'worker.started': entry(
    'info',
    'A worker begins to claim.',
    {
      worker: text('Its name.'),
      store: text('The store’s driver.'),
      tasks: texts('The tasks it has handlers for.'),
      concurrency: count('Attempts at a time.'),
      leaseMs: millis('Length of a lease.'),
    },
    ({ worker, store, tasks, concurrency }) =>
      `Worker ${worker} starts on ${store}: ${concurrency} at a time, ${tasks.length === 1 ? `task ${tasks[0]}` : `${tasks.length} tasks`}.`,
  ),
  'worker.stopping': entry(
    'info',
    'A worker was told to stop. It claims nothing more and lets what runs end.',
    { worker: text('Its name.'), running: count('Attempts under way.') },
    ({ worker, running }) =>
      running === 0
        ? `Worker ${worker} stops; nothing is under way.`
        : `Worker ${worker} stops: ${running} ${running === 1 ? 'attempt ends' : 'attempts end'} first.`,
  ),
  'worker.stopped': entry(
    'info',
    'A worker has stopped and holds nothing any more.',
    { worker: text('Its name.'), released: count('Runs that it gave back unfinished; not counted.') },
    ({ worker, released }) =>
      `Worker ${worker} stopped${released === 0 ? '' : `; ${released} ${released === 1 ? 'run' : 'runs'} given back, not counted`}.`,
  ),
  'store.pruned': entry(
    'info',
    'An idle worker let go of ended runs that were kept long enough, as `retention` says.',
    {
      worker: text('The worker that had time for it.'),
      runs: count('Runs deleted, each with its history.'),
      keys: count('Keys forgotten.'),
      ms: millis('How long it took.'),
    },
    ({ runs, keys, ms }) =>
      `${runs} ended ${runs === 1 ? 'run' : 'runs'} and ${keys} ${keys === 1 ? 'key' : 'keys'} were kept long enough and are gone, in ${formatDuration(ms)}.`,
  ),
  'store.trouble': entry(
    'warn',
    'The store did not answer, or nobody knows whether it did. The worker asks again.',
    {
      worker: maybe(text('The worker that asked.')),
      verb: text('What was asked of the store.'),
      code: text('`store.unavailable` or `store.unknown`.'),
      message: text('What the driver said, masked.'),
      retryInMs: millis('From now to the next try.'),
    },
    ({ verb, code, message, retryInMs }) =>
      `The store did not answer ${verb} (${code}): ${closed(message)} Asked again in ${formatDuration(retryInMs)}.`,
  ),
  'store.recovered': entry(
    'info',
    'The store answers again.',
    { worker: maybe(text('The worker that asked.')), downMs: millis('From the first trouble to now.') },
    ({ downMs }) => `The store answers again after ${formatDuration(downMs)}.`,
  ),
} as const

/** A text of somebody else, made into a sentence. */
const closed = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** The failure's own words, unless the reason's sentence has them already. */
const words = (failure: Failure, why: Why) =>
  'message' in why.params ? '' : `: ${failure.message.trim().replace(/\.$/, '')}`
