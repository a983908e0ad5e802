/**
 * `fetchWithReprise`: a `fetch` that repeats infrastructure failures in silence, for any client that lets one be handed in.
 * It keeps fetch's own contract: an answer is an answer, whatever its status, and only a request without one rejects.
 */
import { Adapter, type AdapterOptions, type Take } from '../adapter.ts'
import { STAMP_HEADER } from '../wire.ts'
import { AnsweredError } from './answered-error.ts'

export interface FetchOptions extends AdapterOptions {
  /** The name under which it is counted; `fetch` unless given. */
  readonly sdk?: string
  /**
   * A POST or PATCH that got no answer may have arrived. `fail` (default) rejects then, unless it carries an `Idempotency-Key`;
   * `again` sends it again, which is right for questions and wrong for orders.
   */
  readonly ambiguous?: 'fail' | 'again'
  /** What sends; the platform's `fetch` unless given. */
  readonly fetch?: typeof fetch
}

const AMBIGUOUS = ['fail', 'again'] as const

/** Repeating these once more changes nothing on the other side. */
const REPEATABLE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/**
 * @example const openai = createOpenAI({ fetch: fetchWithReprise({ sdk: 'openai', ambiguous: 'again' }) })
 */
export function fetchWithReprise(options: FetchOptions = {}): typeof fetch {
  const { sdk = 'fetch', ambiguous = 'fail', fetch: send = globalThis.fetch } = options
  if (typeof sdk !== 'string' || !/^[\w.:/-]{1,64}$/.test(sdk))
    throw new RangeError(
      `sdk: ${JSON.stringify(sdk)} is not allowed; allowed are letters, digits and . : / - _, at most 64`,
    )
  if (!AMBIGUOUS.includes(ambiguous))
    throw new RangeError(`ambiguous: ${JSON.stringify(ambiguous)} is not allowed; allowed are ${AMBIGUOUS.join(', ')}`)
  const adapter = new Adapter(options, { sdk, options: ['sdk', 'ambiguous', 'fetch'] })
  return async (input, init) => {
    const request = new Request(input as string | URL | Request, init)
    const isSafe = ambiguous === 'again' || REPEATABLE.has(request.method) || request.headers.has('idempotency-key')
    // A stream has flowed when it is sent once; everything else can be read again from a copy.
    const body = isStream(input, init) ? undefined : await bodyOf(request)
    const once = async (take: Take): Promise<Response> => {
      const { stamp } = take
      // A body is read after its take, and the caller may still want to end that.
      const signal = AbortSignal.any([take.signal, request.signal])
      const headers = new Headers(request.headers)
      headers.set(STAMP_HEADER, stamp)
      const response = await send(
        new Request(request, { headers, signal, ...(body === undefined ? {} : { body }), ...duplexOf(request, body) }),
      )
      if (response.status < 400) return response
      throw await AnsweredError.read(response)
    }
    try {
      return await adapter.send(`${request.method} ${new URL(request.url).host}`, once, {
        signal: request.signal,
        bare: true,
        handsOn: (thrown) => isStream(input, init) || (!isSafe && !(thrown instanceof AnsweredError)),
      })
    } catch (thrown) {
      if (thrown instanceof AnsweredError) return thrown.response(adapter.mode)
      throw thrown
    }
  }
}

async function bodyOf(request: Request): Promise<ArrayBuffer | undefined> {
  return request.body === null ? undefined : await request.clone().arrayBuffer()
}

const isStream = (input: unknown, init: RequestInit | undefined): boolean =>
  init?.body instanceof ReadableStream || (init?.body === undefined && input instanceof Request && input.body !== null)

/** The platform wants to be told that a stream is sent while the answer comes. */
const duplexOf = (request: Request, body: ArrayBuffer | undefined): object =>
  request.body !== null && body === undefined ? { duplex: 'half' } : {}
