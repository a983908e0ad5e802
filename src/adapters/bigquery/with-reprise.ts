/**
 * `withReprise(bigquery)`: the same client with one owner of its retries. It meets the client where every request goes through, and
 * where a whole query does; the client that was handed in is not touched.
 */
import { failure } from '../../failure/own.ts'
import { RepriseError } from '../../failure/reprise-error.ts'
import { presets } from '../../policy/presets.ts'
import { Adapter, type AdapterOptions, type Take } from '../adapter.ts'
import { STAMP_HEADER } from '../wire.ts'
import { adviseOn } from './advice.ts'
import { expireToken, type TokenSource } from './token.ts'

export type BigQueryOptions = AdapterOptions

/** What of `new BigQuery()` is used here. */
export interface BigQueryClient {
  readonly projectId: string
  readonly apiEndpoint: string
  readonly authClient: unknown
  readonly makeAuthenticatedRequest: unknown
}

interface RequestOptions {
  readonly method?: string
  readonly uri: string
  readonly headers?: Readonly<Record<string, string>>
  readonly json?: unknown
}

type Callback = (error: unknown, ...answer: unknown[]) => void
type MakeRequest = (request: RequestOptions, then?: unknown) => { abort?: () => void } | undefined

/** The client looks at these statuses itself, to find out that something is not there, or already is. */
const STATUSES_OF_THE_CLIENT: ReadonlySet<unknown> = new Set([404, 409])

/** The job has failed, so to ask for its results again is no use; whoever began it begins another one. */
const REASONS_OF_THE_JOB: ReadonlySet<unknown> = new Set([
  'jobBackendError',
  'jobInternalError',
  'jobRateLimitExceeded',
])

/**
 * Infrastructure failures are repeated in silence and nobody else repeats; what cannot be cured leaves as one classified failure with
 * its cause. In mode `observe` the client's own retries stay.
 * @example const bigquery = withReprise(new BigQuery({ projectId: 'sales' }))
 */
export function withReprise<Client extends BigQueryClient>(bigquery: Client, options: BigQueryOptions = {}): Client {
  const adapter = new Adapter(options, { sdk: 'bigquery', policy: presets.sqlAgent })
  const makeRequest = adapter.mode === 'own' ? withoutRetries(bigquery) : requestOf(bigquery)
  // A child of the client: everything of it is there, and what is put on the child is not put on the client.
  const child = Object.create(bigquery) as Client & Record<string, unknown>
  const put = (name: string, value: unknown) => Object.defineProperty(child, name, { value, writable: true })
  put('makeAuthenticatedRequest', byTakes(adapter, makeRequest, bigquery.authClient as TokenSource))
  for (const name of ['query', 'createQueryJob']) {
    const method = (bigquery as unknown as Record<string, unknown>)[name]
    if (typeof method === 'function') put(name, wholeQuery(adapter, name, method as (...args: unknown[]) => unknown))
  }
  return child
}

function requestOf(bigquery: BigQueryClient): MakeRequest {
  const { makeAuthenticatedRequest } = bigquery ?? {}
  if (typeof makeAuthenticatedRequest === 'function') return makeAuthenticatedRequest as MakeRequest
  throw new RepriseError(
    'bigquery.client',
    `withReprise: ${bigquery === null ? 'null' : typeof bigquery} is no client. Give it a BigQuery of @google-cloud/bigquery: withReprise(new BigQuery()).`,
  )
}

/** The client's retries are part of how it was made, so its requests are made by a twin that has none and shares its credentials. */
function withoutRetries(bigquery: BigQueryClient): MakeRequest {
  requestOf(bigquery)
  let made: object = Object.getPrototypeOf(bigquery)
  // A class of one's own over BigQuery may want other arguments.
  while (made.constructor.name !== 'BigQuery' && Object.getPrototypeOf(made) !== Object.prototype)
    made = Object.getPrototypeOf(made)
  const BigQuery = made.constructor as new (options: object) => BigQueryClient
  const { authClient, projectId, apiEndpoint } = bigquery
  return requestOf(new BigQuery({ authClient, projectId, apiEndpoint, autoRetry: false }))
}

function byTakes(adapter: Adapter, makeRequest: MakeRequest, auth: TokenSource): MakeRequest {
  return (request, then) => {
    // Streams and uploads are not repeated: what has flowed cannot be sent again.
    if (typeof then !== 'function') return makeRequest(request, then)
    const callback = then as Callback
    const stop = new AbortController()
    const sending = new Sending(adapter, makeRequest, auth, request)
    adapter
      .send(operationOf(request), (take) => sending.send(take), { signal: stop.signal, refine: adviseOn, handsOn })
      .then(
        (answer) => callback(null, ...answer),
        (error: unknown) => callback(error),
      )
    return { abort: () => stop.abort(new Error('The request was aborted')) }
  }
}

function handsOn(thrown: unknown): boolean {
  const { errors } = (thrown ?? {}) as { readonly errors?: readonly { readonly reason?: unknown }[] }
  const isOfTheJob = Array.isArray(errors) && errors.some(({ reason }) => REASONS_OF_THE_JOB.has(reason))
  return isOfTheJob || STATUSES_OF_THE_CLIENT.has(statusOf(thrown))
}

