/**
 * Planted bugs of flows on Firestore: budgets, retention, concurrency keys, the function's handler and the report step.
 * Each names the suite that must notice; they run on Google's emulator and are left out where it is missing.
 */
import { type Mutant, mutant } from './mutant.ts'

const STORE = 'src/stores/firestore'
const HANDLER = 'src/flows/create-flow-handler.ts'
const REPORT = 'src/flows/llm-report'

const on = (file: string, only: string, planted: readonly Mutant[]): Mutant[] =>
  planted.map((each) => ({ ...each, tests: [file], only, needs: 'firestore' }))

const BUDGETS: readonly Mutant[] = [
  mutant(
    'firestore: over a limit the intent is written all the same',
    `${STORE}/commit.ts`,
    '        if (reserved.over) return\n',
    '',
  ),
  mutant(
    'firestore: an intent that is asked again is taken again',
    `${STORE}/budgets.ts`,
    'some(({ exists }) => exists)) return',
    'every(({ ref }) => ref === undefined)) return',
  ),
  mutant(
    'firestore: only the shortest window is counted',
    `${STORE}/budgets.ts`,
    'const windows = placesOf(each, change.run, now)',
    'const windows = placesOf(each, change.run, now).slice(0, 1)',
  ),
  mutant(
    'firestore: an operator’s limit is kept and not heard',
    `${STORE}/budgets.ts`,
    'inForce(each.limits, kept.set?.limits)',
    'inForce(each.limits, undefined)',
  ),
  mutant(
    'firestore: budgets are read outside of the transaction',
    `${STORE}/budgets.ts`,
    'const snapshot = await this.#tx.get(ref)',
    'const snapshot = await ref.get()',
    { file: `${STORE}/budgets.ts`, find: 'await tx.getAll(...spends', replace: 'await place.db.getAll(...spends' },
    { file: `${STORE}/budgets.ts`, find: 'const page = await tx.get(past)', replace: 'const page = await past.get()' },
  ),
]

const RETENTION: readonly Mutant[] = [
  mutant(
    'firestore: linked documents go one by one',
    `${STORE}/prune.ts`,
    'group.length > 0 && (await every(group, isOld))',
    'group.length > 0',
  ),
  mutant(
    'firestore: what lies beneath a pruned document stays',
    `${STORE}/prune.ts`,
    '  await Promise.all(group.map(({ id }) => place.db.recursiveDelete(place.runs.doc(id))))\n',
    '',
  ),
  mutant(
    'firestore: a key is never forgotten',
    `${STORE}/prune.ts`,
    'if (row) batch.update(snapshot.ref, { goneAt: row.finishedAt ?? 0 })',
    'if (!row) batch.update(snapshot.ref, { goneAt: 0 })',
  ),
  mutant(
    'firestore: of each task one too many stays',
    `${STORE}/prune.ts`,
    'ended.offset(keepMax)',
    'ended.offset(keepMax + 1)',
  ),
]

const BESIDE: readonly Mutant[] = [
  mutant(
    'firestore: a reservation past its time is never spent',
    `${STORE}/budgets.ts`,
    "      .where('until', '<=', now)\n    const page",
    "      .where('until', '<', 0)\n    const page",
  ),
  mutant(
    'firestore: retention deletes what was begun again meanwhile',
    `${STORE}/prune.ts`,
    'batch.delete(place.runs.doc(id), { lastUpdateTime: updateTime })',
    'batch.delete(place.runs.doc(id))',
  ),
]

const KEYS: readonly Mutant[] = [
  mutant('firestore: nobody is woken when a key has room', `${STORE}/turns.ts`, '    await wake(unit, turn)\n', ''),
  mutant(
    'firestore: who finds a key full is not parked',
    `${STORE}/take-rows.ts`,
    "const park = (row: Row): void => promote(row, 'waiting')",
    "const park = (row: Row): void => promote(row, 'ready')",
  ),
  mutant(
    'firestore: one lane of a key waits for another',
    `${STORE}/turn.ts`,
    '      passed.add(lane)\n',
    '      return undefined\n',
  ),
  mutant(
    'firestore: a lapse keeps its key',
    `${STORE}/row.ts`,
    "  if (isOut(row)) return 'out'\n",
    "  if (isOut(row) || row.suspect) return 'out'\n",
  ),
]

const KEY_RACES: readonly Mutant[] = [
  mutant(
    'firestore: two claims see the same room of a key',
    `${STORE}/turns.ts`,
    'unit.replace(ref, { task, key, value: JSON.stringify(line), idleSince, op: unit.op }, since)',
    'unit.set(ref, { task, key, value: JSON.stringify(line), idleSince, op: unit.op, since: !since })',
  ),
  mutant(
    'firestore: a step that another worker ended keeps its key',
    `${STORE}/turns.ts`,
    '  if (!row.concurrency || isOut(row)) return\n',
    '  if (row.concurrency) return\n',
    {
      file: `${STORE}/take-rows.ts`,
      find: 'if (turn.line.out.length >= least) await dropGone',
      replace: 'if (turn.line.out.length > 1_000) await dropGone',
    },
  ),
]

