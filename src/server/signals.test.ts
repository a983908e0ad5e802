import { afterEach, expect, test } from 'vitest'
import { type SignalsServer, serveSignals } from './signals.ts'

let server: SignalsServer | undefined
afterEach(() => server?.close())

const page = async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' })

test('three pages, read-only, on the loopback', async () => {
  server = await serveSignals({ port: 0, page, ready: async () => undefined })
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const metrics = await fetch(`${server.url}/metrics`)
  expect([metrics.status, metrics.headers.get('content-type'), await metrics.text()]).toEqual([
    200,
    'text/plain; version=0.0.4',
    'up 1\n',
  ])
  const statusOf = async (path: string, method = 'GET') => (await fetch(`${server?.url}${path}`, { method })).status
  expect(await statusOf('/healthz')).toBe(200)
  expect(await statusOf('/readyz')).toBe(200)
  expect(await statusOf('/runs')).toBe(404)
  expect(await statusOf('/metrics', 'POST')).toBe(405)
})

test('not ready while the store does not answer, yet alive', async () => {
  server = await serveSignals({ port: 0, page, ready: () => Promise.reject(new Error('secret dsn')) })
  const ready = await fetch(`${server.url}/readyz`)
  expect([ready.status, await ready.text()]).toEqual([503, 'The store does not answer.\n'])
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
})

test('a port that is taken is an error, not a silence', async () => {
  server = await serveSignals({ port: 0, page, ready: async () => undefined })
  const { port } = new URL(server.url)
  await expect(serveSignals({ port: Number(port), page, ready: async () => undefined })).rejects.toMatchObject({
    code: 'EADDRINUSE',
  })
})
