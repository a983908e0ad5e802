/**
 * The `retry_job_*` metrics, fed by the reports of passes: scraped in daemon mode, pushed after a single pass. Labels are collections,
 * statuses and types of trouble, all of them few.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { PassReport } from './sweep.ts'
import type { Figures, Totals } from './totals.ts'

export interface SweepMetrics {
  readonly registry: Registry
  observe(report: PassReport): void
  /** Counters as they stand over all processes, and what was seen last, for one that lives for a single pass. */
  restate(totals: Totals): void
  /** In the text format of Prometheus. */
  text(): Promise<string>
}

/** Seconds: a pass is quick, or it is in trouble. */
const BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 900]

/** Types of trouble that are told apart; the rest is `other`. */
const ERROR_TYPES_MAX = 50

export function sweepMetrics(options: { readonly intervalMs?: number } = {}): SweepMetrics {
  const registry = new Registry()
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new Counter({ name, help, labelNames, registers: [registry] })
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers: [registry] })

  const requeued = counter('retry_job_documents_requeued_total', 'Total documents requeued for retry', ['collection'])
  const skipped = counter('retry_job_documents_skipped_backoff_total', 'Documents skipped due to backoff delay', [
    'collection',
  ])
  const exceeded = counter('retry_job_documents_max_retries_exceeded_total', 'Documents exceeding max retry attempts', [
    'collection',
  ])
  const runs = counter('retry_job_runs_total', 'Retry job executions (status: success/failure)', ['status'])
  const errors = counter('retry_job_errors_total', 'Errors encountered during retry job', ['error_type'])
  const stuck = gauge('retry_job_stuck_documents', 'Current count of stuck documents', ['collection'])
  const failed = gauge('retry_job_failed_documents', 'Current count of failed documents (max retries)', ['collection'])
  const duration = new Histogram({
    name: 'retry_job_duration_seconds',
    help: 'Time taken to complete retry job',
    buckets: BUCKETS,
    registers: [registry],
  })
  const lastRun = gauge('retry_job_last_run_timestamp_seconds', 'When the last retry job ended')
  const lastSuccess = gauge('retry_job_last_success_timestamp_seconds', 'When the last successful retry job ended')
  const lastFailure = gauge(
    'retry_job_last_failure_timestamp_seconds',
    'When the last retry job that failed ended; 0: never',
  )
  const interval = gauge('retry_job_interval_seconds', 'How often the retry job is to run')
  const oldest = gauge('retry_job_oldest_stuck_seconds', 'How long the longest stuck document has been silent', [
    'collection',
  ])
  const sick = gauge('retry_job_dependency_sick', '1 while only probes go out', ['collection'])
  for (const status of ['success', 'failure']) runs.inc({ status }, 0)
  if (options.intervalMs !== undefined) interval.set(options.intervalMs / 1_000)
  const types = new Set<string>()
  const typeOf = (type: string) => {
    if (!types.has(type) && types.size >= ERROR_TYPES_MAX) return 'other'
    types.add(type)
    return type
  }

  const show = (collection: string, seen: Figures): void => {
    stuck.set({ collection }, seen.stuck)
    failed.set({ collection }, seen.failed)
    oldest.set({ collection }, seen.oldestStuckMs / 1_000)
    sick.set({ collection }, seen.health === 'sick' ? 1 : 0)
  }

  return {
    registry,
    observe(report) {
      if (report.dryRun) return
      runs.inc({ status: report.ok ? 'success' : 'failure' })
      duration.observe(report.ms / 1_000)
      lastRun.set(report.endedAt / 1_000)
      if (report.ok) lastSuccess.set(report.endedAt / 1_000)
      else lastFailure.set(report.endedAt / 1_000)
      for (const each of report.collections) {
        const { collection } = each
        requeued.inc({ collection }, each.begun + each.resent)
        skipped.inc({ collection }, each.waiting)
        exceeded.inc({ collection }, each.ended)
        // What could not be counted stays as it was seen last: an outage must not look as if all were well.
        if (each.isCounted) show(collection, each)
        for (const [type, count] of Object.entries(each.errors)) errors.inc({ error_type: typeOf(type) }, count)
      }
    },
    restate(totals) {
      for (const each of [requeued, skipped, exceeded, runs, errors]) each.reset()
      for (const [status, count] of Object.entries(totals.runs)) runs.inc({ status }, count)
      for (const [type, count] of Object.entries(totals.errors)) errors.inc({ error_type: typeOf(type) }, count)
      for (const [collection, counts] of Object.entries(totals.collections)) {
        requeued.inc({ collection }, counts.requeued)
        skipped.inc({ collection }, counts.skipped)
        exceeded.inc({ collection }, counts.exceeded)
        if (counts.seen) show(collection, counts.seen)
      }
      if (totals.lastSuccessAt !== undefined) lastSuccess.set(totals.lastSuccessAt / 1_000)
      if (totals.lastFailureAt !== undefined) lastFailure.set(totals.lastFailureAt / 1_000)
    },
    text: () => registry.metrics(),
  }
}
