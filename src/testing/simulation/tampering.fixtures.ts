/**
 * Bad histories: a good one with every scene, tampered with in one place. By invariant, and each says what went wrong.
 */
import type { RunView } from '../../ports/store.ts'
import type { AttemptRecord } from '../../run/run.ts'
import { Book } from './book.fixtures.ts'
import { BAD_BOOKS, blockedForEver, leftAfterItsHold } from './book-scenes.fixtures.ts'
import type { Dump, History, LogLine } from './history.ts'
import { BAD_DESKS } from './review-scene.fixtures.ts'
import { BAD_FORWARDS, leftBehind } from './turn-scenes.fixtures.ts'

type Tamper = (history: History) => History
type Fits = (line: LogLine) => boolean
/** Fields of any line, overwritten or added. */
type Patch = Readonly<Record<string, unknown>>

const relined = (history: History, lines: readonly LogLine[]): History => ({
  ...history,
  lines: lines.map((line, seq) => ({ ...line, seq })),
})

const drop =
  (fits: Fits): Tamper =>
  (history) =>
    relined(
      history,
      history.lines.filter((line) => !fits(line)),
    )

const patch =
  (fits: Fits, change: Patch | ((line: LogLine) => Patch)): Tamper =>
  (history) =>
    relined(
      history,
      history.lines.map((line) =>
        fits(line) ? ({ ...line, ...(typeof change === 'function' ? change(line) : change) } as LogLine) : line,
      ),
    )

/** Tells a line again, changed, right after the first that fits. */
const repeat =
  (fits: Fits, change: Patch = {}): Tamper =>
  (history) => {
    const index = history.lines.findIndex(fits)
    const line = history.lines[index] as LogLine
    return relined(history, history.lines.toSpliced(index + 1, 0, { ...line, ...change } as LogLine))
  }

/** Moves the first line that fits to before the first that fits `before`. */
const moveBefore =
  (fits: Fits, before: Fits): Tamper =>
  (history) => {
    const line = history.lines.find(fits) as LogLine
    const rest = history.lines.filter((each) => each !== line)
    const index = rest.findIndex(before)
    return relined(history, rest.toSpliced(index, 0, { ...line, at: (rest[index] as LogLine).at }))
  }

const dump =
  (change: (dump: Dump) => Partial<Dump>): Tamper =>
  (history) => ({ ...history, dump: { ...history.dump, ...change(history.dump) } })

const run = (id: string, change: Partial<RunView>): Tamper =>
  dump(({ runs }) => ({ runs: runs.map((each) => (each.id === id ? { ...each, ...change } : each)) }))

const without = (id: string): Tamper => dump(({ runs }) => ({ runs: runs.filter((each) => each.id !== id) }))

const row = (id: string, index: number, change: (row: AttemptRecord) => Partial<AttemptRecord>): Tamper =>
  dump(({ attempts }) => ({
    attempts: {
      ...attempts,
      [id]: (attempts[id] ?? []).map((each, at) => (at === index ? { ...each, ...change(each) } : each)),
    },
  }))

const decided = (id: string, change: Patch): Tamper =>
  row(id, 0, ({ decision }) => ({ decision: { ...decision, ...change } as NonNullable<AttemptRecord['decision']> }))

const both =
  (...tampers: readonly Tamper[]): Tamper =>
  (history) =>
    tampers.reduce((each, tamper) => tamper(each), history)

const store =
  (verb: string, id: string, more: (line: Extract<LogLine, { log: 'store' }>) => boolean = () => true): Fits =>
  (line) =>
    line.log === 'store' && line.verb === verb && JSON.stringify(line).includes(`"${id}"`) && more(line)

const commit = (id: string, type: string): Fits =>
  store('commit', id, (line) => line.verb === 'commit' && line.change.type === type)
const claim = (id: string): Fits => store('claim', id)
const event =
  (name: string, id: string): Fits =>
  (line) =>
    line.log === 'event' && line.event.name === name && (line.event as { readonly run?: string }).run === id
const handler =
  (does: string, id: string): Fits =>
  (line) =>
    line.log === 'handler' && line.does === does && line.run === id
const sent =
  (id: string): Fits =>
  (line) =>
    line.log === 'provider' && line.run === id
const client =
  (phase: string, id: string): Fits =>
  (line) =>
    line.log === 'client' && line.phase === phase && line.run === id
