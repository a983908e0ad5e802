import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { RepriseEvent } from '../../run/event.ts'
import { impatientClock } from '../bigquery/real-client.fixtures.ts'
import { type FetchOptions, fetchWithReprise } from './fetch-with-reprise.ts'

type Step = number | 'cut'

let server: Server
let script: Step[]
let log: string[]
let events: RepriseEvent[]
let url: string

beforeEach(async () => {
  script = []
  log = []
  events = []
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const step = script.shift() ?? 200
      log.push(`${request.method} ${step} ${body}`.trim())
      if (step === 'cut') return response.destroy()
      response.writeHead(step, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ status: step, message: step === 403 ? 'rateLimitExceeded' : 'told' }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})
afterEach(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
)

const send = (options: FetchOptions = {}) =>
  fetchWithReprise({ clock: impatientClock(), emit: (event) => events.push(event), ...options })

describe('fetchWithReprise', () => {
  test('repeats an outage in silence, with the same body each time', async () => {
    script = [503, 502]
    const response = await send()(url, { method: 'POST', body: '{"q":1}' })
    expect(await response.json()).toMatchObject({ status: 200 })
    expect(log).toEqual(['POST 503 {"q":1}', 'POST 502 {"q":1}', 'POST 200 {"q":1}'])
    expect(events.map(({ name }) => name)).toEqual(['client.repeated', 'client.repeated'])
  })

  test('gives the last answer back as an answer, whole, and says that it was tried often enough', async () => {
    script = Array(9).fill(503)
    const response = await send()(url)
    expect(response.status).toBe(503)
    expect(response.url).toBe(url)
    expect(await response.json()).toMatchObject({ message: 'told' })
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(log).toHaveLength(3)
  })

  test('an answer that a repeat cannot change is one request', async () => {
    script = [404]
    const response = await send()(url)
    expect(response.status).toBe(404)
    expect(log).toEqual(['GET 404'])
  })

  test('a question that got no answer is asked again; an order is not, unless it has a key or is said to be harmless', async () => {
    script = ['cut']
    expect((await send()(url)).status).toBe(200)
    script = ['cut']
    await expect(send()(url, { method: 'POST', body: 'one' })).rejects.toThrow(/fetch failed/)
    script = ['cut']
    const keyed = await send()(url, { method: 'POST', body: 'two', headers: { 'Idempotency-Key': 'k' } })
    expect(keyed.status).toBe(200)
    script = ['cut']
    expect((await send({ ambiguous: 'again' })(url, { method: 'POST', body: 'three' })).status).toBe(200)
    expect(log).toEqual([
      'GET cut',
      'GET 200',
      'POST cut one',
      'POST cut two',
      'POST 200 two',
      'POST cut three',
      'POST 200 three',
    ])
  })

  test('a stream is sent once', async () => {
    script = [503]
    const body = new Blob(['flows']).stream()
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    expect((await send()(url, init)).status).toBe(503)
    expect(log).toEqual(['POST 503 flows'])
  })

  test('in mode observe it is fetch, and tells what would have been done', async () => {
    script = [503]
    const response = await send({ mode: 'observe', sdk: 'erp' })(url)
    expect(response.status).toBe(503)
    expect(response.headers.has('x-should-retry')).toBe(false)
    expect(events).toMatchObject([{ name: 'client.observed', sdk: 'erp', would: 'retry' }])
  })

  test('a sender that retries behind its back is found out', async () => {
    script = [503]
    const stubborn: typeof fetch = async (input, init) => {
      const request = input as Request
      const first = await fetch(request.clone(), init)
      return first.status === 503 ? fetch(request, init) : first
    }
    const response = await send({ fetch: stubborn })(url)
    expect(response.status).toBe(200)
    expect(events).toMatchObject([{ name: 'client.hidden_retries', requests: 2, shown: 1, hidden: 1 }])
  })

  test('bad options are refused by name', () => {
    expect(() => fetchWithReprise({ ambiguous: 'maybe' as never })).toThrow(/ambiguous: "maybe" .* fail, again/)
    expect(() => fetchWithReprise({ sdk: '' })).toThrow(/sdk: "" is not allowed/)
    expect(() => fetchWithReprise({ attempts: 3 } as never)).toThrow(/attempts is not an option/)
  })
})
