/**
 * A local server that speaks the part of BigQuery's REST API that queries use, with scripted faults and a log of every request.
 * For tests of code that uses the real client: what the log does not show was not sent. It knows no SQL; whoever starts it answers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Answer, bodyOf, type JobError, jobOf, resultsOf, type StoredJob } from './job.ts'

export type { JobError } from './job.ts'

/** What goes wrong, once or `times` times, for requests whose operation is `on`. */
export interface Fault {
  /** `POST /queries`, `GET /jobs/*`, `POST /token`; absent: any request but for tokens. */
  readonly on?: string
  readonly times?: number
  /** Requests of that operation that are let through first. */
  readonly after?: number
  /** An HTTP error with BigQuery's body. */
  readonly status?: number
  readonly reason?: string
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  /** An answer of 200 whose job has failed. */
  readonly job?: JobError
  /** The work is done and then the connection is cut, so that nobody knows. */
  readonly cut?: 'before' | 'after'
  /** No answer ever. */
  readonly hang?: boolean
}

export interface LoggedRequest {
  /** `POST /queries`. */
  readonly operation: string
  readonly stamp?: string
  readonly sql?: string
  readonly dryRun: boolean
  readonly token?: string
  /** Of the answer; 0 when there was none. */
  readonly status: number
  readonly reason?: string
}

export interface BigQueryServerOptions {
  /** Runs a query, or only checks it. Throws `{ reason, message }` when it is wrong. */
  readonly run: (sql: string, options: { readonly dryRun: boolean }) => Answer
  /** With `true` requests must carry the newest token of `POST /token`. */
  readonly auth?: boolean
}

export interface BigQueryServer {
  /** For `apiEndpoint`. */
  readonly url: string
  readonly log: readonly LoggedRequest[]
  /** Adds a fault to the script; faults are used in their order. */
  fault(fault: Fault): void
  /** Makes every token that was given so far worthless. */
  revokeTokens(): void
  close(): Promise<void>
}

interface Armed {
  readonly fault: Fault
  left: number
  after: number
}