const nth = (fits: Fits, wanted: number): Fits => {
  let seen = 0
  return (line) => fits(line) && ++seen === wanted
}
const fieldOf = (line: LogLine, name: string): Patch => (line as unknown as Record<string, Patch>)[name] ?? {}
const change = (more: Patch) => (line: LogLine) => ({ change: { ...fieldOf(line, 'change'), ...more } })

/** r5 is claimed, and that is the last that is heard of it. */
const forgotten = both(
  drop((line) => line.log === 'fault'),
  drop(handler('begin', 'r5')),
  drop(handler('throw', 'r5')),
  drop(commit('r5', 'end')),
)

export const TAMPERINGS: Readonly<Record<string, Readonly<Record<string, Tamper>>>> = {
  I1: {
    'an acknowledged run is gone': without('r1'),
    'the second of two acknowledged runs is gone': without('r2'),
    'a submit was told an id that nobody has': patch(client('ok', 'r3'), { run: 'r99' }),
  },
  I2: {
    'a run that nobody asked for': run('r3', { input: '{"item":77}' }),
    'one item twice': run('r3', { input: '{"item":2}' }),
    'a run although every submit failed': patch(client('ok', 'r2'), { phase: 'fail' }),
  },
  I3: {
    'a key was told two ids': patch(nth(client('ok', 'r1'), 2), { run: 'r2' }),
    'two runs hold one key': run('r2', { key: 'k1' }),
    'a key was new twice': patch(nth(client('ok', 'r1'), 2), { created: true }),
  },
  I4: {
    'a token falls': patch(nth(claim('r2'), 2), { token: 1 }),
    'an attempt is skipped': patch(nth(claim('r2'), 2), (line) => ({
      runs: [{ ...(line as unknown as { runs: Patch[] }).runs[0], attempt: 5 }],
    })),
    'an attempt is begun twice': patch(nth(handler('begin', 'r2'), 2), { attempt: 1 }),
  },
  I5: {
    'a write of somebody else was taken': patch(commit('r1', 'end'), change({ token: 99 })),
    'the holder’s write was refused': patch(commit('r1', 'answer'), { answer: 'lost' }),
    'an end was told before it was stored': moveBefore(event('run.succeeded', 'r1'), commit('r1', 'end')),
    'an end was told that was never stored': drop(commit('r1', 'end')),
    'a stored end was told to be refused': repeat(event('run.succeeded', 'r1'), {
      event: { name: 'write.refused', what: 'end', run: 'r1', token: 1 },
    }),
  },
  I6: {
    'claimed while held': moveBefore(nth(claim('r4'), 2), handler('begin', 'r4')),
    'claimed again before it ended': moveBefore(nth(claim('r3'), 2), commit('r3', 'end')),
    'claimed alone with another run in hand': both(
      moveBefore(claim('r3'), handler('return', 'r1')),
      patch((line) => line.log === 'store' && line.verb === 'claim', { worker: 'w1' }),
    ),
    'an end before its claim': patch(commit('r1', 'end'), { at: 0 }),
  },
  I7: {
    'ended twice': repeat(commit('r1', 'end')),
    'its end was told twice': repeat(event('run.succeeded', 'r1')),
    'claimed after its end': repeat(claim('r8'), {
      at: Number.MAX_SAFE_INTEGER,
      token: 99,
      nonce: 'late',
      runs: [{ id: 'r1', generation: 1, attempt: 2, lapses: 0 }],
    }),
    'cancelled after its end': (history) =>
      relined(history, [
        ...history.lines,
        {
          log: 'store',
          process: 'client',
          seq: 0,
          at: history.dump.at,
          verb: 'steer',
          answer: 'ok',
          act: {
            run: 'r1',
            type: 'cancel',
            expect: { generation: 1, states: ['succeeded'] },
            by: 'ops',
            why: { code: 'run.cancelled', params: { by: 'ops' } },
          },
        },
      ]),
  },
  I8: {
    'claimed before it was due': patch(nth(claim('r3'), 2), { at: 0 }),
    'ended as cancelled by its owner': patch(commit('r1', 'end'), change({ state: 'cancelled' })),
    'begun again while it was ready': moveBefore(store('steer', 'r6'), claim('r6')),
    ...BAD_FORWARDS,
  },
  I9: {
    'another state': run('r1', { state: 'failed' }),
    'an attempt too many': run('r2', { attempt: 3 }),
    'a row of history is gone': dump(({ attempts }) => ({ attempts: { ...attempts, r2: [] } })),
    'an output that its owner never returned': both(
      run('r1', { output: '"forged"' }),
      patch(commit('r1', 'end'), change({ output: '"forged"' })),
    ),
    'a success of a suspended handler': patch(handler('return', 'r1'), { suspended: true }),
  },
  I10: {
    'more errors than allowed': dump(({ attempts }) => ({
      attempts: { ...attempts, r2: Array.from({ length: 5 }, () => attempts['r2']?.[0] as AttemptRecord) },
    })),
    'one token begins twice': repeat(handler('begin', 'r1'), { attempt: 2 }),
    'begun after three crashes': patch(claim('r1'), (line) => ({
      runs: [{ ...(line as unknown as { runs: Patch[] }).runs[0], lapses: 3 }],
    })),
    'a lease ran out for no reason': drop((line) => line.log === 'fault'),
    'suspended for ever': run('r8', { suspensions: 2_000 }),
  },
  I11: {
    'claimed before it was due': patch(nth(claim('r3'), 2), { at: 0 }),
    ...BAD_FORWARDS,
    'waits longer than the policy says': decided('r2', { at: Number.MAX_SAFE_INTEGER }),
    'waits shorter than told': row('r3', 0, ({ decision, endedAt }) => ({
      decision: { ...decision, at: endedAt + 1 } as NonNullable<AttemptRecord['decision']>,
    })),
    'a host’s clock was written': patch(commit('r2', 'end'), (line) => ({
      change: {
        ...fieldOf(line, 'change'),
        attempt: { ...(fieldOf(line, 'change')['attempt'] as Patch), endedAt: line.at + 600_000 },
      },
    })),
  },
  I12: {
    'a told wait was counted': decided('r3', { entry: 'errors', counted: true }),
    'a transient failure ended it uncounted': decided('r2', { act: 'fail', entry: 'rateWaits' }),
    'a final failure is retried': decided('r6', { act: 'retry', entry: 'errors', at: 0 }),
    'crashes that no person sees': row('r6', 0, ({ failure }) => ({
      failure: { ...failure, code: 'lease.lapsed' } as NonNullable<AttemptRecord['failure']>,
    })),
    'begun past its deadline': patch(claim('r1'), (line) => ({
      runs: [{ ...(line as unknown as { runs: Patch[] }).runs[0], deadlineAt: 1 }],
    })),
    'the store’s trouble was booked': row('r2', 0, ({ failure }) => ({
      failure: { ...failure, code: 'store.unavailable' } as NonNullable<AttemptRecord['failure']>,
    })),
  },
  explain: {
    'other dice': row('r2', 0, ({ dice = 0 }) => ({ dice: dice < 0.5 ? dice + 0.4 : dice - 0.4 })),
    'another act': decided('r6', { act: 'ignore' }),
    'a policy that is not kept': dump(() => ({ policies: {} })),
  },
  I13: {
    'sent again and nobody said so': both(repeat(sent('r1'), { take: 2 }), repeat(commit('r1', 'intent'))),
    'one take sent twice': repeat(sent('r1')),
    'sent although the answer was stored': boughtAgain,
    'sent after its lease was lost': moveBefore(sent('r2'), nth(claim('r2'), 2)),
    'a take in the journal that was never sent': both(
      drop(sent('r1')),
      drop((line) => line.log === 'fault'),
    ),
    'a run shows more than was charged': run('r1', { costUsd: 1 }),
    'one key for two calls': patch(sent('r2'), (line) => ({ idempotencyKey: 'same', body: `${line.seq}` })),
  },
  I14: {
    'sent without an intent': drop(commit('r1', 'intent')),
    'sent before its intent': moveBefore(sent('r1'), commit('r1', 'intent')),
    'the intent was refused': patch(commit('r1', 'intent'), { answer: 'lost' }),
    'the intent had another number': patch(commit('r1', 'intent'), change({ take: 2 })),
  },
  I15: {
    'more given out than the limit': patch(
      commit('r9', 'intent'),
      change({
        reserve: [{ budget: 'told', zone: 'UTC', limits: { day: { calls: 1 } }, calls: 1, usd: 0.01, lastsMs: 60_000 }],
      }),
    ),
    'a send that nothing was reserved for': (history) => ({
      ...history,
      lines: [...history.lines, { ...(history.lines.find(sent('r9')) as LogLine), seq: history.lines.length }],
    }),
    'given back although it was sent': patch(commit('r9', 'answer'), change({ settle: 'release' })),
    'refused although it fits': patch(commit('r9', 'intent'), { answer: 'over' }),
    'the store tells less than it gave out': dump(({ budgets }) => ({
      budgets: budgets.map((budget) => ({
        ...budget,
        windows: budget.windows.map((window) => ({
          ...window,
          use: { ...window.use, calls: { spent: 1, reserved: 0 } },
        })),
      })),
    })),
    'reserved, never sent, and no fault': both(
      drop(sent('r9')),
      drop((line) => line.log === 'fault' || line.log === 'event' || (line.log === 'client' && line.does !== 'submit')),
    ),
  },
  I17: {
    'two contents under one name': patch(
      nth((line) => line.log === 'artifact', 2),
      { sha256: 'other' },
    ),
    'created twice': patch(
      nth((line) => line.log === 'artifact', 2),
      { answer: 'created' },
    ),
    'told and not there': dump(() => ({ artifacts: {} })),
    'an object of no run': dump(({ artifacts }) => ({ artifacts: { ...artifacts, 'r99/report': 'x' } })),
  },
  I18: {
    'a person is asked twice': repeat(event('run.review', 'r5')),
    'asked, and never stored': drop(commit('r5', 'end')),
    'taken away from a person': repeat(commit('r5', 'end'), {
      log: 'store',
      verb: 'claim',
      worker: 'w1',
      nonce: 'x',
      alone: true,
      leaseMs: 1,
      token: 99,
      runs: [{ id: 'r5', generation: 1, attempt: 2, lapses: 0 }],
    }),
  },
  I19: {
    'a run still waits': run('r1', { state: 'waiting', dueAt: 1 }),
    'a lease is left': run('r1', { lease: { token: 1, worker: 'w1', until: 1 } }),
    'timers are left': (history) => ({ ...history, timersLeft: 2 }),
    'a worker did not stop': (history) => ({ ...history, unstopped: ['w1'] }),
    'blocked, and nobody can move it': blockedForEver,
  },
  I21: {
    'in an event': patch(event('run.succeeded', 'r1'), (line) => ({
      event: { ...fieldOf(line, 'event'), note: 'sk-canary' },
    })),
    'in a row of history': row('r2', 0, ({ failure }) => ({
      failure: { ...failure, message: 'key sk-canary' } as NonNullable<AttemptRecord['failure']>,
    })),
    'in a note': dump(() => ({ notes: [{ by: 'x', what: 'sk-canary', at: 1 }] })),
  },
  I22: {
    'a finding about a run': dump(() => ({
      findings: [{ law: 'a lease only on a run that is ready or in review', run: 'r1', found: 'a lease on failed' }],
    })),
    'a finding about the store': dump(() => ({ findings: [{ law: 'integrity', found: 'page 3' }] })),
    'two findings': dump(() => ({
      findings: [
        { law: 'a', found: 'b' },
        { law: 'c', found: 'd' },
      ],
    })),
  },
  I24: {
    'lies there while everybody is idle': (history) => ({
      ...history,
      claimBoundMs: 1_000,
      dump: { ...history.dump, at: history.dump.at + 10_000 },
      lines: drop((line) => store('commit', 'r8')(line) || claim('r8')(line))(history).lines,
    }),
    'claimed long after it was due': (history) => late(history, 120_000),
    'a claim is forgotten': forgotten,
    'a claim is given up by a worker that nobody told to stop': both(
      forgotten,
      patch((line) => line.log === 'event' && line.event.name === 'run.review' && line.event.run === 'r5', {
        event: { name: 'store.trouble', verb: 'end of r5', code: 'store.unavailable', message: '', retryInMs: 0 },
      }),
    ),
    'its resource answers again, and it is left behind': () => leftBehind(new Book()),
    'waits for hours': (history) => late(history, 7_200_000),
    'lies there after its hold is over': () => leftAfterItsHold(10_000),
  },
  ...BAD_BOOKS,
  desk: BAD_DESKS,
}

/** The second attempt of r2 sends what was answered in the first. */
function boughtAgain(history: History): History {
  const begin = history.lines.find(nth(handler('begin', 'r2'), 2)) as Extract<LogLine, { log: 'handler' }>
  const line = history.lines.findLast(sent('r2')) as Extract<LogLine, { log: 'provider' }>
  const again = { ...line, at: begin.at, attempt: begin.attempt, token: begin.token, take: line.take + 1 }
  return relined(history, history.lines.toSpliced(begin.seq + 1, 0, again))
}

/** Everything from the second claim of r3 on happens this much later. */
function late(history: History, ms: number): History {
  const from = history.lines.findIndex(nth(claim('r3'), 2))
  const lines = history.lines.map((line, index) => (index >= from ? { ...line, at: line.at + ms } : line))
  return { ...relined(history, lines), dump: { ...history.dump, at: history.dump.at + ms } }
}
