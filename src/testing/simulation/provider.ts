/**
 * The other side of every call: keeps its own log of what it received, and answers as the script says.
 * It knows nothing of leases; a send that reaches it is on its list, whoever sent it.
 */
import { createHash } from 'node:crypto'
import type { CallScope } from '../../engine/call.ts'
import { hashOf } from '../../engine/json.ts'
import type { Execution } from './play.ts'
import type { Recorder } from './recorder.ts'
import type { Send, Step } from './script.ts'

export type CallStep = Extract<Step, { does: 'call' }>

/** Every call declares what it depends on; it does not change between attempts. */
export const callInput = (execution: Execution, step: CallStep) => ({ item: execution.script.item, ask: step.name })

export function send(recorder: Recorder, execution: Execution, step: CallStep, scope: CallScope): Promise<unknown> {
  const { process, run, generation, attempt, token } = execution
  return new Promise((resolve, reject) => {
    if (!process.alive) return
    const input = callInput(execution, step)
    const inputHash = hashOf(input)
    recorder.note({
      log: 'provider',
      process: process.name,
      run,
      generation,
      attempt,
      token,
      call: step.name,
      inputHash,
      take: scope.take,
      idempotencyKey: scope.idempotencyKey,
      body: createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 16),
      costUsd: step.costUsd ?? 0,
    })
    const { turns, ms, left } = step.sends[Math.min(scope.take, step.sends.length) - 1] as Send
    if (step.costUsd !== undefined) scope.cost(step.costUsd)
    if (left) scope.limits(leftHeaders(left))
    if (step.listens) scope.signal.addEventListener('abort', () => process.alive && reject(scope.signal.reason))
    if (turns === 'hang') return
    process.deliver(ms, () => (turns === 'ok' ? resolve({ to: step.name, take: scope.take }) : reject(refusal(turns))))
  })
}

/** As a provider says it: of a limit that is always far above what is left. */
const leftHeaders = ({ requests, resetMs }: NonNullable<Send['left']>) => ({
  ...{ 'x-ratelimit-limit-requests': '100', 'x-ratelimit-remaining-requests': String(requests) },
  'x-ratelimit-reset-requests': `${resetMs}ms`,
})

function refusal(turns: Exclude<Send['turns'], 'ok' | 'hang'>): Error {
  switch (turns) {
    case 'unavailable':
      return httpError(503, 'Service Unavailable')
    case 'limited':
      return httpError(429, 'Too Many Requests', { 'retry-after': '2' })
    case 'limitedLong':
      return httpError(429, 'Too Many Requests', { 'retry-after': '70' })
    case 'wrong':
      return httpError(422, 'Unprocessable Entity')
    case 'refused':
      return httpError(403, 'Forbidden')
  }
}

export const httpError = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Error =>
  Object.assign(new Error(`${status} ${message}`), { status, headers })
