/**
 * The small server of a sweep in daemon mode: metrics to be scraped, whether it lives, whether its last pass went well.
 * It answers GET and nothing else.
 */
import type { Server } from 'node:http'
import type { SweepMetrics } from '../sweep/metrics.ts'
import { usageError } from './cli-error.ts'

export interface SweepEndpoint {
  readonly port: number
  close(): Promise<void>
}

export async function sweepEndpoint(
  metrics: SweepMetrics,
  isReady: () => boolean,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<SweepEndpoint> {
  // Loaded when it is needed: it is slow to load, and most commands serve nothing.
  const { createServer } = await import('node:http')
  const server = createServer((request, answer) => {
    const respond = (status: number, type: string, body: string) => {
      answer.writeHead(status, { 'content-type': type, 'x-content-type-options': 'nosniff' }).end(body)
    }
    if (request.method !== 'GET') return respond(405, 'text/plain', 'GET only\n')
    switch (request.url) {
      case '/metrics':
        return void metrics.text().then(
          (text) => respond(200, metrics.registry.contentType, text),
          () => respond(500, 'text/plain', 'no metrics\n'),
        )
      case '/healthz':
        return respond(200, 'text/plain', 'ok\n')
      case '/readyz':
        return isReady()
          ? respond(200, 'text/plain', 'ok\n')
          : respond(503, 'text/plain', 'there was no pass yet, or the last one failed or is old\n')
      default:
        return respond(404, 'text/plain', '/metrics, /healthz, /readyz\n')
    }
  })
  await listening(server, host, port)
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(usageError(`Metrics cannot be served on ${host}:${port}.`, 'Another `--metrics-port`.', cause)),
    )
    server.listen(port, host, resolve)
  })
}
