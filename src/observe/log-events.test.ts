import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { say } from '../policy/say.ts'
import { EVENT_NAMES, type EventName, type RepriseEvent } from '../run/event.ts'
import { SAMPLES } from '../run/event-samples.fixtures.ts'
import { logEvents } from './log-events.ts'

const PINO_LEVELS = { debug: 20, info: 30, warn: 40, error: 50 } as const

/** What pino writes for some events, as text. */
function linesOf(events: readonly RepriseEvent[], level: keyof typeof PINO_LEVELS = 'debug'): string[] {
  const lines: string[] = []
  const listener = logEvents(pino({ level, base: null }, { write: (line: string) => void lines.push(line) }))
  for (const event of events) listener(event)
  return lines
}

/** Reasons have their own tests, in the room that words them. */
const reasonOf = (name: 'attempt.retried' | 'run.escalated' | 'run.failed' | 'run.review') =>
  say(SAMPLES[name].why, { now: SAMPLES[name].at })

const LINES: { readonly [Name in EventName]: readonly [level: keyof typeof PINO_LEVELS, sentence: string] } = {
  'run.submitted': ['debug', 'Run r-42 of summarize is submitted.'],
  'run.returned': ['debug', 'summarize was asked before with key invoice-7: run r-42 answers.'],
  'run.unblocked': ['debug', 'Run r-42 is ready: r-41 was the last that it waited for.'],
  'run.skipped': ['warn', 'Run r-42: Skipped: it needs fetch, which failed.'],
  'submit.conflict': ['warn', 'index with key page-3 was not begun: the key belongs to another input.'],
  'attempt.started': ['info', 'Attempt 3 begins on w-7f: retry 2 of 7.'],
  'attempt.retried': [
    'warn',
    `Attempt 3 failed (http.503): Service unavailable. Retry 3 of 7. ${reasonOf('attempt.retried')}`,
  ],
  'run.escalated': ['warn', `Attempt 3 failed (gate.total). ${reasonOf('run.escalated')}`],
  'run.succeeded': ['info', 'Succeeded at retry 2 (attempt 3), 5 m 04 s after submit.'],
  'attempts.spent': ['warn', 'No more attempts: 8 of 8 used, the last one http.503.'],
  'run.failed': [
    'error',
    `Failed after 8 attempts, the first at 11:51:00, the last at 13:59:00 (http.503). ${reasonOf('run.failed')}`,
  ],
  'run.review': ['warn', `Waits for a person, due by 18:00. ${reasonOf('run.review')}`],
  'review.asked': ['debug', 'total is asked at accounts, due by 18:00.'],
  'review.taken': ['info', 'Run r-42 is in the hands of ana until 14:15:00.'],
  'review.answered': ['info', 'The answer for run r-42 is corrected by ana.'],
  'review.sent_back': ['info', 'Run r-42 is sent back to gemini:pro by ana.'],
  'model.asked': ['debug', 'invoice: gemini:flash is asked again with the error and the image. Repair 1 of 2.'],
  'answer.repaired': ['info', 'invoice: the answer of gemini:flash is repaired here; no call was needed.'],
  'answer.refused': ['info', 'invoice: the answer of gemini:flash does not pass the gate (gate.sum).'],
  'rung.left': ['info', 'invoice: next rung: gemini:pro. Same failure, same answer: a third try cannot help.'],
  'ask.ended': ['info', 'invoice: answered by a higher rung (gemini:pro), 3 sends.'],
  'review.rejected': ['warn', 'Run r-42 is rejected by ana: not an invoice.'],
  'review.overdue': ['warn', 'accounts has not answered total; due since 13:55:00.'],
  'run.suspended': ['info', 'Suspended on cool-off until 14:30:00. No slot is taken meanwhile; not counted.'],
  'run.interrupted': ['info', 'Worker w-7f gave the run back (deploy); not counted.'],
  'run.lapsed': ['warn', 'No sign of life from w-7f; claimed by w-02. Crash 1 of 3.'],
  'run.cancelled': ['info', 'Cancelled by ana.'],
  'run.generation': ['info', 'ana retries it: generation 2 begins; history is kept.'],
  'lease.lost': ['warn', 'Worker w-7f no longer owns the run (token 7); its handler is told to stop.'],
  'write.refused': ['warn', 'A late end of w-7f came after its lease (token 7). It is noted and changed nothing.'],
  'call.sent': ['debug', 'summary: take 1 goes out.'],
  'call.repeated': ['info', 'summary: http.503; repeat 1 of 2 in 2 s.'],
  'call.answered': ['debug', 'summary: answered in 840 ms at take 2.'],
  'call.failed': ['info', 'summary: failed after 3 takes: http.503: Service unavailable.'],
  'call.replayed': ['debug', 'summary: the answer was already paid for at 13:58:00; not bought again.'],
  'call.receipt': ['info', 'summary: a late answer of w-7f came after its lease. Kept as a receipt.'],
  'call.ambiguous': ['warn', 'summary: sent at 13:59:00, and nobody knows whether it arrived. Sent again.'],
  'suspension.swallowed': [
    'warn',
    'The handler of summarize caught the suspension on cool-off. The attempt ends suspended; let what ctx throws pass.',
  ],
  'artifact.stored': ['debug', 'Artifact report.pdf (18211 bytes) is stored.'],
  progress: ['debug', '12 of 40: pages read'],
  log: ['warn', 'The second page is empty.'],
  'budget.refused': [
    'warn',
    'pro is used up for today (50 of 50). To a person now; the cap resets at 00:00 on 11 Nov.',
  ],
  'budget.warned': ['warn', 'pro has used 80 % of its limit for today (40 of 50); the cap resets at 00:00 on 11 Nov.'],
  'budget.overshot': ['warn', 'summary cost $0.031 where at most $0.02 was expected: pro may be above its limit.'],
  'hold.set': ['warn', 'gemini:flash is held for everyone until 14:02:00 (gemini.rate).'],
  'hold.slowed': [
    'info',
    'openai:gpt is slowed for everyone until 14:00:12: 3 of 500 requests are left (x-ratelimit-remaining-requests).',
  ],
  'hold.probe': ['info', 'gemini:flash may be open again: run r-42 goes first.'],
  'hold.released': ['info', 'gemini:flash is open again (r-42).'],
  'sweep.passed': ['info', 'Swept in 840 ms: 12 begun again, 1 failed for good, 30 waiting, 9 found stuck.'],
  'sweep.begun': ['debug', 'archives a-17 begins attempt 2.'],
  'sweep.ended': [
    'error',
    'archives a-17 failed for good after 3 attempts: attempt 3 of 3 failed; The archive is not a mailbox file.',
  ],
  'sweep.dependency': ['warn', 'threads: only 2 of 20 were processed; until that is better only probes go out.'],
  'sweep.trouble': ['warn', 'threads: connect ECONNREFUSED 127.0.0.1:5672 (bus.unavailable).'],
  'client.repeated': ['info', 'bigquery, POST /queries: take 1 failed (http.503); repeated in 1 s.'],
  'client.failed': [
    'warn',
    'bigquery, POST /queries: failed after 3 requests (http.503). Wait; the service is expected back by itself.',
  ],
  'client.observed': [
    'info',
    'bigquery, POST /queries: http.503 after 4 requests of the client’s own; Reprise would retry in 1 s.',
  ],
  'client.hidden_retries': [
    'warn',
    'bigquery, POST /queries: 4 requests on the wire, 1 shown: 3 hidden. Switch the client’s own retries off.',
  ],
  'node.failed': [
    'warn',
    'execute: attempt 1 of 2 failed (bigquery.invalidQuery): Unrecognized name: totl. Next: repair.',
  ],
  'incident.opened': [
    'error',
    '63 documents of archives are stuck. Incident i-4fa2c1, tier 2, platform team by 18:00.',
  ],
  'incident.acknowledged': ['info', 'Incident i-4fa2c1 is with ana, 12 m 00 s after it opened.'],
  'incident.overdue': ['error', 'Nobody has acknowledged incident i-4fa2c1; platform team was due at 13:55:00.'],
  'incident.resolved': [
    'info',
    'Incident i-4fa2c1 is resolved by ana after 1 h 30 m: The parser was out of memory; it has more now.',
  ],
  'worker.started': ['info', 'Worker w-7f starts on sqlite: 16 at a time, 2 tasks.'],
  'worker.stopping': ['info', 'Worker w-7f stops: 3 attempts end first.'],
  'worker.stopped': ['info', 'Worker w-7f stopped; 1 run given back, not counted.'],
  'store.pruned': ['info', '1200 ended runs and 40 keys were kept long enough and are gone, in 35 ms.'],
  'store.trouble': [
    'warn',
    'The store did not answer claim (store.unavailable): database is locked. Asked again in 50 ms.',
  ],
  'store.recovered': ['info', 'The store answers again after 3.2 s.'],
}

