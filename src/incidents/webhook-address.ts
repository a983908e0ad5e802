/**
 * Where messages about incidents go, and what signs them: checked at the door, shown without what may be a secret.
 */
export interface Webhook {
  /** https, or http to this machine. */
  readonly url: string
  /** At least 24 characters; `whsec_…` is read as base64. */
  readonly secret: string
  /** From the first byte sent to the answer's head. @default 10 s */
  readonly timeoutMs?: number
}

const SECRET_MIN = 24
const SECRET_MAX = 200
const URL_MAX = 2_000

/** Throws a RangeError that names the field, and never a value. */
export function checkWebhook({ url, secret }: Webhook): void {
  checkWebhookUrl(url, 'webhook.url')
  checkWebhookSecret(secret, 'webhook.secret')
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export function checkWebhookUrl(text: unknown, field: string): string {
  const url = typeof text === 'string' && text.length <= URL_MAX && URL.canParse(text) ? new URL(text) : undefined
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname))
  if (typeof text === 'string' && url && isSafe && url.username === '' && url.password === '') return text
  throw new RangeError(
    `${field}: its value, not shown, is not allowed; allowed is an https address, or http to this machine, without a login in it`,
  )
}

export function checkWebhookSecret(text: unknown, field: string): string {
  if (typeof text === 'string' && text.length >= SECRET_MIN && text.length <= SECRET_MAX && !/\s/.test(text))
    return text
  throw new RangeError(
    `${field} (its value is not shown) is not allowed; allowed is text of ${SECRET_MIN} to ${SECRET_MAX} characters without spaces`,
  )
}

/** As people may read it: a path may be a secret of its own. */
export const shownUrl = (url: string): string => {
  const { origin, pathname } = new URL(url)
  return pathname === '/' ? origin : `${origin}/***`
}
