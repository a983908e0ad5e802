/**
 * Writes deploy/grafana/dashboards/*.json from the panels below; with `--check` it only tells whether they are fresh.
 * Every query here is asked of a real Prometheus by test/deploy/dashboards.test.ts.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DashboardBuilder, ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard'
import { PanelBuilder as GaugePanel } from '@grafana/grafana-foundation-sdk/gauge'
import { PanelBuilder as HeatmapPanel } from '@grafana/grafana-foundation-sdk/heatmap'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatPanel } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TimeseriesPanel } from '@grafana/grafana-foundation-sdk/timeseries'

interface Panel {
  readonly title: string
  /** What it tells and when to worry, shown at the panel's corner. */
  readonly says: string
  readonly shape: 'gauge' | 'graph' | 'count' | 'heatmap'
  readonly expr: string
  readonly legend?: string
  readonly unit?: string
  /** Warning and critical. */
  readonly thresholds?: readonly [number, number]
}

interface Board {
  readonly file: string
  readonly title: string
  readonly panels: readonly Panel[]
}

export const BOARDS: readonly Board[] = [
  {
    file: 'retry-policy',
    title: 'Retry Policy Monitoring',
    panels: [
      {
        title: 'Stuck documents',
        says: 'Documents without an attempt for longer than the stuck age. Above 50 for an hour somebody should look; above 200 the service does not work.',
        shape: 'gauge',
        expr: 'max by (collection) (retry_job_stuck_documents)',
        legend: '{{collection}}',
        thresholds: [50, 200],
      },
      {
        title: 'Retry rate',
        says: 'Documents sent again per second. A rise without a fall of the stuck documents means that retries do not help.',
        shape: 'graph',
        expr: 'sum by (collection) (rate(retry_job_documents_requeued_total[5m]))',
        legend: '{{collection}}',
        unit: 'ops',
      },
      {
        title: 'Max retries exceeded',
        says: 'Documents that used up their attempts. It should stand still.',
        shape: 'count',
        expr: 'sum by (collection) (retry_job_documents_max_retries_exceeded_total)',
        legend: '{{collection}}',
        thresholds: [1, 10],
      },
      {
        title: 'Skipped for backoff',
        says: 'Documents that were due to be looked at and not yet due to be sent again.',
        shape: 'graph',
        expr: 'sum by (collection) (rate(retry_job_documents_skipped_backoff_total[5m]))',
        legend: '{{collection}}',
        unit: 'ops',
      },
      {
        title: 'Job duration',
        says: 'How long a pass takes. Longer than its interval and the next one is late.',
        shape: 'heatmap',
        expr: 'sum by (le) (increase(retry_job_duration_seconds_bucket[1h]))',
        legend: '{{le}}',
        unit: 's',
      },
    ],
  },
  {
    file: 'engine',
    title: 'Reprise',
    panels: [
      {
        title: 'Open runs',
        says: 'Where runs are now. Ready and nothing running: is a worker there?',
        shape: 'graph',
        expr: 'sum by (state) (max by (task, state) (reprise_runs))',
        legend: '{{state}}',
      },
      {
        title: 'Oldest waiting',
        says: 'How long a run could have been claimed and was not, holds apart. Above 15 minutes there are too few workers, or a limit is too low.',
        shape: 'graph',
        expr: 'max by (task) (reprise_oldest_waiting_seconds)',
        legend: '{{task}}',
        unit: 's',
        thresholds: [900, 86_400],
      },
      {
        title: 'Stuck runs',
        says: 'Runs that could have been claimed for longer than the stuck age, 24 hours unless set otherwise. Above 50 somebody should look; above 200 nobody works on them.',
        shape: 'gauge',
        expr: 'max by (task) (reprise_stuck_runs)',
        legend: '{{task}}',
        thresholds: [50, 200],
      },
      {
        title: 'Ended per second',
        says: 'Runs that ended, by how.',
        shape: 'graph',
        expr: 'sum by (state) (rate(reprise_runs_ended_total[5m]))',
        legend: '{{state}}',
        unit: 'ops',
      },
      {
        title: 'Failures by kind',
        says: 'Attempts that failed. What is done about each kind is the policy’s to say.',
        shape: 'graph',
        expr: 'sum by (kind) (rate(reprise_failures_total[5m]))',
        legend: '{{kind}}',
        unit: 'ops',
      },
      {
        title: 'Leading codes, last hour',
        says: 'The ten codes that most attempts failed with.',
        shape: 'graph',
        expr: 'topk(10, sum by (code) (increase(reprise_failures_total[1h])))',
        legend: '{{code}}',
      },
      {
        title: 'Failure rate, last hour',
        says: 'Failed runs among those that ended.',
        shape: 'gauge',
        expr: 'sum by (task) (increase(reprise_runs_ended_total{state="failed"}[1h])) / sum by (task) (increase(reprise_runs_ended_total[1h]))',
        legend: '{{task}}',
        unit: 'percentunit',
        thresholds: [0.02, 0.05],
      },
      {
        title: 'Held',
        says: 'Runs that wait for a held task, resource or category.',
        shape: 'graph',
        expr: 'max by (what) (reprise_held_runs)',
        legend: '{{what}}',
      },
      {
        title: 'Calls sent and spared',
        says: 'Sends of journalled calls, and those that a stored answer made needless.',
        shape: 'graph',
        expr: 'label_replace(sum(rate(reprise_calls_total[5m])), "call", "sent", "", "") or label_replace(sum(rate(reprise_calls_replayed_total[5m])), "call", "spared", "", "")',
        legend: '{{call}}',
        unit: 'ops',
      },
      {
        title: 'Crashes, last hour',
        says: 'Leases that ended by themselves. After 3 of them a run is with a person.',
        shape: 'count',
        expr: 'sum(increase(reprise_lapses_total{counted="true"}[1h])) or vector(0)',
        thresholds: [1, 3],
      },
      {
        title: 'Submit to success',
        says: 'The slowest of twenty runs, waits included.',
        shape: 'graph',
        expr: 'histogram_quantile(0.95, sum by (le, task) (rate(reprise_run_seconds_bucket[15m])))',
        legend: '{{task}}',
        unit: 's',
      },
      {
        title: 'Money per hour',
        says: 'What calls told that they cost.',
        shape: 'graph',
        expr: 'sum by (task) (increase(reprise_cost_usd_total[1h]))',
        legend: '{{task}}',
        unit: 'currencyUSD',
      },
      {
        title: 'Corrections, last hour',
        says: 'Calls to a model that ask again with the errors. Above 30 % a prompt, a schema, the documents or the model have changed.',
        shape: 'gauge',
        expr: 'sum by (rung) (increase(reprise_model_sends_total{how="correct"}[1h])) / sum by (rung) (increase(reprise_model_sends_total[1h]))',
        legend: '{{rung}}',
        unit: 'percentunit',
        thresholds: [0.15, 0.3],
      },
      {
        title: 'Escalations, last hour',
        says: 'Documents that needed a stronger model, which costs many times as much.',
        shape: 'gauge',
        expr: 'sum(increase(reprise_model_sends_total{how="climb"}[1h])) / sum(increase(reprise_model_sends_total{how="first"}[1h]))',
        unit: 'percentunit',
        thresholds: [0.1, 0.2],
      },
      {
        title: 'Answers refused',
        says: 'What is wrong with answers that are no result: their form (syntax, empty, truncated), their content (semantic), or that the provider refused.',
        shape: 'graph',
        expr: 'sum by (rung, how) (rate(reprise_answers_refused_total[5m]))',
        legend: '{{rung}} {{how}}',
        unit: 'ops',
      },
      {
        title: 'Budgets used',
        says: 'Spent and reserved of each limit in its window. At 100 % documents go to a person or wait for the next window.',
        shape: 'gauge',
        expr: 'max by (budget, window) (reprise_budget_used_ratio)',
        legend: '{{budget}} {{window}}',
        unit: 'percentunit',
        thresholds: [0.8, 1],
      },
      {
        title: 'Asked at the desks, last hour',
        says: 'Questions that went to people.',
        shape: 'graph',
        expr: 'sum by (queue) (increase(reprise_reviews_total{act="asked"}[1h]))',
        legend: '{{queue}}',
      },
      {
        title: 'Overdue at the desks, last hour',
        says: 'Questions that were not answered in time.',
        shape: 'count',
        expr: 'sum by (queue) (increase(reprise_reviews_overdue_total[1h])) or vector(0)',
        legend: '{{queue}}',
        thresholds: [1, 10],
      },
    ],
  },
]

