/**
 * The planted bugs, each one that a good engineer might have written: what went wrong in other engines, and once in this one.
 */
import { BUDGET_MUTANTS } from './budgets.ts'
import { FIRESTORE_MUTANTS } from './firestore-list.ts'
import { FLOW_MUTANTS } from './flow-list.ts'
import { type Mutant, mutant } from './mutant.ts'
import { SWEEP_MUTANTS } from './sweep-list.ts'
import { TURN_MUTANTS } from './turn-list.ts'

const ENGINE = 'src/engine'

export const MUTANTS: readonly Mutant[] = [
  mutant(
    'a lost end is told as done',
    `${ENGINE}/settle.ts`,
    `if (committed.answer === 'lost') execution.refused('end')
`,
    `if (committed.answer !== 'lost' && committed.answer !== 'ok') execution.refused('end')
`,
  ),
  mutant(
    'a lost intent is sent all the same',
    `${ENGINE}/execution.ts`,
    `if (answer === 'ok') return`,
    `if (answer === 'ok' || change.type === 'intent') return`,
  ),
  mutant(
    'an attempt is counted twice',
    'src/run/apply.ts',
    'const ledgers = applyEntry(run.ledgers, decision, failure)',
    'const ledgers = applyEntry(applyEntry(run.ledgers, decision, failure), decision, failure)',
  ),
  mutant(
    'the intent is written after the send',
    `${ENGINE}/call.ts`,
    `await execution.write({ type: 'intent', ...entry, ...reserve })`,
    '',
    {
      file: `${ENGINE}/call.ts`,
      find: `    await this.#write({ answer })
`,
      replace: `    const entry = { name: this.#name, inputHash: this.#inputHash, take: this.#take }
    await this.#execution.write({ type: 'intent', ...entry })
    await this.#write({ answer })
`,
    },
  ),
  mutant(
    'an end is told before it is stored',
    `${ENGINE}/settle.ts`,
    `  crashPoint('before-end')
`,
    `  if (execution.parts.emitter.listening) tellEnd(execution, ending, applied)
`,
    {
      file: `${ENGINE}/settle.ts`,
      find: `    tellEnd(execution, ending, applied)
`,
      replace: '',
    },
  ),
  mutant('renewals go on after the stop', `${ENGINE}/lease-keeper.ts`, 'this.#stop.abort()', ''),
  mutant(
    'leases are not renewed',
    `${ENGINE}/lease-keeper.ts`,
    `, this.#stop.signal)
        await this.#renew()`,
    ', this.#stop.signal)',
  ),
  mutant(
    'the lease is not confirmed before a send',
    `${ENGINE}/lease-keeper.ts`,
    'if (this.#options.clock.monotonic() < execution.sendUntil) return',
    'if (this.#options.clock.monotonic() < Number.POSITIVE_INFINITY) return',
  ),
  mutant(
    'the lease is not confirmed after a slow intent',
    `${ENGINE}/call.ts`,
    `    // The write may have taken longer than the lease had left.
    await execution.parts.keeper.confirm(execution)
`,
    '',
  ),
  mutant('crashes are never spent', `${ENGINE}/perform.ts`, 'lapses >= lapsesMax)', 'lapses >= lapsesMax + 100)'),
  mutant(
    'a crash is forgotten when its successor stops',
    `${ENGINE}/settle.ts`,
    `ending.type !== 'failure' || !isLapse(ending.failure)`,
    `ending.type !== 'failure' || !run.lapsed?.counted || ending.failure.kind !== 'interrupted'`,
    { file: `${ENGINE}/settle.ts`, find: '  lapses: run.ledgers.lapses,\n', replace: '' },
  ),
  mutant(
    'four crashes at once end a run without a person',
    'src/run/lapse.ts',
    'isLapse(last) ? ledgers.lapses : Math.min(ledgers.lapses, lapsesMax)',
    'ledgers.lapses',
  ),
  mutant(
    'a crash found by a worker that never began is forgotten',
    'src/stores/memory/commit.ts',
    `    row.lapsed = undefined
  }
`,
    `  }
  row.lapsed = undefined
`,
  ),
  mutant(
    'a told wait is counted as an error',
    'src/policy/decide.ts',
    `return scheduled(situation, until, 'rateWaits', {
    code: 'wait.told',`,
    `return scheduled(situation, until, 'errors', {
    code: 'wait.told',`,
  ),
  mutant(
    'the wait is left out',
    'src/run/apply.ts',
    'const dueAt = decision.at ?? execution.now',
    'const dueAt = execution.now',
  ),
  mutant(
    'a run begins past its deadline',
    `${ENGINE}/perform.ts`,
    'run.deadlineAt !== undefined && run.deadlineAt <= execution.startedAt',
    'run.deadlineAt !== undefined && run.deadlineAt <= 0',
  ),
  mutant(
    'a stored answer is bought again',
    `${ENGINE}/call.ts`,
    'if (stored?.answer !== undefined) return replay',
    'if (stored?.answer === undefined && stored?.answeredAt === 0) return replay',
    { file: `${ENGINE}/call.ts`, find: 'stored.answer)', replace: `stored.answer ?? '')` },
  ),
  mutant(
    'each take of a call is charged with those before',
    `${ENGINE}/call.ts`,
    `    this.#costUsd = undefined
    this.#quotas`,
    '    this.#quotas',
  ),
  mutant(
    'an unknown end counts as lost',
    `${ENGINE}/store-door.ts`,
    'again: (change, error) => this.#commitAgain(change, error)',
    `again: async (change, error) => (await this.#commitAgain(change, error)) && { answer: 'lost' as const }`,
  ),
  {
    // Another attempt makes up for it, so that the simulation has nothing to say.
    ...mutant(
      'an unknown intent counts as lost',
      `${ENGINE}/store-door.ts`,
      '(error) => this.#commitAgain(change, error))',
      `async (error) => (await this.#commitAgain(change, error)) && { answer: 'lost' as const })`,
    ),
    tests: [`${ENGINE}/trouble.test.ts`],
  },
  mutant(
    'an unknown commit counts as done',
    `${ENGINE}/store-door.ts`,
    '(error) => this.#commitAgain(change, error))',
    `(error) => (change.run === '' ? this.#commitAgain(change, error) : { answer: 'ok' as const }))`,
  ),
  mutant(
    'an unknown end is written again without a look',
    `${ENGINE}/store-door.ts`,
    `change.type === 'end' && (await`,
    `change.type === 'end' && change.run === '' && (await`,
  ),
  mutant(
    'an unknown claim is asked again under another nonce',
    `${ENGINE}/store-door.ts`,
    'this.#options.store.claim(request)',
    'this.#options.store.claim({ ...request, nonce: request.nonce + this.#options.clock.monotonic() })',
  ),
  mutant(
    'trouble of the store becomes the run’s failure',
    `${ENGINE}/execution.ts`,
    'this.parts.door.journal(',
    'this.parts.store.journal(',
  ),
  mutant(
    'policies are kept only if the store answers at once',
    `${ENGINE}/store-door.ts`,
    `await this.#ask('keepPolicy', () => this.#options.store.keepPolicy(hash, policy))`,
    'await this.#options.store.keepPolicy(hash, policy).catch(() => {})',
  ),
  mutant(
    'suspects are run together',
    `${ENGINE}/worker.ts`,
    'if (empty) void this.#claim(1, true)',
    'if (this.#running < this.#options.concurrency) void this.#claim(1, true)',
  ),
  mutant(
    'a stop drops what was claimed and not begun',
    `${ENGINE}/worker.ts`,
    `      this.#write(execution, { type: 'unstarted' })
`,
    '',
  ),
  mutant(
    'a swallowed suspension is a success',
    `${ENGINE}/perform.ts`,
    'left !== undefined || suspendedOn !== undefined',
    'left !== undefined',
  ),
  {
    ...mutant(
      'what was given back for want of time is taken again',
      `${ENGINE}/worker.ts`,
      'deadlineOf(execution) === endsAt) this.#late = true',
      'deadlineOf(execution) === endsAt) this.#late = false',
    ),
    tests: [`${ENGINE}/worker.test.ts`],
  },
  mutant(
    'a handler that hangs is not dismissed',
    `${ENGINE}/worker.ts`,
    'if (execution.startedAt > 0) this.#limit(execution)',
    '',
  ),
  mutant(
    'an end is stamped with the host’s clock',
    `${ENGINE}/settle.ts`,
    'const now = parts.time.now()',
    'const now = parts.clock.now()',
  ),
  mutant(
    'a fast clock runs away from the store’s',
    `${ENGINE}/store-time.ts`,
    '    this.#told = now\n',
    '    this.#told = Math.max(now, this.#toldAt === Number.NEGATIVE_INFINITY ? now : this.now())\n',
  ),
  mutant(
    'the store takes a write without its token',
    'src/stores/memory/commit.ts',
    'if (row?.lease?.token !== change.token) return refuse',
    'if (!row?.lease) return refuse',
  ),
  mutant(
    'the store gives out a leased run',
    'src/stores/memory/claim.ts',
    `row.state === 'ready' && !row.lease && serves`,
    `row.state === 'ready' && serves`,
  ),
  mutant(
    'the store forgets its keys',
    'src/stores/memory/create.ts',
    'if (known) return createAgain',
    `if (known && run.key === '') return createAgain`,
  ),
  ...BUDGET_MUTANTS,
  mutant(
    'at the desk: one person takes what another has in hand',
    'src/stores/memory/take.ts',
    'const isFree = !row?.lease || row.lease.until <= now || row.lease.worker === by',
    'const isFree = row !== undefined',
  ),
  mutant(
    'at the desk: what is overdue is given out while a person has it',
    'src/stores/memory/claim.ts',
    'row.dueAt > now || row.lease) continue',
    'row.dueAt > now) continue',
    {
      file: 'src/stores/memory/claim.ts',
      find: `    row.state = 'ready'\n`,
      replace: `    row.state = 'ready'\n    row.lease = undefined\n`,
    },
  ),
  mutant(
    'at the desk: that nobody answered is told at every attempt',
    `${ENGINE}/person.ts`,
    `  await execution.write({ type: 'answer', name, inputHash, answer: JSON.stringify(reply) })\n`,
    '',
  ),
  mutant(
    'at the desk: the schema is asked and not heard',
    'src/review/verdict.ts',
    'issues.length > 0 ? { issues }',
    'issues.length > 1_000 ? { issues }',
  ),
  mutant(
    'at the desk: an answer to what was asked before is taken',
    'src/review/reviews.ts',
    '(version !== undefined && version !== found.item.version)',
    `(version === '')`,
  ),
  mutant(
    'at the desk: a person who went away counts as a crash',
    'src/stores/memory/claim.ts',
    `    if (row.state === 'review') continue\n`,
    '',
  ),
  mutant(
    'at the desk: the reply of one round answers the next',
    `${ENGINE}/person.ts`,
    'input = question } = options',
    'input = name } = options',
  ),
  ...FLOW_MUTANTS,
  ...SWEEP_MUTANTS,
  ...TURN_MUTANTS,
  ...FIRESTORE_MUTANTS,
]
