import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createReprise } from '../engine/reprise.ts'
import { exponential } from '../policy/backoff.ts'
import type { RepriseEvent } from '../run/event.ts'
import { memory } from '../stores/memory/index.ts'
import { createIncidents } from './incidents.ts'
import { HEADERS, sign, verify } from './signature.ts'
import { webhookOut, webhookTask } from './webhook.ts'
import { checkWebhook, shownUrl } from './webhook-address.ts'

const SECRET = 'canary-secret-canary-secret-1'
const PATH = '/hooks/canary-path'

type Act = 'ok' | 'hang' | 'reset' | number

interface Received {
  readonly id: string
  readonly isSigned: boolean
  readonly body: string
}

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A receiver that does as it is told, then takes everything. */
async function receiver(acts: Act[], headers: Record<string, string> = {}) {
  const received: Received[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const head = (name: string) => String(request.headers[name])
    const timestamp = Number(head(HEADERS.timestamp))
    const parts = { id: head(HEADERS.id), timestamp, body, signature: head(HEADERS.signature) }
    received.push({ id: parts.id, body, isSigned: verify(SECRET, { ...parts, now: Math.floor(Date.now() / 1_000) }) })
    const act = acts.shift() ?? 'ok'
    if (act === 'reset') request.socket.resetAndDestroy()
    else if (act !== 'hang') response.writeHead(act === 'ok' ? 204 : act, headers).end()
  }
  const server = createServer((request, response) => void answer(request, response).catch(() => undefined))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}` }
}

/** No receiver of these tests is this slow, however busy the machine; those that hang are waited for only so long. */
const PATIENT_MS = 30_000
const HANGS_MS = 1_000

/** The way from a breach to the receiver, with the documents' policy in milliseconds instead of minutes. */
async function delivered(url: string, { attempts = 5, timeoutMs = PATIENT_MS } = {}) {
  const store = memory()
  const events: RepriseEvent[] = []
  const backoff = exponential({ base: 20, cap: 100, jitter: 'none' })
  const reprise = createReprise({
    store,
    policies: { [webhookTask.name]: { maxAttempts: attempts, kinds: { transient: { backoff } } } },
  })
  closing.push(() => reprise.close())
  reprise.on('*', (event) => events.push(event))
  const deliver = webhookOut(reprise, { url, secret: SECRET, timeoutMs })
  const incidents = createIncidents({ store, deliver, emit: (event) => events.push(event) })
  const seen = { subject: 'collection:archives', stuck: 0, oldestStuckMs: 0, exhausted: 1, failed: 1, isPartial: false }
  const { opened } = await incidents.look([seen], { by: 'sweep' })
  // A second look is what follows a crash between the note and the submit: it must not make a second delivery.
  await incidents.look([seen], { by: 'sweep' })
  const worker = reprise.work({ pollMs: 20 })
  await worker.idle({ until: 'settled' })
  await worker.stop()
  const { runs } = await store.find({ limit: 10 })
  const run = runs[0]
  const kept = JSON.stringify([
    events,
    runs,
    await store.notes({}),
    run && (await store.attempts(run.id)),
    run && (await store.journal(run.id, 1)),
  ])
  return { id: `${opened[0]?.id}/opened`, run, runs, kept, store }
}

describe('a delivery', () => {
  test('is one request when all is well, signed, and says what is to be done', async () => {
    const { received, url } = await receiver([])
    const { id, run, runs } = await delivered(url)
    expect(received).toMatchObject([{ id, isSigned: true }])
    expect(runs).toHaveLength(1)
    expect(run).toMatchObject({ state: 'succeeded', task: 'reprise.webhook', key: id })
    expect(JSON.parse(received[0]?.body ?? '')).toMatchObject({
      id,
      type: 'incident.opened',
      incident: { tier: 3, owner: 'team of the service', steps: expect.arrayContaining([expect.any(String)]) },
    })
  })

  test('survives 503, a receiver that hangs and one that hangs up: the same id each time, each signed', async () => {
    const { received, url } = await receiver([503, 'hang', 'reset'])
    const { id, run } = await delivered(url, { timeoutMs: HANGS_MS })
    expect(received.map((each) => [each.id, each.isSigned])).toEqual(Array(4).fill([id, true]))
    expect(new Set(received.map(({ body }) => body)).size).toBe(1)
    expect(run?.state).toBe('succeeded')
  })

  test('is given up after its attempts, and the run says with what', async () => {
    const { received, url } = await receiver(Array(20).fill(503))
    const { run } = await delivered(url, { attempts: 3 })
    expect(received).toHaveLength(3)
    expect(run).toMatchObject({ state: 'failed', failure: { code: 'http.503' } })
  })

  test.each([
    ['an answer that sends it elsewhere is not followed', 302, 'webhook.redirect'],
    ['an answer that it is not wanted is final', 403, 'http.403'],
  ])('%s', async (_name, status, code) => {
    const other = await receiver([])
    const { received, url } = await receiver([status], { location: other.url })
    const { run } = await delivered(url)
    expect(received).toHaveLength(1)
    expect(other.received).toHaveLength(0)
    expect(run).toMatchObject({ state: 'failed', failure: { code } })
  })

  test.each(['ok', 503, 302, 'hang', 'reset'] as const)(
    'after %s neither secret nor path stand anywhere',
    async (act) => {
      const { url } = await receiver(Array(3).fill(act))
      const { kept } = await delivered(url, { attempts: 2, timeoutMs: act === 'hang' ? 200 : PATIENT_MS })
      expect(kept).not.toContain('canary')
      expect(kept).toContain('reprise.webhook')
    },
  )

  test('waits as documents do: five attempts from five minutes on, and a crash is none', () => {
    const { policy } = webhookTask
    expect(policy).toMatchObject({ maxAttempts: 5, lapsesMax: 3, interruptionsMax: 5 })
    expect(JSON.stringify(policy.kinds.transient.backoff)).toContain('300000')
  })
})

describe('a signature', () => {
  const parts = { id: 'i-1/opened', timestamp: 1_794_751_200, body: '{"a":1}' }
  const now = parts.timestamp + 10

  test('is the one that the specification’s example has', () => {
    // Of the Standard Webhooks specification.
    const example = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' }
    expect(sign('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', example)).toBe(
      'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    )
  })

  test('fits what was signed and nothing else', () => {
    const signature = sign(SECRET, parts)
    expect(verify(SECRET, { ...parts, signature, now })).toBe(true)
    expect(verify(SECRET, { ...parts, signature: `v1,x ${signature}`, now })).toBe(true)
    expect(verify(SECRET, { ...parts, body: '{"a":2}', signature, now })).toBe(false)
    expect(verify(SECRET, { ...parts, id: 'i-2/opened', signature, now })).toBe(false)
    expect(verify(`${SECRET}x`, { ...parts, signature, now })).toBe(false)
    expect(verify(SECRET, { ...parts, signature, now: now + 301 })).toBe(false)
    expect(verify(SECRET, { ...parts, signature: '', now })).toBe(false)
  })
})

describe('where it goes', () => {
  test.each(['https://example.com/hook', 'http://127.0.0.1:8080/', 'http://localhost/x', 'http://[::1]:1/'])(
    '%s is allowed',
    (url) => {
      expect(() => checkWebhook({ url, secret: SECRET })).not.toThrow()
    },
  )

  test.each([
    'http://example.com/canary',
    'https://u:canary@example.com/',
    'file:///canary',
    'canary',
    '',
    'http://127.0.0.1.evil.example/canary',
  ])('%j is refused, and not shown', (url) => {
    expect(() => checkWebhook({ url, secret: SECRET })).toThrow(
      /^webhook\.url: its value, not shown, is not allowed; allowed is an https address/,
    )
  })

  test.each(['', 'short', 'with a space in it, and long enough', 'x'.repeat(201)])(
    'the secret %j is refused, and not shown',
    (secret) => {
      expect(() => checkWebhook({ url: 'https://example.com', secret })).toThrow(
        /^webhook\.secret \(its value is not shown/,
      )
    },
  )

  test('is shown without its path', () =>
    expect(shownUrl('https://example.com/T0/canary')).toBe('https://example.com/***'))
})
