/**
 * Metrics of a process that does not live long enough to be scraped: handed to a Pushgateway, which keeps them.
 */

import { maskSecrets } from '../failure/mask-secrets.ts'
import { RepriseError } from '../failure/reprise-error.ts'
import { type Clock, systemClock } from '../time/clock.ts'

const PUSH_MS = 10_000
const JOB = 'retry-job'

/** Replaces what this job has pushed before. Throws `metrics.unavailable` when the gateway does not take it. */
export async function pushMetrics(url: string, text: string, clock: Clock = systemClock): Promise<void> {
  const target = new URL(`${url.replace(/\/+$/, '')}/metrics/job/${JOB}`)
  const { username, password } = target
  // They travel in a header; an address with credentials in it cannot be asked.
  target.username = ''
  target.password = ''
  const login = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const controller = new AbortController()
  const cancel = clock.after(PUSH_MS, () => controller.abort(new Error(`no answer within ${PUSH_MS} ms`)))
  try {
    const answer = await fetch(target, {
      method: 'PUT',
      body: text,
      headers: {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        ...(username === '' ? {} : { authorization: `Basic ${login}` }),
      },
      signal: controller.signal,
    })
    if (!answer.ok) throw new Error(`it answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`)
  } catch (cause) {
    const { message, cause: deeper } = cause as Error
    const why = deeper instanceof Error ? `${message}: ${deeper.message}` : message
    throw new RepriseError(
      'metrics.unavailable',
      `The Pushgateway at ${maskSecrets(url)} did not take the metrics: ${maskSecrets(why)}. The pass itself is done.`,
      { cause },
    )
  } finally {
    cancel()
  }
}
