/**
 * The way out: each message about an incident is a run of its own, signed and posted, and tried again as documents are.
 * Where it goes is configuration and never comes from a message; the address and the secret stand in no run, event or error.
 */
import type { Context } from '../engine/context.ts'
import type { Reprise } from '../engine/reprise.ts'
import { defineTask, type Task } from '../engine/task.ts'
import { failure } from '../failure/own.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import { inCall } from '../policy/defaults.ts'
import { definePolicy } from '../policy/define-policy.ts'
import { presets } from '../policy/presets.ts'
import { type Clock, systemClock } from '../time/clock.ts'
import type { IncidentMessage } from './message.ts'
import { HEADERS, sign } from './signature.ts'
import { checkWebhook, type Webhook } from './webhook-address.ts'

const TIMEOUT_MS = 10_000
const BODY_MAX = 64 * 1_024

/** Documents that lean on networks, five attempts from five minutes on; but a crash or a deploy is no attempt. */
const policy = definePolicy({ name: 'webhook', lapsesMax: 3, interruptionsMax: 5 }, presets.documentsPatient)

/** The run is the one owner of repeats: each send is an attempt that can be seen. */
const once = definePolicy({ name: 'once', maxAttempts: 1 }, inCall)

export const webhookTask: Task<IncidentMessage, { readonly status: number }> = defineTask({
  name: 'reprise.webhook',
  policy,
  resources: ['webhook'],
})

/** Gives an instance the handler, and answers with the way to hand it messages. Idempotent by a message's id. */
export function webhookOut(
  reprise: Pick<Reprise, 'handle' | 'submit'>,
  webhook: Webhook,
  clock: Clock = systemClock,
): (message: IncidentMessage) => Promise<void> {
  checkWebhook(webhook)
  reprise.handle(webhookTask, (message, ctx) => post(webhook, message, ctx, clock))
  return (message) => submitMessage(reprise, message)
}

/** For processes that only hand on: a worker elsewhere sends it. */
export async function submitMessage(reprise: Pick<Reprise, 'submit'>, message: IncidentMessage): Promise<void> {
  try {
    await reprise.submit(webhookTask, message, { key: message.id })
  } catch (error) {
    // Submitted before, by a version that worded it otherwise: the message is on its way.
    if (!isRepriseError(error) || error.code !== 'submit.key_conflict') throw error
  }
}

async function post(
  { url, secret, timeoutMs = TIMEOUT_MS }: Webhook,
  message: IncidentMessage,
  ctx: Pick<Context, 'call'>,
  clock: Clock,
): Promise<{ readonly status: number }> {
  const body = JSON.stringify(message)
  if (Buffer.byteLength(body) > BODY_MAX)
    throw failure({ kind: 'final', code: 'webhook.size', message: `The message is larger than ${BODY_MAX} bytes.` })
  const status = await ctx.call(
    'post',
    async ({ signal }) => {
      const timestamp = Math.floor(clock.now() / 1_000)
      const answer = await fetch(url, {
        method: 'POST',
        body,
        signal,
        // An answer that sends us elsewhere would take the message, or the way into a network, with it.
        redirect: 'manual',
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'user-agent': 'reprise-webhook',
          [HEADERS.id]: message.id,
          [HEADERS.timestamp]: String(timestamp),
          [HEADERS.signature]: sign(secret, { id: message.id, timestamp, body }),
        },
      })
      // Nobody reads what it says, however long that is.
      await answer.body?.cancel().catch(() => undefined)
      refuseUnlessTaken(answer)
      return answer.status
    },
    { timeout: timeoutMs, policy: once, resource: 'webhook' },
  )
  return { status }
}

function refuseUnlessTaken({ ok, status, headers }: Response): void {
  if (ok) return
  if (status >= 300 && status < 400)
    throw failure({
      kind: 'final',
      code: 'webhook.redirect',
      message: `The webhook answered ${status}: it sends us elsewhere, and we do not follow. Configure the address itself.`,
    })
  const retryAfter = headers.get('retry-after')
  throw Object.assign(new Error(`The webhook answered ${status}.`), {
    status,
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
  })
}
