/**
 * What Reprise wants to reach, against what a series has measured. A missed goal is shown as missed.
 */
import { LIMIT } from './contenders/index.ts'
import { type Results, summary } from './results.ts'

const SUBJECT = 'reprise-power'
const OURS = /^(raw|reprise)/

interface Goal {
  readonly what: string
  readonly goal: string
  readonly found: (results: Results) => number | undefined
  readonly met: (found: number) => boolean
  readonly unit?: string
}

const ofLimit = (workload: string, figure: string) => (results: Results) =>
  summary(results, workload, SUBJECT, figure)?.ratio(LIMIT)

/** Against the fastest peer, whatever it promises about its writes. */
const ofBestPeer = (workload: string, figure: string) => (results: Results) => {
  const peers = Object.keys(results.contenders).filter((name) => !OURS.test(name))
  const ratios = peers.flatMap((peer) => {
    const ratio = summary(results, workload, SUBJECT, figure)?.ratio(peer)
    return ratio === undefined || Number.isNaN(ratio) ? [] : [ratio]
  })
  return ratios.length === 0 ? undefined : Math.min(...ratios)
}

/** How often a peer that syncs each job takes as long as Reprise to pick one up. */
const pickupOfPeers = (results: Results) => {
  const synced = ['plainjob-full', 'bullmq-always', 'pg-boss', 'graphile-worker']
  const own = summary(results, 'pickup', SUBJECT, 'p50Ms')
  const ratios = synced.flatMap((peer) => {
    const ratio = own?.ratio(peer)
    return ratio === undefined || Number.isNaN(ratio) ? [] : [ratio]
  })
  return ratios.length === 0 ? undefined : Math.max(...ratios)
}

const figure = (workload: string, name: string) => (results: Results) =>
  summary(results, workload, SUBJECT, name)?.median

const memoryGrowth = (results: Results) => {
  const [early, late] = ['earlyMb', 'lateMb'].map((name) => figure('memory', name)(results))
  return early === undefined || late === undefined ? undefined : late / early
}

const atLeast = (bound: number) => (found: number) => found >= bound
const atMost = (bound: number) => (found: number) => found <= bound

const GOALS: readonly Goal[] = [
  {
    what: 'processing, of the hand-written loop',
    goal: '≥ 0.4, wanted 0.5',
    found: ofLimit('w1', 'process'),
    met: atLeast(0.4),
  },
  {
    what: 'processing, warm, of the hand-written loop',
    goal: '≥ 0.4, wanted 0.5',
    found: ofLimit('w1', 'processWarm'),
    met: atLeast(0.4),
  },
  {
    what: 'processing, of the fastest peer',
    goal: '≥ 2, wanted 2.5',
    found: ofBestPeer('w1', 'process'),
    met: atLeast(2),
    unit: '×',
  },
  { what: 'bulk submit, of the hand-written loop', goal: '≥ 0.4', found: ofLimit('w1', 'bulk'), met: atLeast(0.4) },
  {
    what: '100 concurrent single submits, of a coalesced loop',
    goal: '≥ 0.4',
    found: ofLimit('singles', 'submits'),
    met: atLeast(0.4),
  },
  {
    what: 'fail once, then succeed, of the fastest peer as users have it',
    goal: '≥ 2',
    found: ofBestPeer('w2', 'runsWaited'),
    met: atLeast(2),
    unit: '×',
  },
  {
    what: 'fail once, then succeed, of the fastest peer with its fixed wait cut out',
    goal: '≥ 2',
    found: ofBestPeer('w2', 'runs'),
    met: atLeast(2),
    unit: '×',
  },
  {
    what: 'pickup p50, of the quickest peer that syncs each job',
    goal: '< 1',
    found: pickupOfPeers,
    met: (found) => found < 1,
  },
  {
    what: 'pickup p50 across processes, in ms',
    goal: '< 40',
    found: figure('across', 'p50Ms'),
    met: (found) => found < 40,
    unit: ' ms',
  },
  {
    what: 'speed kept with a long past in the file',
    goal: '≥ 0.8',
    found: figure('finished', 'kept'),
    met: atLeast(0.8),
  },
  {
    what: 'speed kept with a past, a future and held runs in the file',
    goal: '≥ 0.8',
    found: figure('backlog', 'kept'),
    met: atLeast(0.8),
  },
  {
    what: 'a journalled call at concurrency 100, in µs',
    goal: '≤ 1,000',
    found: figure('calls', 'usPerCall'),
    met: atMost(1_000),
    unit: ' µs',
  },
  { what: 'memory late, of memory early', goal: '≤ 1.2', found: memoryGrowth, met: atMost(1.2) },
]

export function goals(results: Results): string {
  const rows = GOALS.map(({ what, goal, found, met, unit = '' }) => {
    const value = found(results)
    if (value === undefined || Number.isNaN(value)) return [what, goal, 'not measured', '–']
    const text = value.toFixed(value >= 100 ? 0 : value < 10 ? 2 : 1)
    return [what, goal, `${text}${unit}`, met(value) ? 'met' : '**missed**']
  })
  const table = [['goal', 'bound', 'measured', ''], ['---', '---', '---', '---'], ...rows]
  return `### Goals\n\n${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}`
}
