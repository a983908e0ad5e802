/**
 * Prints `docs/reference/metrics.md` from the metrics themselves, so that the page cannot name what nobody measures.
 * With `--check` it writes nothing and fails when the page is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Registry } from 'prom-client'
import { createMetrics } from '../src/observe/metrics/index.ts'
import { memory } from '../src/stores/memory/index.ts'
import { sweepMetrics } from '../src/sweep/metrics.ts'

const PAGE = fileURLToPath(new URL('../docs/reference/metrics.md', import.meta.url))

const OPENING = `# Metrics

<!-- Printed by scripts/metrics-doc.ts from the metrics themselves. Change them, then run the script. -->

For Prometheus, in its text format. \`reprise work --metrics-port 9464\` serves the engine's at \`/metrics\`; \`reprise sweep --metrics-port 9465\`
serves those of the sweep, and \`--once\` pushes them to \`PUSHGATEWAY_URL\`. In a process of your own:

\`\`\`ts
import { createMetrics } from 'reprise/metrics'

const metrics = createMetrics({ store })
reprise.on('*', metrics.listen)
const { contentType, body } = await metrics.page()
\`\`\`

- Counters count what this process saw; gauges marked _store_ show what the store holds, whoever asks, and are read at most every 5 seconds. Several
  workers on one store show the same gauges: take \`max\`, not \`sum\`.
- No label carries an id or a text of yours, and each has at most about a hundred values; the rest is \`other\`.
- **Waiting** (\`reprise_oldest_waiting_seconds\`): a run waits from when it could be claimed: it became ready, its due time came, or its lease
  ended by itself. A run that is held, blocked, parked, with a person or waits for its time does not wait in this sense.
- **Stuck** (\`reprise_stuck_runs\`): has waited so for longer than the stuck age, 24 hours by default: \`REPRISE_STUCK_AFTER\`, \`incidents.stuckAfterMs\`
  or \`createMetrics({ stuckAfterMs })\`. Counted among the next 2,000 runs of a lane, fewer where more than ten lanes have work; so the figure costs
  the same however long the backlog is.

Rules that alert on them are in \`deploy/prometheus/alerts\`, dashboards in \`deploy/grafana\`, what to do in [runbooks](../operating/runbooks.md).
`

const TYPES = { counter: 'counter', gauge: 'gauge', histogram: 'histogram', summary: 'summary' } as const

function rowsOf(register: Registry, ofStore: ReadonlySet<string> = new Set()): string {
  const rows = register.getMetricsAsArray().map((metric) => {
    // The registry keeps the labels of a metric and does not type them.
    const labels: unknown = Reflect.get(metric, 'labelNames')
    const named = Array.isArray(labels) ? labels.map((label) => `\`${String(label)}\``).join(', ') : ''
    const type = TYPES[String(metric.type) as keyof typeof TYPES] ?? String(metric.type)
    return `| \`${metric.name}\` | ${type}${ofStore.has(metric.name) ? ', _store_' : ''} | ${named} | ${metric.help} |`
  })
  return ['| metric | type | labels | |', '|---|---|---|---|', ...rows].join('\n')
}

export function metricsPage(): string {
  const told = new Set(
    createMetrics()
      .register.getMetricsAsArray()
      .map(({ name }) => name),
  )
  const { register } = createMetrics({ store: memory() })
  const ofStore = new Set(
    register
      .getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => !told.has(name)),
  )
  const parts = [
    OPENING,
    '## The engine\n',
    rowsOf(register, ofStore),
    '\n## The sweep\n',
    rowsOf(sweepMetrics().registry),
  ]
  return `${parts.join('\n')}\n`
}

if (import.meta.main) {
  const page = metricsPage()
  if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
  else if (readFileSync(PAGE, 'utf8') !== page) {
    console.error('docs/reference/metrics.md is stale. Run: node scripts/metrics-doc.ts')
    process.exit(1)
  }
}
