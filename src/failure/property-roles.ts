/**
 * What each property of an error-like object is for. Properties that are not listed are never read:
 * requests, prompts, configs and model answers would speak with the caller's voice, not the other side's.
 */

import { type Speaker, speakerBit } from './rule.ts'

export const ROLE = {
  /** An exact word: a code, a class name, a reason. */
  token: 1,
  /** An HTTP status, or a status word. */
  status: 2,
  /** A sentence. */
  text: 3,
  /** A sentence, a body as text, or an object to look into. */
  body: 4,
  /** An object to look into; strings there are not looked at. */
  child: 5,
  headers: 6,
  delay: 7,
  /** A list of words. */
  labels: 8,
  /** Says whether to repeat. */
  flag: 9,
  /** A number with a meaning of its own. */
  number: 10,
} as const
export type Role = (typeof ROLE)[keyof typeof ROLE]

const LISTED: ReadonlyArray<readonly [Role, string]> = [
  [
    ROLE.token,
    `name errorType exception className code errorCode error_code Code codeName __type lc_error_code sqlState sqlstate SQLState
     reason type finishReason finish_reason blockReason block_reason stop_reason errorCodeName errorSubtype subtype subcode
     quotaId quota_id quotaMetric quota_metric quota_limit quotaLimit limitName @type domain error_type errorName err_code
     constraint errstr faultcode errorcode exceptionType incomplete_reason keyword refusal_reason code_name service tag _tag originalCode`,
  ],
  [
    ROLE.status,
    'status statusCode status_code httpStatus httpStatusCode http_status http_code httpCode responseCode response_code',
  ],
  [
    ROLE.text,
    `message msg Message errmsg errorMessage error_message error_description errorDescription description title statusText
     statusMessage sqlMessage replyText reply_text reason_text hint uiMessage friendly_message errorSummary userMessage
     developerMessage stderr shortMessage originalMessage faultstring faultString`,
  ],
  [ROLE.body, 'detail details body data responseBody response_body responseText raw error err errors cause response'],
  [
    ROLE.child,
    `lastError last_error original originalError original_error parent innererror innerError inner_error inner $response $metadata
     metadata extensions info exception_details violations fieldViolations result errorResponse writeErrors writeConcernError
     writeConcernErrors insertErrors CancellationReasons cancellationReasons Error Errors fault incomplete_details promptFeedback candidates
     choices failures issues errorInfo error_info errorResult errorDetails meta exceptions previous rootCause root_cause
     statusDetails output suppressed causes reasons promise value err_details rejection`,
  ],
  [ROLE.headers, 'headers responseHeaders response_headers rawHeaders trailers'],
  [
    ROLE.delay,
    `retryDelay retry_delay retry_after retryAfter retry-after retry_after_ms retryAfterMs retry_after_millis retryAfterSeconds
     retry_after_seconds retryInMs msBeforeNext quotaResetDelay quotaResetTimeStamp resets_at reset_at resetAt resetTime resets_in_seconds
     retryAfterMillis wait_seconds retry_in estimated_time timeToReset`,
  ],
  [ROLE.labels, 'errorLabels errorLabelSet codes stop_reasons labels'],
  [ROLE.flag, 'isRetryable is_retryable retryable retriable shouldRetry should_retry $retryable'],
  [
    ROLE.number,
    'errno number errcode rawCode replyCode reply_code classId methodId native_code nativeErrorCode grpcCode grpc_code',
  ],
]

/** Properties that only one speaker's errors have. */
const SPOKEN_BY: Readonly<Partial<Record<Speaker, string>>> = {
  aws: '$metadata $fault $response $retryable CancellationReasons __type',
  mongodb: 'codeName errorLabels errorLabelSet errmsg writeErrors keyPattern',
  postgres: 'routine severity internalPosition dataType constraint SQLState sqlstate',
  mysql: 'sqlMessage sqlState',
  amqp: 'classId methodId',
}

export interface Property {
  readonly role: Role | undefined
  /** Bit set of speakers, 0 when anyone may have it. */
  readonly speakers: number
}

const PROPERTIES: ReadonlyMap<string, Property> = listProperties()

function listProperties(): Map<string, Property> {
  const list = new Map<string, Property>()
  for (const [role, names] of LISTED) {
    for (const name of names.trim().split(/\s+/)) list.set(name, { role, speakers: 0 })
  }
  for (const [speaker, names] of Object.entries(SPOKEN_BY) as [Speaker, string][]) {
    for (const name of names.split(' ')) {
      if (name !== '') list.set(name, { role: list.get(name)?.role, speakers: speakerBit(speaker) })
    }
  }
  return list
}

export function propertyOf(key: string): Property | undefined {
  return PROPERTIES.get(key)
}
