/**
 * A Cloud Storage server for tests: buckets in memory behind the JSON API as the real client speaks it, with preconditions enforced
 * and faults on order. It knows uploads in one request, metadata, media, lists and deletes; nothing else.
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface StoredObject {
  body: Buffer
  readonly contentType: string
  readonly metadata: Readonly<Record<string, string>>
  readonly generation: number
  readonly contentEncoding?: string
  /** What the server says it is, where that is not so. */
  readonly md5Hash?: string
}

/** What to do with the next request of a kind: fail before, fail, drop the connection or fall silent after it was done, or bend its bytes. */
export interface GcsFault {
  readonly verb: 'insert' | 'get' | 'media' | 'list' | 'delete'
  readonly how: 'error-before' | 'error-after' | 'reset-after' | 'silent-after' | 'bend'
  readonly status?: number
  /** Only of names that begin with it. */
  readonly of?: string
  readonly times?: number
  /** Called when it was done and nobody knows of it yet. */
  readonly onDone?: () => void
}

export interface GcsServer {
  readonly url: string
  /** `verb status name`, in the order of arrival. */
  readonly log: string[]
  readonly objects: Map<string, StoredObject>
  fail(fault: GcsFault): void
  close(): Promise<void>
}

const PAGE_MAX = 2

export async function startGcsServer(): Promise<GcsServer> {
  const objects = new Map<string, StoredObject>()
  const log: string[] = []
  const faults: { fault: GcsFault; left: number }[] = []
  let generation = 1_000

  const takeFault = (verb: GcsFault['verb'], name: string): GcsFault | undefined => {
    const due = faults.find(({ fault, left }) => fault.verb === verb && left > 0 && name.startsWith(fault.of ?? ''))
    if (!due) return undefined
    due.left -= 1
    return due.fault
  }

  function insert(url: URL, request: IncomingMessage, body: Buffer, bend: boolean): Answer {
    const { metadata, media } = multipartOf(request, body)
    if (bend) media[0] = (media[0] ?? 0) ^ 1
    const name = url.searchParams.get('name') ?? String(metadata['name'])
    const wanted = url.searchParams.get('ifGenerationMatch')
    const known = objects.get(name)
    if (wanted !== null && Number(wanted) !== (known?.generation ?? 0)) return notMet(name)
    if (metadata['md5Hash'] !== undefined && metadata['md5Hash'] !== md5Of(media)) {
      return {
        status: 400,
        json: errorOf(400, 'invalid', `Provided MD5 hash doesn't match calculated MD5 hash: ${name}`),
      }
    }
    generation += 1
    objects.set(name, {
      body: media,
      contentType: String(metadata['contentType'] ?? 'application/octet-stream'),
      metadata: (metadata['metadata'] ?? {}) as Record<string, string>,
      generation,
    })
    return { status: 200, json: resourceOf(name) }
  }

  function resourceOf(name: string): object {
    const object = objects.get(name) as StoredObject
    return {
      kind: 'storage#object',
      name,
      bucket: 'b',
      generation: String(object.generation),
      size: String(object.body.byteLength),
      contentType: object.contentType,
      metadata: object.metadata,
      md5Hash: object.md5Hash ?? md5Of(object.body),
      contentEncoding: object.contentEncoding,
    }
  }

  function list(url: URL): Answer {
    const prefix = url.searchParams.get('prefix') ?? ''
    const after = url.searchParams.get('pageToken') ?? ''
    const names = [...objects.keys()].filter((name) => name.startsWith(prefix) && name > after).sort()
    const page = names.slice(0, PAGE_MAX)
    const more = names.length > PAGE_MAX ? { nextPageToken: page.at(-1) } : {}
    return { status: 200, json: { kind: 'storage#objects', items: page.map(resourceOf), ...more } }
  }

  function answer(verb: GcsFault['verb'], name: string, request: IncomingMessage, body: Buffer, bend: boolean): Answer {
    const url = urlOf(request)
    if (verb === 'insert') return insert(url, request, body, bend)
    if (verb === 'list') return list(url)
    const known = objects.get(name)
    if (!known) return { status: 404, json: errorOf(404, 'notFound', `No such object: b/${name}`) }
    if (verb === 'get') return { status: 200, json: resourceOf(name) }
    if (verb === 'media') return { status: 200, media: known.body }
    objects.delete(name)
    return { status: 204 }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const url = urlOf(request)
      const name = nameIn(url)
      const verb = verbOf(request, url)
      const fault = takeFault(verb, name)
      const failed = {
        status: fault?.status ?? 503,
        json: errorOf(fault?.status ?? 503, fault?.status === 403 ? 'forbidden' : 'backendError', 'refused on order'),
      }
      const done =
        fault?.how === 'error-before'
          ? failed
          : answer(verb, name, request, Buffer.concat(chunks), fault?.how === 'bend')
      const told = fault?.how === 'error-after' ? failed : done
      log.push(`${verb} ${fault?.how === 'reset-after' ? 'reset' : told.status} ${name}`)
      fault?.onDone?.()
      if (fault?.how === 'reset-after') request.socket.destroy()
      else if (fault?.how !== 'silent-after') send(response, told)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    log,
    objects,
    fail: (fault) => void faults.push({ fault, left: fault.times ?? 1 }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const md5Of = (body: Buffer): string => createHash('md5').update(body).digest('base64')

interface Answer {
  readonly status: number
  readonly json?: object
  readonly media?: Buffer
}

function send(response: ServerResponse, { status, json, media }: Answer): void {
  response.statusCode = status
  if (media) response.setHeader('content-type', 'application/octet-stream')
  else response.setHeader('content-type', 'application/json')
  response.end(media ?? (json ? JSON.stringify(json) : undefined))
}

const errorOf = (code: number, reason: string, message: string): object => ({
  error: { code, message, errors: [{ domain: 'global', reason, message }] },
})

const notMet = (name: string): Answer => ({
  status: 412,
  json: errorOf(412, 'conditionNotMet', `At least one of the pre-conditions you specified did not hold: b/${name}`),
})

function verbOf(request: IncomingMessage, url: URL): GcsFault['verb'] {
  if (request.method === 'POST') return 'insert'
  if (request.method === 'DELETE') return 'delete'
  if (url.searchParams.get('alt') === 'media' || url.pathname.startsWith('/download/')) return 'media'
  return /\/o\/?$/.test(url.pathname) ? 'list' : 'get'
}

const urlOf = (request: IncomingMessage): URL => new URL(request.url ?? '/', 'http://localhost')

const nameIn = (url: URL): string =>
  decodeURIComponent(/\/o\/(.+)$/.exec(url.pathname)?.[1] ?? url.searchParams.get('name') ?? '')

/** The two parts of a `multipart/related` upload: metadata as JSON, then the bytes. */
function multipartOf(request: IncomingMessage, body: Buffer): { metadata: Record<string, unknown>; media: Buffer } {
  const boundary = /boundary="?([^";]+)/.exec(request.headers['content-type'] ?? '')?.[1] ?? ''
  const mark = Buffer.from(`--${boundary}`)
  const first = body.indexOf(mark)
  const second = body.indexOf(mark, first + mark.length)
  const last = body.lastIndexOf(mark)
  const part = (from: number, to: number): Buffer => {
    const whole = body.subarray(from + mark.length + 2, to - 2)
    return whole.subarray(whole.indexOf('\r\n\r\n') + 4)
  }
  return { metadata: JSON.parse(part(first, second).toString()), media: Buffer.from(part(second, last)) }
}
