/**
 * Planted bugs of whose turn it is: order, concurrency keys, quotas, and runs that an answer brings forward.
 */
import { type Mutant, mutant } from './mutant.ts'

export const TURN_MUTANTS: readonly Mutant[] = [
  mutant(
    'a key allows one run more than it says',
    'src/stores/memory/gates.ts',
    'if (known >= row.concurrency.max) {',
    'if (known > row.concurrency.max) {',
  ),
  mutant(
    'a lapse makes no room for its key',
    'src/stores/memory/claim.ts',
    '  for (const row of expired) wakeAfter(tables, row, now)\n',
    '',
  ),
  mutant(
    'an answer brings those forward that failed after it',
    'src/stores/memory/holds.ts',
    ' || (row.endedBy ?? 0) > healedAfter) continue',
    ') continue',
  ),
  mutant(
    'what a person has in hand counts as a sender',
    'src/stores/memory/holds.ts',
    `state === 'ready' && lease && lane.resource`,
    'lease && lane.resource',
  ),
  mutant(
    'what a person decides leaves no row of history',
    'src/run/apply-review.ts',
    `return { state: 'succeeded', why, output: verdict.value, attempt }`,
    `return { state: 'succeeded', why, output: verdict.value }`,
  ),
  mutant('nobody is brought forward', 'src/stores/memory/claim.ts', '  bringForward(tables, now)\n', ''),
  mutant(
    'an old run goes first, whatever its priority',
    'src/stores/memory/rows.ts',
    'a.place - b.place || a.seq - b.seq',
    'a.seq - b.seq',
  ),
  mutant(
    'an answer that leaves nothing holds nobody',
    'src/stores/memory/commit.ts',
    'const hold = change.quotas && holdByAnswer(tables, change.quotas, now)',
    'const hold = undefined',
  ),
]
