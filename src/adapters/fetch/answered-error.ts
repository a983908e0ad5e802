/**
 * An answer whose status says that it failed, on its way through the classifier, and how it becomes an answer again.
 * It knows nothing of retries.
 */
import type { Mode } from '../mode.ts'

/** An error page past this is not read for clues; it is handed on all the same. */
const CLUES_MAX = 16_384

export class AnsweredError extends Error {
  readonly status: number
  readonly headers: Headers
  /** The body as far as it may tell something. */
  readonly body: string
  readonly #response: Response
  readonly #content: ArrayBuffer

  private constructor(response: Response, content: ArrayBuffer) {
    super(`${response.status} ${response.statusText}`.trim())
    this.name = 'AnsweredError'
    this.status = response.status
    this.headers = response.headers
    this.body = new TextDecoder().decode(content.slice(0, CLUES_MAX))
    this.#response = response
    this.#content = content
  }

  static async read(response: Response): Promise<AnsweredError> {
    return new AnsweredError(response, await response.arrayBuffer())
  }

  /** The answer with its whole body. In mode `own` it says that it was tried often enough: several vendors' clients heed that. */
  response(mode: Mode): Response {
    const { status, statusText, url } = this.#response
    const headers = new Headers(this.#response.headers)
    // The body was unpacked when it was read.
    headers.delete('content-encoding')
    headers.delete('content-length')
    if (mode === 'own') headers.set('x-should-retry', 'false')
    const response = new Response(this.#content, { status, statusText, headers })
    Object.defineProperty(response, 'url', { value: url })
    return response
  }
}
