/**
 * The model simulator: a provider on 127.0.0.1 that answers rightly, or fails as it is told to.
 * Here only the course of a request: read, choose, log, wait, answer; formats, faults and the reading of documents are their own files.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, systemClock } from '../time/clock.ts'
import { answer } from './answer.ts'
import { checkPlan, checkScript } from './check-plan.ts'
import { chooseFault, diceFor, planOf, within } from './choose-fault.ts'
import type { Fault } from './fault.ts'
import type { FaultPlan, Script } from './fault-plan.ts'
import { findDocument } from './find-document.ts'
import { geminiWire } from './gemini-wire.ts'
import { modelPage } from './model-page.ts'
import { openaiChatWire, openaiResponsesWire } from './openai-wire.ts'
import type { PresetName } from './presets.ts'
import type { Question, Reply } from './question.ts'
import { type LoggedRequest, openRequestLog } from './request-log.ts'
import type { Wire, WireResponse } from './wire.ts'

/** A little more than Gemini takes inline. */
const BODY_BYTES_MAX = 32_000_000
/** Entries that `requests()` keeps; the file keeps all. */
const REQUESTS_KEPT = 100_000

const WIRES: readonly Wire[] = [geminiWire, openaiChatWire, openaiResponsesWire]
const NOTHING = { input: 0, images: 0, output: 0, thoughts: 0 } as const

export interface SimulatorOptions {
  /** @default 0, any free port */
  readonly port?: number
  /** The same seed gives each document the same course. @default 1 */
  readonly seed?: number
  /** A plan, or the name of a preset. @default 'none' */
  readonly faults?: PresetName | FaultPlan
  /** Laid over the plan's script. */
  readonly script?: Script
  /** A file for one JSON line per request, flushed before the answer leaves. */
  readonly log?: string
  /** Told of every request when it is in the log, before its answer leaves. */
  readonly onRequest?: (request: LoggedRequest) => void
  /** @default the system's clock */
  readonly clock?: Clock
}

export interface Simulator extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; a Gemini client takes `${url}/v1beta`, an OpenAI client `${url}/v1`. */
  readonly url: string
  /** What was asked so far, the oldest first; the last 100,000. */
  requests(): readonly LoggedRequest[]
  /** Ends open connections too. */
  close(): Promise<void>
}

/** Throws a RangeError, before anything is opened, when an option is wrong. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { seed = 1, clock = systemClock, port = 0 } = options
  const plan = planFrom(options)
  if (!Number.isSafeInteger(seed)) throw new RangeError(`seed: ${seed} is not allowed; it takes a whole number`)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new RangeError(`port: ${port} is not allowed; it takes a whole number from 0 to 65535`)
  }
  const log = options.log === undefined ? undefined : await openRequestLog(options.log)
  // One small entry per document, for as long as a test or a demonstration lasts.
  const asked = { document: new Map<string, number>(), model: new Map<string, number>() }
  const requests: LoggedRequest[] = []
  let seq = log?.before ?? 0
  const stop = new AbortController()

  /** What becomes of a question. Nothing is awaited here, so that requests get their numbers in the order of arrival. */
  const judge = (wire: Wire, question: Question, idempotencyKey: string | null) => {
    const document = findDocument(question, { script: plan.script ?? {}, images: plan.images ?? {} })
    const before = {
      document: countUp(asked.document, document.name),
      model: countUp(asked.model, `${document.name}\n${question.model}`),
    }
    const { scriptKey, name } = document
    const fault = chooseFault(plan, { seed, document: name, model: question.model, scriptKey, before })
    const take = before.model + 1
    const reply = answer({ plan, seed, take, fault: fault.name, question, document })
    seq += 1
    const stamp = { id: `sim-${seed}-${seq}`, at: clock.now() }
    const response = wire.error(fault, question) ?? wire.reply(question, reply, stamp)
    const entry: LoggedRequest = {
      seq,
      at: stamp.at,
      model: question.model,
      document: name,
      take,
      fault: fault.name,
      status: isCutOff(fault) ? null : response.status,
      tokens: response.status === 200 ? billed(fault, reply) : NOTHING,
      images: question.pictures.length,
      idempotencyKey,
    }
    requests.push(entry)
    if (requests.length > REQUESTS_KEPT) requests.shift()
    const latency = planOf(plan, question.model).latencyMs ?? [0, 0]
    const latencyMs = within(latency, diceFor(seed, 'latency', name, question.model, take))
    return { entry, fault, response, latencyMs }
  }

  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '/'
    if (request.method === 'GET')
      return send(response, modelPage(path) ?? geminiWire.refuse(404, `There is no ${path} here.`))
    const body = await bodyOf(request)
    if (body === undefined)
      return send(response, geminiWire.refuse(413, `The request is larger than ${BODY_BYTES_MAX} bytes.`))
    const read = readQuestion(path, body)
    if ('refused' in read) return send(response, read.refused)
    if (/:countTokens(\?|$)/.test(path)) return send(response, tokenCount(read.question))
    const key = request.headers['idempotency-key']
    const judged = judge(read.wire, read.question, typeof key === 'string' ? key : null)
    await log?.append(judged.entry)
    options.onRequest?.(judged.entry)
    await clock.sleep(judged.latencyMs, stop.signal)
    deliver(judged.fault, judged.response, request, response)
  }

  // Loaded when it is needed: it is slow to load, and most commands serve nothing.
  const { createServer } = await import('node:http')
  const server = createServer((request, response) => {
    // Either we are closing or the client has left: there is nobody to tell.
    serve(request, response).catch(() => request.socket.destroy())
  })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  } catch (error) {
    await log?.[Symbol.asyncDispose]()
    throw error
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  let closing: Promise<void> | undefined
  const closeOnce = async () => {
    stop.abort(new Error('the simulator was closed'))
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await log?.[Symbol.asyncDispose]()
  }
  const close = () => {
    closing ??= closeOnce()
    return closing
  }
  return { url: `http://127.0.0.1:${bound}`, requests: () => [...requests], close, [Symbol.asyncDispose]: close }
}

