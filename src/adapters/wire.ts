/**
 * Counts what really goes out: every take carries a stamp in a header, and whoever sends a request with it, the adapter or a client
 * behind its back, is seen here. It listens to the platform's own channels and changes nothing on the way.
 */
import { subscribe } from 'node:diagnostics_channel'

/** Servers and proxies may log it; it means nothing to anybody else. */
export const STAMP_HEADER = 'x-reprise-take'

interface Seen {
  requests: number
  /** Method and path of the first one: a redirect goes elsewhere and is no retry. */
  target: string | undefined
}

const watched = new Map<string, Seen>()
let listening = false

export interface Watch {
  /** Requests with this stamp so far. */
  readonly requests: number
  /** Forgets the stamp. */
  end(): void
}

/** Counts requests that carry `stamp` until told to end. */
export function watchStamp(stamp: string): Watch {
  listen()
  const seen: Seen = { requests: 0, target: undefined }
  watched.set(stamp, seen)
  return {
    get requests() {
      return seen.requests
    },
    end: () => {
      watched.delete(stamp)
    },
  }
}

function listen(): void {
  if (listening) return
  listening = true
  // `node:http` for most vendors' clients, undici for `fetch`.
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { readonly request: HttpRequest }
    const stamp = watched.size > 0 ? request.getHeader(STAMP_HEADER) : undefined
    if (stamp !== undefined) count(String(stamp), `${request.method} ${request.path}`)
  })
  subscribe('undici:request:create', (message) => {
    const { request } = message as { readonly request: UndiciRequest }
    const stamp = watched.size > 0 ? headerOf(request.headers) : undefined
    if (stamp !== undefined) count(stamp, `${request.method} ${request.path}`)
  })
}

interface HttpRequest {
  readonly method: string
  readonly path: string
  getHeader(name: string): unknown
}

interface UndiciRequest {
  readonly method: string
  readonly path: string
  /** Names and values in turn; one text with line ends in older versions. */
  readonly headers: string | readonly (string | Buffer)[]
}

function headerOf(headers: UndiciRequest['headers']): string | undefined {
  const list = typeof headers === 'string' ? headers.split(/: |\r\n/) : headers
  for (let index = 0; index + 1 < list.length; index += 2) {
    if (String(list[index]).toLowerCase() === STAMP_HEADER) return String(list[index + 1])
  }
  return undefined
}

function count(stamp: string, target: string): void {
  const seen = watched.get(stamp)
  if (!seen) return
  seen.target ??= target
  if (seen.target === target) seen.requests += 1
}
