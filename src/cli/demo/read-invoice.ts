/**
 * The code that the demonstration protects: one call to the model, its answer read and checked by a small gate.
 * It throws what such code throws in life, and knows nothing of retries.
 */
import { failure } from '../../failure/own.ts'

export interface Invoice {
  readonly net: string
  readonly lines: readonly string[]
}

/** What a provider's SDK throws for an answer that is no answer. */
class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, body: string, headers: Headers) {
    super(body)
    this.status = status
    this.headers = Object.fromEntries(headers)
  }
}

interface ModelAnswer {
  readonly promptFeedback?: { readonly blockReason: string }
  readonly candidates?: readonly { readonly content: { readonly parts: readonly { readonly text: string }[] } }[]
}

export async function readInvoice(url: string, signal: AbortSignal): Promise<Invoice> {
  const response = await fetch(url, { method: 'POST', signal })
  const body = await response.text()
  if (!response.ok) throw new ApiError(response.status, body, response.headers)
  const answer = JSON.parse(body) as ModelAnswer
  if (answer.promptFeedback) {
    throw Object.assign(new Error(`The prompt was blocked: ${answer.promptFeedback.blockReason}`), { response: answer })
  }
  const invoice = JSON.parse(answer.candidates?.[0]?.content.parts[0]?.text ?? '') as Invoice
  const sum = invoice.lines.reduce((total, line) => total + Number(line), 0).toFixed(2)
  if (invoice.net !== sum) {
    throw failure({
      kind: 'semantic',
      code: 'gate.total',
      message: `net ${invoice.net}, lines sum to ${sum}`,
      advice: 'Ask again with both figures; then a person looks at the page.',
    })
  }
  return invoice
}
