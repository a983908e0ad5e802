/**
 * Planted bugs of the sweep: each loses a document, counts or sends twice, or touches what is not its own.
 */
import { type Mutant, mutant } from './mutant.ts'

const VERDICT = 'src/sweep/verdict.ts'
const SEND = 'src/sweep/send.ts'
const BEGIN = 'src/sweep/begin-due.ts'
const OPERATE = 'src/sweep/operate.ts'

const PLANTED: readonly Mutant[] = [
  mutant(
    'sweep: two sweepers write over each other',
    'src/sources/sqlite/write.ts',
    "const parts = ['seq = ?', 'rev = ?']\n  const values: SqlValue[] = [key as number, rev]",
    "const parts = ['seq = ?']\n  const values: SqlValue[] = [key as number]",
  ),
  mutant(
    'sweep: what a service wrote meanwhile is overwritten',
    'src/sweep/pass-parts.ts',
    '  status,\n  attempts,\n  lastAttemptAt: lastAttemptAt ?? null,',
    '  attempts,\n  lastAttemptAt: lastAttemptAt ?? null,',
  ),
  mutant(
    'sweep: a failure heard twice counts twice',
    VERDICT,
    'if (failure.event !== undefined && failure.event === marks.failure?.event)',
    "if (failure.event === 'never')",
  ),
  mutant(
    'sweep: a document ends while its last attempt runs',
    VERDICT,
    "if (since > now - stuckAgeMs) return { act: 'leave' }",
    "if (since > now - stuckAgeMs && attempts < policy.maxAttempts) return { act: 'leave' }",
  ),
  mutant(
    'sweep: one attempt more than allowed',
    VERDICT,
    "if (attempts >= policy.maxAttempts) return { act: 'end', why: `attempt",
    "if (attempts > policy.maxAttempts) return { act: 'end', why: `attempt",
  ),
  mutant(
    'sweep: an event is taken over while its sender sends it',
    SEND,
    "where: { is: 'unsent', before },",
    "where: { is: 'unsent', before: before + 10_000_000 },",
  ),
  mutant(
    'sweep: an event is forgotten that the broker did not confirm',
    SEND,
    "const sent = outgoing.filter((_, index) => answers[index] === 'sent')",
    'const sent = outgoing',
  ),
  mutant(
    'sweep: an attempt is counted that the service counts too',
    BEGIN,
    "...(countedBy === 'sweep' ? { attempts: attempt } : {}),",
    'attempts: attempt,',
  ),
  mutant(
    'sweep: a document that no event can be made of is found for ever',
    BEGIN,
    'return ending(collection, document, { ...kept, failure: broken, endedAt: now, why })',
    'return { document, change: { expect: asRead(document), marks: { ...kept, why } } }',
  ),
  mutant(
    'sweep: everything goes out to a dependency that is sick',
    'src/sweep/health.ts',
    "return health.state === 'sick' ? Math.min(PROBES, limit) : limit",
    'return limit',
  ),
  mutant(
    'sweep: the probes that go out are no evidence',
    'src/sweep/pass.ts',
    'await rememberProbes(parts, collection, from)',
    'await rememberProbes(parts, collection, parts.now())',
  ),
  mutant(
    'sweep: an operator’s requeue ends what has no attempt left',
    OPERATE,
    "return verb === 'reset' || isSpent",
    "return verb === 'reset' || document.status === collection.shape.status.failed",
  ),
  mutant('sweep: a purge deletes what changed since its export', OPERATE, 'document.rev !== line.rev || ', ''),
  mutant(
    'sweep: a reset forgets what was before it',
    OPERATE,
    '    past: [past, ...(marks.past ?? [])].slice(0, PAST_MAX),\n',
    '',
  ),
  mutant(
    'sweep: a message is acknowledged that nobody keeps',
    'src/sweep/hear-failures.ts',
    'await (isSafe ? delivery.ack() : delivery.back())',
    'await delivery.ack()',
  ),
]

const TESTS = ['src/sweep/sweep', 'src/sweep/operate', 'src/sweep/verdict', 'src/sweep/health']

export const SWEEP_MUTANTS: readonly Mutant[] = PLANTED.map((each) => ({ ...each, tests: TESTS }))