function planFrom({ faults = 'none', script }: SimulatorOptions): FaultPlan {
  const plan = checkPlan(faults)
  if (script === undefined) return plan
  checkScript(script)
  return { ...plan, script: { ...plan.script, ...script } }
}

function countUp(counts: Map<string, number>, key: string): number {
  const before = counts.get(key) ?? 0
  counts.set(key, before + 1)
  return before
}

const isCutOff = ({ name }: Fault) => name === 'hang' || name === 'reset' || name === 'torn'

/** A torn answer was generated, and providers bill what was generated; of a hang or a reset nobody knows. */
const billed = ({ name }: Fault, reply: Reply) => (name === 'hang' || name === 'reset' ? NOTHING : reply.tokens)

function readQuestion(path: string, body: unknown): { wire: Wire; question: Question } | { refused: WireResponse } {
  for (const wire of WIRES) {
    try {
      const question = wire.read({ path, body })
      if (question !== undefined) return { wire, question }
    } catch (error) {
      // A name that is not well escaped is the client's mistake too.
      if (!(error instanceof RangeError || error instanceof URIError)) throw error
      return { refused: wire.refuse(400, error.message) }
    }
  }
  return { refused: geminiWire.refuse(404, `There is no ${path} here.`) }
}

/** The parsed body; null when it is not JSON, undefined when it is too large. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    return null
  }
}

function tokenCount(question: Question): WireResponse {
  const { tokens } = answer({
    plan: {},
    seed: 1,
    take: 1,
    fault: 'safety',
    question,
    document: findDocument(question, { script: {}, images: {} }),
  })
  return { status: 200, body: JSON.stringify({ totalTokens: tokens.input }) }
}

function deliver(
  fault: Fault,
  { status, headers, body }: WireResponse,
  request: IncomingMessage,
  response: ServerResponse,
) {
  if (fault.name === 'hang') return
  if (fault.name === 'reset') return void request.socket.resetAndDestroy()
  if (fault.name === 'torn') {
    response.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) })
    // The first half has left before the connection breaks, so the client is in the middle of the body.
    response.write(body.slice(0, Math.floor(body.length / 2)), () => request.socket.resetAndDestroy())
    return
  }
  send(response, { status, body, ...(headers === undefined ? {} : { headers }) })
}

function send(response: ServerResponse, { status, headers, body }: WireResponse): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers }).end(body)
}