const ENTRY: readonly Mutant[] = [
  mutant(
    'firestore: an invocation takes what is due in other documents',
    HANDLER,
    'firestore({ ...place, only: flow })',
    'firestore(place)',
  ),
  mutant(
    'firestore: a lease ends before its invocation',
    HANDLER,
    'Math.max(0, leftMs()) + LEASE_BEYOND_MS',
    'LEASE_BEYOND_MS',
  ),
  mutant(
    'firestore: every event gets a seat at once',
    HANDLER,
    'return seats.use(() => handle(options, flow, leftMs, finalizeReserveMs))',
    'return seats && handle(options, flow, leftMs, finalizeReserveMs)',
  ),
  mutant(
    'firestore: the wait for a seat is not time of the invocation',
    HANDLER,
    'invocationMs - (systemClock.monotonic() - arrivedAt)',
    'invocationMs - Math.min(0, arrivedAt)',
  ),
  mutant(
    'firestore: an event about another collection is taken for one of ours',
    'src/flows/flow-event.ts',
    'first === collection && id !== undefined',
    'first !== undefined && id !== undefined',
  ),
]

const STRANGERS: readonly Mutant[] = [
  mutant(
    'firestore: a document that was taken in is not looked at again',
    `${STORE}/adopt.ts`,
    '    isBehind(data, topOf(decode(snapshot, data, place.foreignTtlMs))) ||\n',
    '',
  ),
  mutant(
    'firestore: a step that is not understood is claimed all the same',
    `${STORE}/document.ts`,
    '  if (!rest || !isUnderstood(data)) return unreadable(doc, step, data, n)\n',
    '  if (!rest) return unreadable(doc, step, data, n)\n',
  ),
  mutant(
    'firestore: an error that was mended stays',
    `${STORE}/adopt.ts`,
    "const isMended = data['error']?.code === INVALID",
    'const isMended = false',
  ),
]

const LOOKS: readonly Mutant[] = [
  mutant(
    'firestore: a claim looks at flows in which only other tasks can begin',
    `${STORE}/document.ts`,
    'const lanes = acting.flatMap(',
    'const lanes = open.flatMap(',
  ),
]

const OUTCOMES: readonly Mutant[] = [
  mutant(
    'firestore: a document that is no flow is worked on',
    HANDLER,
    "  if (adopted.answer === 'invalid') return { flow, done: 0, code: 'FLOW_RUN_INVALID', message: adopted.message }\n",
    "  if (adopted.answer === 'invalid') return { flow, done: 0, code: 'NO_READY_STEP' }\n",
  ),
  mutant(
    'firestore: an invocation that cannot write its end says nothing',
    HANDLER,
    '  await tell(place, outcome, worker.id, tasks)\n',
    '',
  ),
  mutant(
    'firestore: a step that was ended meanwhile is told as done',
    HANDLER,
    "  if (refused) return { flow, done, code: 'STEP_FINALIZE_CONFLICT' }\n",
    '',
  ),
  mutant(
    'report: a model that is not there is told as a wrong profile',
    `${REPORT}/report-failure.ts`,
    "NO_MODEL.test(code) || facts?.['status'] === 404",
    "code === 'model'",
  ),
  mutant(
    'report: a missing required input is written around',
    `${REPORT}/request.ts`,
    '    if (isRequired)\n',
    '    if (isRequired && body !== undefined)\n',
  ),
  mutant('report: an earlier report that is gone is not noted', `${REPORT}/request.ts`, '    missing.push(step)\n', ''),
  mutant(
    'report: a wrong answer is asked for until it is right',
    `${REPORT}/llm-report.ts`,
    '    attempts: 2,\n',
    '    attempts: 9,\n',
  ),
  mutant(
    'report: a wrong answer is not shown to the model again',
    `${REPORT}/llm-report.ts`,
    '    attempts: 2,\n',
    '    attempts: 1,\n',
  ),
  mutant(
    'report: a bucket that is down is the end of the step',
    `${REPORT}/llm-report.ts`,
    "    throw reportFailure('GCS_WRITE_FAILED', thrown.message, thrown)\n",
    "    throw reportFailure('LLM_PROFILE_INVALID', thrown.message, thrown)\n",
  ),
  mutant(
    'report: the profile’s two candidates are let through',
    `${REPORT}/profile.ts`,
    'candidateCount !== undefined && candidateCount !== 1',
    'candidateCount !== undefined && candidateCount === 9',
  ),
]

const CRASHES: readonly Mutant[] = [
  mutant(
    'report: after a crash the report gets another name',
    `${REPORT}/llm-report.ts`,
    "ctx.artifact('report.json', body",
    "ctx.artifact('report-' + ctx.attempt + '.json', body",
  ),
  mutant(
    'report: after a crash the model is asked again',
    `${REPORT}/llm-report.ts`,
    "ctx.ask('report', {",
    "ctx.ask('report-' + ctx.attempt, {",
  ),
]

export const FIRESTORE_MUTANTS: readonly Mutant[] = [
  ...on('test/contract/firestore.test.ts', 'budget:', BUDGETS),
  ...on('test/contract/firestore.test.ts', 'prune:', RETENTION),
  ...on('test/contract/firestore-own.test.ts', 'retention|past its time', BESIDE),
  ...on('test/contract/firestore.test.ts', ' key:', KEYS),
  ...on('test/contract/firestore-keys.test.ts', 'two claims|about to be|another worker', KEY_RACES),
  ...on('test/flows/function.test.ts', '.', ENTRY),
  ...on('test/flows/strangers.test.ts', '.', STRANGERS),
  ...on('test/contract/firestore-own.test.ts', 'only other tasks', LOOKS),
  ...on('test/flows/taxonomy.test.ts', '.', OUTCOMES),
  ...on('test/flows/kill.test.ts', '.', CRASHES),
]
