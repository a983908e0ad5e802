/**
 * `npm run chaos -- --kills 100 --runs 5000 --workers 8 --seed 7`: kills real worker processes on a real SQLite file, at random and at every named
 * crash point, and reports what was found afterwards. Exit 1 when any law is broken.
 */
import { parseArgs } from 'node:util'
import { type KillReport, killScenario } from '../test/chaos/kill-scenario.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '100' },
    runs: { type: 'string', default: '5000' },
    workers: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    json: { type: 'boolean', default: false },
  },
})

const kills = wholeNumber('kills', values.kills, 1)
const runs = wholeNumber('runs', values.runs, 1)
const workers = wholeNumber('workers', values.workers, 1)
const seed = wholeNumber('seed', values.seed, 0)
const { isTTY } = process.stderr
const startedAt = performance.now()
let toldAt = startedAt

const report = await killScenario({
  kills,
  runs,
  seed,
  workers,
  progress: ({ kills: killed, runs: submitted, open }) => {
    const now = performance.now()
    // A terminal is told of every kill; a file or a pipe now and then.
    if (!isTTY && now - toldAt < 10_000 && killed < kills) return
    toldAt = now
    const line = `${killed} of ${kills} kills, ${submitted} runs submitted, ${open} open, ${seconds(now - startedAt)}`
    process.stderr.write(isTTY ? `\r\u001b[K${line}` : `${line}\n`)
  },
})
if (isTTY) process.stderr.write('\n')
console.log(values.json ? JSON.stringify({ seed, ...report }) : told(report))
process.exit(report.breaches.length === 0 ? 0 : 1)

function told({ breaches, recoveries, ...figures }: KillReport): string {
  const byPoint = Object.entries(figures.kills).sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    `kills       ${byPoint.reduce((sum, [, count]) => sum + count, 0)} (${byPoint.map(([point, count]) => `${point} ${count}`).join(', ')})`,
    `runs        ${figures.runs}: ${figures.succeeded} succeeded, ${figures.review} with a person`,
    `sends       ${figures.sends}, of them ${figures.resends} again; ${figures.openTakes} takes were hit between intent and answer`,
    `lapses      ${figures.lapses} counted`,
    `refused     ${figures.refusedWrites} late writes, ${figures.receipts} receipts`,
    `recoveries  ${recoveries.count}: p50 ${recoveries.p50} ms, max ${recoveries.max} ms (lease 1000 ms)`,
    `time        ${seconds(performance.now() - startedAt)}`,
    breaches.length === 0 ? 'no law was broken' : `BROKEN, replay with --seed ${seed}:`,
    ...breaches.map((breach) => `  ${breach}`),
  ].join('\n')
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= min) return value
  console.error(`--${name} is ${text}. Allowed: a whole number from ${min}.`)
  process.exit(2)
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
