/**
 * A local server that speaks the Gemini API as far as one prompt and one answer need it, with scripted faults and a log.
 * The agent talks to it through the real SDK, so a key and a real address are all that is missing to the real thing.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface GeminiFault {
  readonly status: number
  readonly message?: string
  /** Seconds that the server asks the client to wait. */
  readonly retryAfterS?: number
  readonly times?: number
}

export interface GeminiServer {
  /** For `baseURL`. */
  readonly url: string
  /** What was asked and what was answered, one entry for each request that came in. */
  readonly log: readonly { readonly prompt: string; readonly status: number; readonly stamp?: string }[]
  fault(fault: GeminiFault): void
  close(): Promise<void>
}

/** `answer` is the model: text in, text out. */
export async function geminiServer(answer: (prompt: string) => string): Promise<GeminiServer> {
  const log: { prompt: string; status: number; stamp?: string }[] = []
  const faults: { fault: GeminiFault; left: number }[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const prompt = promptOf(body)
      const armed = faults.find(({ left }) => left > 0)
      if (armed) armed.left -= 1
      const stamp = request.headers['x-reprise-take']
      const status = armed?.fault.status ?? 200
      log.push({ prompt, status, ...(typeof stamp === 'string' ? { stamp } : {}) })
      if (armed) refuse(response, armed.fault)
      else if (request.url?.includes('alt=sse')) stream(response, answer(prompt))
      else json(response, 200, candidate(answer(prompt)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A model that nobody asks keeps no process alive.
  server.unref()
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1beta`,
    log,
    fault: (fault) => {
      faults.push({ fault, left: fault.times ?? 1 })
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function promptOf(body: string): string {
  const { contents = [] } = JSON.parse(body) as {
    contents?: { readonly parts: readonly { readonly text?: string }[] }[]
  }
  return contents.flatMap(({ parts }) => parts.map(({ text = '' }) => text)).join('\n')
}

const candidate = (text: string) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 8, totalTokenCount: 28 },
})

function refuse(response: ServerResponse, { status, message = 'The model is overloaded.', retryAfterS }: GeminiFault) {
  const words: Record<number, string> = { 400: 'INVALID_ARGUMENT', 403: 'PERMISSION_DENIED', 429: 'RESOURCE_EXHAUSTED' }
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterS}s` }
  const details = retryAfterS === undefined ? [] : [retry]
  json(response, status, { error: { code: status, message, status: words[status] ?? 'UNAVAILABLE', details } })
}

function stream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const part of text.match(/[\s\S]{1,24}/g) ?? [''])
    response.write(`data: ${JSON.stringify(candidate(part))}\r\n\r\n`)
  response.end()
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