/** One request of the client, as often as it is sent. */
class Sending {
  readonly #adapter: Adapter
  readonly #makeRequest: MakeRequest
  readonly #auth: TokenSource
  readonly #request: RequestOptions
  /** The refusal after which the token was thrown away; it is done once. */
  #refused: unknown

  constructor(adapter: Adapter, makeRequest: MakeRequest, auth: TokenSource, request: RequestOptions) {
    this.#adapter = adapter
    this.#makeRequest = makeRequest
    this.#auth = auth
    this.#request = request
  }

  async send({ take, stamp, signal }: Take): Promise<unknown[]> {
    try {
      return await this.#once(this.#request, stamp, signal)
    } catch (thrown) {
      if (this.#adapter.mode === 'observe') throw thrown
      if (statusOf(thrown) === 401) return await this.#renewToken(thrown)
      // The new token could not be had: the refusal is what the user has to know, not that nothing more could be tried.
      if (this.#refused !== undefined && statusOf(thrown) === undefined) throw this.#refused
      if (take > 1 && statusOf(thrown) === 409) return await this.#alreadyThere(thrown, signal)
      if (statusOf(thrown) === undefined && !isRepeatable(this.#request)) throw ambiguous(thrown)
      throw thrown
    }
  }

  #once(request: RequestOptions, stamp: string, signal: AbortSignal): Promise<unknown[]> {
    const { headers } = request
    return new Promise((resolve, reject) => {
      // A copy: the client writes its credentials and ids into what it is given.
      const sent = { ...request, headers: { ...headers, [STAMP_HEADER]: stamp } }
      const abort = () => {
        running?.abort?.()
        reject(signal.reason)
      }
      const running = this.#makeRequest(sent, (error: unknown, ...answer: unknown[]) => {
        signal.removeEventListener('abort', abort)
        if (error) reject(error)
        else resolve(answer)
      })
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    })
  }

  async #renewToken(thrown: unknown): Promise<never> {
    if (this.#refused !== undefined || !(await expireToken(this.#auth))) throw thrown
    this.#refused = thrown
    throw failure({
      kind: 'transient',
      code: 'bigquery.token',
      layer: 'infrastructure',
      message: 'The access token was refused; a new one is fetched',
      cause: thrown,
    })
  }

  /** An earlier take of this insert had arrived after all: the job of this id is the answer. */
  async #alreadyThere(thrown: unknown, signal: AbortSignal): Promise<unknown[]> {
    const { uri, json, method } = this.#request
    const reference = (json as { jobReference?: { jobId?: string; location?: string } } | undefined)?.jobReference
    if (method !== 'POST' || !/\/jobs$/.test(uri) || reference?.jobId === undefined) throw thrown
    const { jobId, location } = reference
    const found = {
      uri: `${uri}/${jobId}`,
      qs: { prettyPrint: false, ...(location === undefined ? {} : { location }) },
    }
    return await this.#once(found, '', signal)
  }
}

/** A whole query is more than one request: a job that failed on the server is begun again as a new one. */
function wholeQuery(adapter: Adapter, name: string, method: (...args: unknown[]) => unknown) {
  return function query(this: unknown, ...args: unknown[]): unknown {
    const callback = typeof args.at(-1) === 'function' ? (args.pop() as Callback) : undefined
    const answer = adapter.send(name, () => method.apply(this, args) as Promise<unknown[]>, {
      refine: adviseOn,
    })
    if (!callback) return answer
    answer.then(
      (values) => callback(null, ...values),
      (error: unknown) => callback(error),
    )
    return undefined
  }
}

/** Rows without ids would be written twice if a lost answer made us send them again; everything else has an id of its own. */
function isRepeatable({ uri, json }: RequestOptions): boolean {
  if (!uri.endsWith('/insertAll')) return true
  const { rows } = (json ?? {}) as { readonly rows?: readonly { readonly insertId?: string }[] }
  return rows?.every(({ insertId }) => insertId !== undefined) ?? true
}

const ambiguous = (cause: unknown) =>
  failure({
    kind: 'transient',
    code: 'bigquery.ambiguous',
    layer: 'workflow',
    message:
      'The rows were sent and nobody knows whether they arrived; they have no insertId, so they are not sent again',
    advice: 'Look whether the rows are there before you send them again, or give each an insertId.',
    cause,
  })

function statusOf(error: unknown): number | undefined {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === 'number' ? code : undefined
}

/** `POST /queries`, `GET /jobs/*`: ids would make every operation another one. */
function operationOf({ method = 'GET', uri }: RequestOptions): string {
  const path = uri.replace(/^.*?\/projects\/[^/]+/, '').replace(/\?.*$/, '')
  const plain = path.replace(/\/(jobs|queries|datasets|tables|models|routines)\/[^/]+/g, '/$1/*')
  return `${method} ${plain === '' ? '/' : plain}`
}
