/**
 * The three pages that machines look at: `/metrics` for Prometheus, `/healthz` and `/readyz` for whoever restarts and routes.
 * Read-only, on 127.0.0.1 unless told otherwise, and without anything that names a run.
 */
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SignalsOptions {
  readonly port: number
  /** @default 127.0.0.1 */
  readonly host?: string
  readonly page: () => Promise<{ readonly contentType: string; readonly body: string }>
  /** Throws or rejects while the process should get no work. */
  readonly ready: () => Promise<unknown>
}

export interface SignalsServer {
  readonly url: string
  close(): Promise<void>
}

/** A client that sends its request a byte at a time is not waited for. */
const REQUEST_TIMEOUT_MS = 10_000

export async function serveSignals({ port, host = '127.0.0.1', page, ready }: SignalsOptions): Promise<SignalsServer> {
  // Loaded when it is needed: it is slow to load, and most commands serve nothing.
  const { createServer } = await import('node:http')
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      request.resume()
      const { pathname } = new URL(request.url ?? '/', 'http://signals')
      if (request.method !== 'GET' && request.method !== 'HEAD') answer(response, 405, 'Only GET.\n')
      else if (pathname === '/healthz') answer(response, 200, 'ok\n')
      else if (pathname === '/readyz')
        ready().then(
          () => answer(response, 200, 'ok\n'),
          () => answer(response, 503, 'The store does not answer.\n'),
        )
      else if (pathname === '/metrics')
        page().then(
          ({ contentType, body }) => answer(response, 200, body, contentType),
          () => answer(response, 500, 'The metrics could not be collected.\n'),
        )
      else answer(response, 404, 'There are /metrics, /healthz and /readyz.\n')
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return {
    url: `http://${host}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function answer(
  response: ServerResponse,
  status: number,
  body: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response.writeHead(status, {
    'content-type': contentType,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  })
  response.end(body)
}