export async function bigqueryServer(options: BigQueryServerOptions): Promise<BigQueryServer> {
  const log: LoggedRequest[] = []
  const jobs = new Map<string, StoredJob>()
  const script: Armed[] = []
  let tokens = 0
  let revoked = 0

  const faultFor = (operation: string): Fault | undefined => {
    for (const armed of script) {
      const { on } = armed.fault
      if (armed.left === 0 || (on === undefined ? operation === 'POST /token' : on !== operation)) continue
      if (armed.after > 0) {
        armed.after -= 1
        continue
      }
      armed.left -= 1
      return armed.fault
    }
    return undefined
  }

  const refusal = (operation: string, token: string | undefined): Fault | undefined => {
    if (!options.auth || operation === 'POST /token') return undefined
    const number = Number(/^Bearer token-(\d+)$/.exec(token ?? '')?.[1] ?? 0)
    if (number > revoked && number <= tokens) return undefined
    return { status: 401, reason: 'authError', message: 'Request had invalid authentication credentials.' }
  }

  const answer = (operation: string, body: RequestBody, path: string, fault: Fault | undefined): Reply => {
    if (operation === 'POST /token') {
      tokens += 1
      return { status: 200, body: { access_token: `token-${tokens}`, expires_in: 3600, token_type: 'Bearer' } }
    }
    const id = /\/(?:jobs|queries)\/([^/]+)/.exec(path)?.[1]
    if (id !== undefined) return stored(operation, jobs.get(id), id)
    const { sql, dryRun, jobId } = asked(body, jobs.size)
    const known = jobs.get(jobId)
    if (known && operation === 'POST /jobs') return errorReply(409, 'duplicate', `Already Exists: Job ${jobId}`)
    // The same request id is the same query: nothing runs twice.
    const job = known ?? { id: jobId, dryRun, ...runOrFail(options.run, sql, dryRun, fault?.job) }
    if (!dryRun) jobs.set(jobId, job)
    const { error } = job
    if (error && (dryRun || (operation === 'POST /queries' && !fault?.job)))
      return errorReply(error.status ?? 400, error.reason, error.message)
    return { status: 200, body: operation === 'POST /jobs' ? jobOf(job) : resultsOf(job) }
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const path = (request.url ?? '').replace(/\?.*$/, '')
      const operation = operationOf(request.method ?? 'GET', path)
      const body = parsed(text)
      const fault = faultFor(operation) ?? refusal(operation, request.headers.authorization)
      const reply = replyTo(fault, () => answer(operation, body, path, fault))
      log.push(logged(request, operation, body, reply, fault))
      send(response, reply)
    })
  })
  const port = await listen(server)
  return {
    url: `http://127.0.0.1:${port}`,
    log,
    fault: (fault) => {
      script.push({ fault, left: fault.times ?? 1, after: fault.after ?? 0 })
    },
    revokeTokens: () => {
      revoked = tokens
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Reply {
  /** 0 for none. */
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly cut?: boolean
}

interface RequestBody {
  readonly query?: string
  readonly dryRun?: boolean
  readonly requestId?: string
  readonly jobReference?: { readonly jobId?: string }
  readonly configuration?: { readonly dryRun?: boolean; readonly query?: { readonly query?: string } }
}

function replyTo(fault: Fault | undefined, answer: () => Reply): Reply {
  if (!fault || fault.job) return answer()
  if (fault.hang) return { status: 0 }
  if (fault.cut === 'after') answer()
  if (fault.cut) return { status: 0, cut: true }
  const { status = 503, reason = 'backendError', message = 'Error encountered during execution.', headers } = fault
  return { ...errorReply(status, reason, message), ...(headers === undefined ? {} : { headers }) }
}

function errorReply(status: number, reason: string, message: string): Reply {
  const errors = [{ domain: 'global', reason, message }]
  return { status, body: { error: { code: status, message, errors } } }
}

function asked(body: RequestBody, number: number): { sql: string; dryRun: boolean; jobId: string } {
  const { query, dryRun, requestId, jobReference, configuration } = body
  return {
    sql: configuration?.query?.query ?? query ?? '',
    dryRun: configuration?.dryRun ?? dryRun ?? false,
    jobId: jobReference?.jobId ?? (requestId === undefined ? `job-${number}` : `query-${requestId}`),
  }
}

function stored(operation: string, job: StoredJob | undefined, id: string): Reply {
  if (!job) return errorReply(404, 'notFound', `Not found: Job ${id}`)
  if (operation !== 'GET /queries/*') return { status: 200, body: jobOf(job) }
  const { error } = job
  return error ? errorReply(error.status ?? 400, error.reason, error.message) : { status: 200, body: resultsOf(job) }
}

function runOrFail(
  run: BigQueryServerOptions['run'],
  sql: string,
  dryRun: boolean,
  error: JobError | undefined,
): Pick<StoredJob, 'answer' | 'error'> {
  if (error) return { error }
  try {
    return { answer: run(sql, { dryRun }) }
  } catch (thrown) {
    const { reason = 'invalidQuery', message = String(thrown), status } = thrown as Partial<JobError>
    return { error: { reason, message, ...(status === undefined ? {} : { status }) } }
  }
}

function operationOf(method: string, path: string): string {
  const plain = path.replace(/^.*?\/projects\/[^/]+/, '')
  return `${method} ${plain.replace(/\/(jobs|queries)\/[^/]+/g, '/$1/*')}`
}

function logged(
  { headers }: IncomingMessage,
  operation: string,
  body: RequestBody,
  reply: Reply,
  fault: Fault | undefined,
): LoggedRequest {
  const { sql, dryRun } = asked(body, 0)
  const stamp = headers['x-reprise-take']
  const reason = (reply.body as { error?: { errors?: readonly { reason: string }[] } } | undefined)?.error?.errors?.[0]
  const told = reason?.reason ?? fault?.job?.reason
  return {
    operation,
    dryRun,
    status: reply.status,
    ...(typeof stamp === 'string' ? { stamp } : {}),
    ...(sql === '' ? {} : { sql }),
    ...(headers.authorization === undefined ? {} : { token: headers.authorization }),
    ...(told === undefined ? {} : { reason: told }),
  }
}

function send(response: ServerResponse, { status, body, headers, cut }: Reply): void {
  if (cut) response.destroy()
  else if (status > 0) {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify(body))
  }
}

function parsed(text: string): RequestBody {
  try {
    return JSON.parse(text) as RequestBody
  } catch {
    return {}
  }
}

const listen = (server: Server) =>
  new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
