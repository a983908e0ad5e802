/**
 * Planted bugs of flows, joins, holds, limits, retention, reordering and transactional submits.
 */
import { type Mutant, mutant } from './mutant.ts'

const MEMORY = 'src/stores/memory'

export const FLOW_MUTANTS: readonly Mutant[] = [
  mutant(
    'a step begins after the first of its needs',
    `${MEMORY}/needs.ts`,
    `if (dependent.state === 'blocked' && !dependent.needs.some(isOpen)) moved.push`,
    `if (dependent.state === 'blocked') moved.push`,
  ),
  mutant(
    'a step that ended by its need ends nobody else',
    `${MEMORY}/needs.ts`,
    `        reached.push(dependent)
`,
    '',
  ),
  mutant(
    'a retry leaves those behind that ended with it',
    `${MEMORY}/needs.ts`,
    '|| !canBegin(dependent)) continue',
    '|| canBegin(dependent)) continue',
  ),
  mutant(
    'a retry begins those again that ended by themselves',
    `${MEMORY}/needs.ts`,
    '!isEndedByNeed(dependent.why) || ',
    '',
  ),
  mutant(
    'a retry forgets to block its dependents again',
    `${MEMORY}/needs.ts`,
    `  if (row.needs.some(isOpen)) row.state = 'blocked'
`,
    '',
  ),
  mutant(
    'a step that should wait for an operator fails',
    'src/run/need.ts',
    `(kind === 'fail' || kind === 'skip') && (needed`,
    `kind !== 'join' && (needed`,
  ),
  mutant(
    'a flow that is submitted again is made again',
    `${MEMORY}/flow.ts`,
    'if (known) return { now, flow: again',
    `if (known && flow.key === '') return { now, flow: again`,
  ),
  mutant(
    'a step is given nothing of what it needs',
    'src/engine/perform.ts',
    'return Object.freeze(Object.fromEntries(outputs))',
    'return Object.freeze(Object.fromEntries(outputs.slice(1)))',
  ),
  mutant(
    'a failed child keeps its parent waiting',
    'src/run/need.ts',
    `kind === 'join' ? isTerminal(needed) : needed === 'succeeded'`,
    `kind === 'join' ? isTerminal(needed) && needed !== 'failed' : needed === 'succeeded'`,
  ),
  mutant(
    'the results of a join are out of order',
    'src/engine/join.ts',
    '(a.join?.index ?? 0) - (b.join?.index ?? 0)',
    '(b.join?.index ?? 0) - (a.join?.index ?? 0)',
  ),
  mutant(
    'each attempt begins the children of its join anew',
    'src/engine/join.ts',
    'if (!stored) throw await begin',
    'if (stored?.answer === undefined) throw await begin',
  ),
  mutant(
    'a run that should begin with a success is forgotten',
    'src/run/apply.ts',
    `        ...(ending.children === undefined ? {} : { children: ending.children }),
`,
    '',
  ),
  mutant(
    'a hold keeps nobody back',
    'src/run/hold.ts',
    'return hold.until !== undefined && hold.until <= now ? 1 : 0',
    'return hold.until === undefined ? 0 : 1',
  ),
  mutant(
    'two probes are out at a time',
    'src/run/hold.ts',
    `    case 'probing':
      return 0`,
    `    case 'probing':
      return 1`,
  ),
  mutant(
    'a probe that vanished is waited for',
    `${MEMORY}/holds.ts`,
    'probing && !isOut ? withoutProbe(hold) : hold',
    'probing && !isOut && now < 0 ? withoutProbe(hold) : hold',
  ),
  mutant(
    'a shorter wait takes the place of a longer hold',
    'src/run/hold.ts',
    'return isLonger ? known : heldBy(order, now)',
    'return isLonger && order.probe === undefined ? known : heldBy(order, now)',
  ),
  mutant(
    'everybody comes back at once after a hold',
    'src/run/hold.ts',
    '+ 1 - (hold.admitted ?? 0))',
    '+ 1_000 - (hold.admitted ?? 0))',
  ),
  mutant(
    'a probe without an answer lets the others in',
    `${MEMORY}/holds.ts`,
    `if (change.state === 'succeeded' || change.admits) {`,
    'if (change.run !== order?.by) {',
  ),
  mutant(
    'retries of a failing resource cost nothing',
    'src/run/retry-bucket.ts',
    `if (bucket.phase === 'failing') return Math.floor(tokensAt(bucket, now))`,
    `if (bucket.phase === 'failing') return Math.floor(tokensAt(bucket, now)) + 5`,
  ),
  mutant(
    'every first try pays for a retry',
    'src/run/retry-bucket.ts',
    'const TOKENS_PER_FIRST_TRY = 0.1',
    'const TOKENS_PER_FIRST_TRY = 1',
  ),
  mutant(
    'each worker has a limit of its own',
    `${MEMORY}/gates.ts`,
    'lease && covers(what, lane)).length',
    `lease?.worker === what && covers(what, lane)).length`,
  ),
  mutant(
    'what a rate gave out is not remembered',
    `${MEMORY}/gates.ts`,
    'afterRate(rate, paidAt, covered.length, now))',
    'afterRate(rate, paidAt, 0, now))',
  ),
  mutant(
    'a flow is pruned in parts',
    `${MEMORY}/prune.ts`,
    'return [...reached].sort((a, b) => a.seq - b.seq)',
    'return [...reached].slice(0, 1).sort((a, b) => a.seq - b.seq)',
  ),
  mutant(
    'runs are pruned as soon as they end',
    `${MEMORY}/prune.ts`,
    'return endedAt <= now - (keepMs[row.state] ?? Number.POSITIVE_INFINITY) || surplus.has(row)',
    'return endedAt <= now || surplus.has(row)',
  ),
  mutant(
    'a key goes with its run',
    `${MEMORY}/prune.ts`,
    `tables.keys.set(name, { ...key, at: row.finishedAt ?? key.at })`,
    'tables.keys.delete(name)',
  ),
  mutant(
    'a run is moved out of its worker’s hands',
    `${MEMORY}/commit.ts`,
    `(row.state === 'ready' || row.state === 'waiting') && !row.lease`,
    `(row.state === 'ready' || row.state === 'waiting')`,
  ),
  mutant(
    'a run that is moved to the past waits for ever',
    `${MEMORY}/commit.ts`,
    `row.state = dueAt > now ? 'waiting' : 'ready'`,
    `row.state = 'waiting'`,
  ),
  mutant(
    'a retry stays where it had climbed',
    `${MEMORY}/begin.ts`,
    `  row.lane = row.home
`,
    '',
  ),
  mutant(
    'a submit in a transaction stays when it fails half-way',
    'src/stores/sqlite/create-in.ts',
    `tx.exec('ROLLBACK TO reprise_create; RELEASE reprise_create')`,
    `tx.exec('RELEASE reprise_create')`,
  ),
  mutant(
    'a submit in a transaction goes to any file',
    'src/stores/sqlite/create-in.ts',
    `if (main !== '' && real(main) === real(file)) return`,
    `if (main !== '') return`,
  ),
  mutant(
    'a submit is taken without a transaction',
    'src/stores/sqlite/create-in.ts',
    '  if (!open)\n',
    `  if (!open && tx === '')\n`,
  ),
]
