/**
 * Prometheus as Debian ships it, on the loopback, with a data folder of its own: what it is told to scrape, and what it is asked.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { answered, commandOn, ended, freePort, type Service, started } from './service.ts'

export interface Series {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

export interface Rule {
  readonly name: string
  readonly health: 'ok' | 'err' | 'unknown'
  readonly lastError?: string
}

export interface PrometheusService extends Service {
  readonly url: string
  /** The answer to an instant query. Throws with Prometheus' own words when it is no query. */
  query(expr: string): Promise<readonly Series[]>
  rules(): Promise<readonly Rule[]>
}

export interface PrometheusOptions {
  /** `host:port` by the name of the job. */
  readonly targets: Readonly<Record<string, string>>
  readonly ruleFiles?: readonly string[]
}

const command = () => commandOn('prometheus')

export const noPrometheus = (): string | undefined => (command() ? undefined : 'prometheus is not installed')

export async function prometheusService({ targets, ruleFiles = [] }: PrometheusOptions): Promise<PrometheusService> {
  const folder = mkdtempSync(join(tmpdir(), 'reprise-prometheus-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const jobs = Object.entries(targets).map(([job_name, target]) => ({
    job_name,
    static_configs: [{ targets: [target] }],
  }))
  // JSON is YAML.
  const config = {
    global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
    rule_files: ruleFiles,
    scrape_configs: jobs,
  }
  const file = join(folder, 'prometheus.yml')
  writeFileSync(file, JSON.stringify(config))
  let child: ChildProcess | undefined
  const start = async () => {
    const run = started(command() ?? '', [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ])
    child = run.child
    await answered(port, run.child, run.said)
  }
  const ask = async (path: string): Promise<unknown> => {
    const answer = (await (await fetch(`${url}/api/v1/${path}`)).json()) as Record<string, unknown>
    if (answer['status'] !== 'success') throw new Error(`${path}: ${String(answer['error'])}`)
    return answer['data']
  }
  await start()
  return {
    port,
    url,
    start,
    stop: () => ended(child, 'SIGTERM'),
    kill: () => ended(child, 'SIGKILL'),
    async query(expr) {
      const data = (await ask(`query?query=${encodeURIComponent(expr)}`)) as {
        readonly result: readonly { readonly metric: Series['metric']; readonly value: readonly [number, string] }[]
      }
      return data.result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }))
    },
    async rules() {
      const { groups } = (await ask('rules')) as { readonly groups: readonly { readonly rules: readonly Rule[] }[] }
      return groups.flatMap(({ rules }) => rules)
    },
    async dispose() {
      await ended(child, 'SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
