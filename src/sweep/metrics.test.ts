import { describe, expect, it } from 'vitest'
import { RepriseError } from '../failure/reprise-error.ts'
import { sweepMetrics } from './metrics.ts'
import { archives, DAY, sweepWorld } from './sweep.fixtures.ts'
import { createSweep } from './sweep.ts'
import { addedUp } from './totals.ts'

async function passed() {
  const world = await sweepWorld()
  const { clock, source, sweep, report } = world
  await source.put('archives', [
    { id: 'stuck', createdAt: clock.now() - 2 * DAY },
    { id: 'spent', attempts: 3, lastAttemptAt: clock.now() - 2 * DAY, createdAt: 0 },
    { id: 'waits', attempts: 1, lastAttemptAt: clock.now(), createdAt: 0 },
  ])
  await report('waits')
  return { ...world, passReport: await sweep.pass() }
}

describe('retry_job_* metrics', () => {
  it('have the names and labels that dashboards and alerts use', async () => {
    const { passReport } = await passed()
    const metrics = sweepMetrics({ intervalMs: 900_000 })
    metrics.observe(passReport)
    const text = await metrics.text()
    for (const line of [
      'retry_job_documents_requeued_total{collection="archives"} 1',
      'retry_job_documents_skipped_backoff_total{collection="archives"} 1',
      'retry_job_documents_max_retries_exceeded_total{collection="archives"} 1',
      'retry_job_runs_total{status="success"} 1',
      'retry_job_runs_total{status="failure"} 0',
      'retry_job_stuck_documents{collection="archives"} 2',
      'retry_job_failed_documents{collection="archives"} 1',
      'retry_job_duration_seconds_count 1',
      'retry_job_interval_seconds 900',
      'retry_job_last_success_timestamp_seconds 1767225600',
      'retry_job_oldest_stuck_seconds{collection="archives"} 172800',
    ])
      expect(text.split('\n')).toContain(line)
    expect(text).toContain('# TYPE retry_job_errors_total counter')
    expect(text).toContain('# TYPE retry_job_duration_seconds histogram')
  })

  it('add up over processes that live for one pass', async () => {
    const { source, sweep, passReport } = await passed()
    await addedUp(source, passReport)
    const again = await sweep.pass()
    const totals = await addedUp(source, again)
    const metrics = sweepMetrics()
    metrics.observe(again)
    metrics.restate(totals)
    const lines = (await metrics.text()).split('\n')
    expect(lines).toContain('retry_job_runs_total{status="success"} 2')
    expect(lines).toContain('retry_job_documents_requeued_total{collection="archives"} 1')
    expect(lines).toContain('retry_job_documents_skipped_backoff_total{collection="archives"} 2')
    expect(lines).toContain('retry_job_stuck_documents{collection="archives"} 0')
  })

  it('do not say that all is well while nothing can be counted, scraped or pushed', async () => {
    const { source, bus, sweep, clock, passReport } = await passed()
    const away = createSweep({
      source,
      clock,
      collections: [archives],
      bus: { ...bus, prepare: () => Promise.reject(new RepriseError('bus.unavailable', 'gone')) },
    })
    const blind = createSweep({
      source: { ...source, count: () => Promise.reject(new RepriseError('source.unavailable', 'gone')) },
      clock,
      collections: [archives],
      bus,
    })
    const scraped = sweepMetrics()
    scraped.observe(passReport)
    await addedUp(source, passReport)
    for (const sweeper of [away, blind]) {
      const failed = await sweeper.pass()
      expect(failed.ok).toBe(false)
      scraped.observe(failed)
      const pushed = sweepMetrics()
      pushed.observe(failed)
      pushed.restate(await addedUp(source, failed))
      for (const metrics of [scraped, pushed])
        expect((await metrics.text()).split('\n')).toEqual(
          expect.arrayContaining([
            'retry_job_stuck_documents{collection="archives"} 2',
            'retry_job_failed_documents{collection="archives"} 1',
            'retry_job_oldest_stuck_seconds{collection="archives"} 172800',
          ]),
        )
    }
    scraped.observe(await sweep.pass())
    expect(await scraped.text()).toContain('retry_job_stuck_documents{collection="archives"} 0')
  })

  it('keep the number of series small, whatever goes wrong', async () => {
    const { passReport } = await passed()
    const metrics = sweepMetrics()
    for (let index = 0; index < 500; index++)
      metrics.observe({
        ...passReport,
        ok: false,
        collections: [{ ...passReport.collections[0]!, errors: { [`e${index}`]: 1 } }],
      })
    const series = (await metrics.text()).split('\n').filter((line) => line.startsWith('retry_job_errors_total{'))
    expect(series.length).toBeLessThanOrEqual(51)
  })
})
