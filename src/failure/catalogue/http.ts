/**
 * HTTP: every registered status and the common unregistered ones, and the words servers use for them.
 * Knows no vendor; a vendor's own code always stands above what is said here.
 */
import { type Case, type Family, phrases, RANK, words } from '../rule.ts'

const WAIT = 'Wait a little and try again; if it lasts, look at the status page of the service.'
const REQUEST = 'Correct the request; the same one will be rejected again.'

const status = (
  number: number,
  kind: Case['kind'],
  advice: string,
  rank: number = RANK.status,
  more: Partial<Case> = {},
): Case => ({
  code: `http.${number}`,
  kind,
  advice,
  statuses: [number],
  rank,
  ...more,
})

export const http: Family = {
  name: 'http',
  marks: { html: ['doctype html', 'html lang', 'html head', 'html body', 'html xmlns', 'doctype', 'html h1'] },
  cases: [
    status(400, 'final', REQUEST, RANK.vague),
    status(401, 'final', 'Check the credential: it is missing, wrong or expired.'),
    status(402, 'final', 'Pay or top up the account; waiting does not help.', RANK.status, { told: 'http.429' }),
    status(403, 'final', 'Grant the permission, or use an account that has it.', RANK.vague),
    status(404, 'final', 'Check the address, name or id: nothing is there.', RANK.vague),
    status(405, 'final', REQUEST),
    status(406, 'final', REQUEST),
    status(407, 'final', 'Give the proxy its credentials.', RANK.status, { layer: 'infrastructure' }),
    status(408, 'transient', WAIT),
    status(
      409,
      'conflict',
      'Nothing: another request changed the resource first; read it again before writing.',
      RANK.vague,
    ),
    status(410, 'final', 'The resource is gone for good; stop asking for it.', RANK.vague),
    status(411, 'final', REQUEST),
    status(412, 'conflict', 'Nothing: the precondition was lost to another writer; read again before writing.'),
    status(413, 'final', 'Send less in one request: split or shrink the input.'),
    status(414, 'final', REQUEST),
    status(415, 'final', REQUEST),
    status(416, 'final', REQUEST),
    status(417, 'final', REQUEST),
    status(420, 'rate_limited', 'Wait as long as told, send fewer requests, or ask for a higher limit.'),
    status(421, 'transient', WAIT),
    status(422, 'final', REQUEST, RANK.vague),
    status(423, 'transient', 'The resource is locked by another operation; try again when it is done.'),
    status(424, 'transient', WAIT, RANK.vague),
    status(425, 'transient', WAIT),
    status(426, 'final', REQUEST),
    status(428, 'final', REQUEST),
    status(429, 'rate_limited', 'Wait as long as told, send fewer requests, or ask for a higher limit.'),
    status(431, 'final', REQUEST),
    status(440, 'final', 'Sign in again: the session has expired.'),
    status(444, 'transient', WAIT),
    status(449, 'transient', WAIT),
    status(451, 'final', 'Not available for legal reasons; use another source.'),
    status(498, 'final', 'Renew the token.'),
    status(499, 'transient', 'The client closed the request before the answer; raise its timeout if this repeats.'),
    status(500, 'transient', WAIT, RANK.vague),
    status(501, 'final', 'The server does not offer this; use another method.'),
    status(502, 'transient', WAIT),
    status(503, 'transient', WAIT),
    status(504, 'transient', WAIT),
    status(505, 'final', REQUEST),
    status(507, 'transient', 'The server is out of space; tell its operator if it lasts.', RANK.vague),
    status(508, 'final', REQUEST),
    status(509, 'rate_limited', 'The bandwidth limit is used up; wait for its reset or raise it.'),
    status(511, 'final', 'Sign in to the network (a captive portal is in the way).', RANK.status, {
      layer: 'infrastructure',
    }),
    ...[520, 521, 522, 523, 524, 527, 530, 598, 599].map((number) => status(number, 'transient', WAIT)),
    ...[525, 526].map((number) =>
      status(number, 'final', 'The origin server has no valid certificate; its operator must fix it.', RANK.status, {
        layer: 'infrastructure',
      }),
    ),
    status(529, 'transient', 'The service is overloaded; wait and try again.'),
    { code: 'http.4xx', kind: 'final', advice: REQUEST, tokens: ['status:4xx'], rank: RANK.vague },
    { code: 'http.5xx', kind: 'transient', advice: WAIT, tokens: ['status:5xx'], rank: RANK.vague },

    // Cloudflare's own pages and plain-text bodies carry its code and no status.
    {
      code: 'http.403',
      name: 'edge-blocked',
      kind: 'final',
      advice: 'Grant the permission, or use an account that has it.',
      says: phrases(`
        error code 1020, error 1020, error code 1010, error 1010, error code 1009, error 1009, error code 1006,
        error 1006, you have been blocked
      `),
    },
    {
      code: 'http.530',
      name: 'edge-origin',
      kind: 'transient',
      advice: WAIT,
      says: ['error code 1016', 'error 1016', 'error code 1033', 'error 1033'],
    },

    // What the other side says about repeating, when nothing says why.
    { code: 'http.retryable', kind: 'transient', advice: WAIT, tokens: ['flag:retry'], rank: RANK.flag },
    { code: 'http.not-retryable', kind: 'final', advice: REQUEST, tokens: ['flag:stop'], rank: RANK.vague - 2 },

    // A delay told beside an ambiguous status, or beside none: only limits say when to come back.
    {
      code: 'http.429',
      name: 'told-delay',
      kind: 'rate_limited',
      advice: 'Wait as long as told, send fewer requests, or ask for a higher limit.',
      tokens: ['told:delay'],
      rank: RANK.flag + 1,
    },

    // Rate limits in words: they hide behind 400, 403, 410, 200 and bare messages.
    {
      code: 'http.429',
      name: 'rate-limit-words',
      kind: 'rate_limited',
      advice: 'Wait as long as told, send fewer requests, or ask for a higher limit.',
      tokens: words(`
        rate_limited rate_limit_exceeded RATE_LIMIT_EXCEEDED rate_limit ratelimited RATE_LIMITED too_many_requests
        TOO_MANY_REQUESTS rate-limited ratelimit RateLimitExceeded RateLimitReached TooManyRequests throttled
        THROTTLED REQUEST_LIMIT_EXCEEDED ApiRateLimitExceeded LIMIT_EXCEEDED over_rate_limit rateLimited
        rate_limit_error RATE_LIMIT RATE_LIMITS
      `),
      names: words(`
        RateLimitError RateLimitException TooManyRequestsError RateLimitedError ThrottlingError HTTP429Error
        TooManyRequests
      `),
      says: phrases(`
        rate limit exceeded, rate limits exceeded, exceeded .. rate limit, exceeded .. rate limits, rate limit
        reached, rate limit hit, rate limit has been, hit .. rate limit, reached .. rate limit, rate limited, rate
        limiting, being rate limited, too many requests, requests per minute, requests per second, requests per
        hour, requests per day, tokens per minute, tokens per day, request rate too high, request rate is too,
        request was throttled, been throttled, is throttled, being throttled, rate exceeded, exceeded .. request
        limit, exceeded .. requests per, reduce your request rate, reduce .. request rate, too many concurrent,
        concurrency limit, concurrent requests limit, abuse detection, secondary rate limit, api limit reached,
        exceeded .. call rate, call rate limit, usage limit .. try again, usage limit reached, usage limit
        exceeded, request limit reached, limit of requests, you are being limited, quota exceeded, quota has been
        exceeded, exceeded quota, exceeded your quota, exceeded the quota, quota limit exceeded, out of quota,
        exceeds quota, exceeds rate limit, resource exhausted, resource has been exhausted, attempt limit exceeded,
        calls per second, calls per minute, calls per hour, calls per day, requests per min, reduce request rate,
        reduce request rates, too quickly, limit your requests, requests too fast, sending requests too, generic resource_exhausted, request
        throttled, requests throttled, throttled at, error code 1015, error 1015
      `),
      hints: phrases(`
        usage limit, rate limit, rate limits, ratelimit, throttling, throttled, slow down, daily limit, too
        frequently, too many calls, limit reached, limit exceeded
      `),
    },
  ],
}
