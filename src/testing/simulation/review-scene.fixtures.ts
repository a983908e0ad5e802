/**
 * A desk in told histories: one run that a person takes, leaves, takes again and decides, and another that is sent back.
 */
import type { AttemptRecord } from '../../run/run.ts'
import { type Scene, wrongly } from './book.fixtures.ts'

type Wrong =
  | 'taken out of another’s hands'
  | 'claimed out of a person’s hands'
  | 'decided without a row'
  | 'decided without a note'
  | 'told and not stored'
  | 'stored and told as lost'
  | 'a person who went away counted as a crash'

const HAND_MS = 5_000

export const atTheDesk: Scene<Wrong> = (book, wrong) => {
  const [first = '', second = ''] = book.create({}, {})
  book.pass(10).claim(first, second)
  for (const run of [first, second]) book.end(run, { state: 'review', suspensions: 1 })
  // Above those of the book's own claims.
  let token = 100
  const take = (run: string, by: string) => {
    token += 1
    book.does({ verb: 'take', run, by, leaseMs: HAND_MS, token }, 'client')
    return token
  }
  const left = take(first, 'ann')
  if (wrong === 'taken out of another’s hands') take(first, 'bob')
  if (wrong === 'claimed out of a person’s hands') book.pass(10).claim(first)
  // She goes away: a claim finds that her lease has ended, and bob takes it.
  book.pass(HAND_MS).claim()
  const decided = take(book.pass(10) && first, 'bob')
  const sentBack = take(second, 'ann')
  const told = { log: 'client', process: 'client', does: 'review' } as const
  const ends = [
    { run: first, by: 'bob', token: decided, state: 'succeeded', output: '{"a":1}', what: 'review.answered' },
    { run: second, by: 'ann', token: sentBack, state: 'ready', what: 'review.sent_back' },
  ] as const
  const rowOf = ({ by, token: own }: (typeof ends)[number]): AttemptRecord => ({
    ...{ generation: 1, attempt: 0, token: own, worker: by, startedAt: book.at, endedAt: book.at, outcome: 'operator' },
  })
  for (const [op, end] of ends.entries()) {
    const { run, by, token: own, state } = end
    const output = 'output' in end ? { output: end.output } : {}
    const line = { ...told, op, run, by, token: own, ...('output' in end ? { value: end.output } : {}) }
    book.note({ ...line, phase: 'invoke' })
    const isStored = wrong !== 'told and not stored' || run !== first
    if (isStored) book.end(run, { token: own, state, ...output, attempt: rowOf(end) })
    book.note({ ...line, phase: wrong === 'stored and told as lost' ? 'lost' : 'ok' })
  }
  const kept = ends.filter(({ run }) => wrong !== 'decided without a note' || run !== first)
  const crash: AttemptRecord[] =
    wrong === 'a person who went away counted as a crash'
      ? [{ ...rowOf(ends[0]), token: left, worker: 'ann', outcome: 'lapsed' }]
      : []
  const rows = (run: string) => ends.filter((end) => end.run === run).map(rowOf)
  return book.history(
    {},
    {
      attempts: {
        [first]: wrong === 'decided without a row' ? [] : [...crash, ...rows(first)],
        [second]: rows(second),
      },
      notes: kept.map(({ run, by, what }) => ({ run, by, what, at: book.at })),
    },
  )
}

export const BAD_DESKS = wrongly(
  atTheDesk,
  'taken out of another’s hands',
  'claimed out of a person’s hands',
  'decided without a row',
  'decided without a note',
  'told and not stored',
  'stored and told as lost',
  'a person who went away counted as a crash',
)