describe('the log line of', () => {
  test.each(EVENT_NAMES)('%s', (name) => {
    const [line = ''] = linesOf([SAMPLES[name]])
    const [level, sentence] = LINES[name]
    const { time, ...rest } = JSON.parse(line) as Record<string, unknown>
    const { name: _name, ...fields }: Record<string, unknown> = { ...SAMPLES[name] }
    // The handler's level and words are the line's own.
    if (name === 'log') for (const field of ['level', 'message']) delete fields[field]
    expect(rest).toEqual({ ...fields, event: name, level: PINO_LEVELS[level], msg: sentence })
    expect(time).toBeTypeOf('number')
  })

  test.each(EVENT_NAMES)('%s names no field twice', (name) => {
    const [line = ''] = linesOf([SAMPLES[name]])
    for (const field of ['level', 'time', 'msg', 'event', 'run']) {
      expect(line.split(`"${field}":`).length).toBeLessThanOrEqual(2)
    }
  })
})

describe('logEvents', () => {
  test('leaves out what the level does not ask for', () => {
    const lines = linesOf(Object.values(SAMPLES), 'error')
    expect(lines.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual([
      'run.failed',
      'sweep.ended',
      'incident.opened',
      'incident.overdue',
    ])
  })

  test('does with any logger of four methods', () => {
    const said: string[] = []
    const say = (level: string) => (_fields: object, message: string) => void said.push(`${level} ${message}`)
    const listener = logEvents({ debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') })
    listener(SAMPLES['run.cancelled'])
    expect(said).toEqual(['info Cancelled by ana.'])
  })

  test('reads instants in the zone of its reader', () => {
    const said: string[] = []
    const keep = (_fields: object, message: string) => void said.push(message)
    logEvents({ debug: keep, info: keep, warn: keep, error: keep }, { zone: 'Asia/Tokyo' })(SAMPLES['run.suspended'])
    expect(said[0]).toContain('until 23:30:00')
  })
})