const FOLDER = fileURLToPath(new URL('../deploy/grafana/dashboards/', import.meta.url))

/** Two in a row; Grafana's grid is 24 wide. */
const WIDTH = 12
const HEIGHT = 8

export function dashboardJson({ file, title, panels }: Board): string {
  const board = new DashboardBuilder(title)
    .uid(`reprise-${file}`)
    .tags(['reprise'])
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
  for (const panel of panels) board.withPanel(panelOf(panel))
  return `${JSON.stringify(board.build(), null, 2)}\n`
}

function panelOf({ title, says, shape, expr, legend, unit = 'short', thresholds }: Panel) {
  const query = new DataqueryBuilder().expr(expr).legendFormat(legend ?? '__auto')
  const shapes = { gauge: GaugePanel, graph: TimeseriesPanel, count: StatPanel, heatmap: HeatmapPanel }
  const panel = new shapes[shape]()
    .title(title)
    .description(says)
    .datasource({ type: 'prometheus', uid: 'prometheus' })
    .unit(unit)
    .span(WIDTH)
    .height(HEIGHT)
    .withTarget(shape === 'heatmap' ? query.format('heatmap' as never) : query)
  if (!thresholds) return panel
  const [warning, critical] = thresholds
  return panel.thresholds(
    new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([
      // Grafana's base step has no value of its own.
      { value: null, color: 'green' },
      { value: warning, color: 'orange' },
      { value: critical, color: 'red' },
    ]),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(FOLDER, { recursive: true })
  for (const board of BOARDS) {
    const path = `${FOLDER}${board.file}.json`
    const json = dashboardJson(board)
    if (!process.argv.includes('--check')) writeFileSync(path, json)
    else if (readFileSync(path, 'utf8') !== json) {
      console.error(`${path} is not what scripts/dashboards.ts makes; run npm run docs`)
      process.exitCode = 1
    }
  }
}
