/**
 * Turns single properties into evidence: words, numbers and delays, each read in the sense its owner gives it.
 * It knows which number means what in whose mouth; it does not know what follows from it.
 */
import { TOKEN_LENGTH_MAX, TOKENS_MAX } from './bounds.ts'
import { parseField, protoDuration } from './delay.ts'
import type { Evidence, Trust } from './evidence.ts'

const SAFETY_PART = /(?:^|_)(?:UNSAFE|SAFETY|PROHIBITED|MODERATION)(?:_|$)|_?CONTENT_(?:FILTER|POLICY)/

/** Keep an exact word. False when it is a sentence, which the caller then reads as one. */
export function readToken(evidence: Evidence, field: string, value: string, owner?: object): boolean {
  if (value.length > TOKEN_LENGTH_MAX || value.includes(' ') || value.includes('\n')) return false
  const first = value.charCodeAt(0)
  if (first >= 48 && first <= 57 && field !== 'constraint' && /^\d{1,5}$/.test(value)) {
    // SQLSTATEs are five characters and often all digits; other digits in a word's place are numbers in quotes.
    if (value.length === 5) addToken(evidence, value, field)
    else readNumber(evidence, field, Number(value), owner)
    return true
  }
  if (field === 'constraint' || field === 'domain' || field === 'service') {
    evidence.facts[field] ??= value
    if (field !== 'constraint') addToken(evidence, value, field)
    return true
  }
  const quota = field.startsWith('quota') || field === 'limitName'
  if (quota) {
    addToken(evidence, value, field)
    if (/per_?day|daily/i.test(value)) addToken(evidence, 'quota:day', field)
    else if (/per_?min|per_?sec/i.test(value)) addToken(evidence, 'quota:minute', field)
    return true
  }
  // Vendors coin reasons faster than lists grow, but they spell a safety block the same way.
  if (value.includes('_') && SAFETY_PART.test(value) && !/HARM_CATEGORY|RATINGS?$|SETTINGS?$/.test(value))
    addToken(evidence, 'part:safety', field)
  // AWS puts a namespace before the name and sometimes a link behind it: `com.amazon#Throttling:http://…`.
  const hash = value.includes('#') ? value.lastIndexOf('#') : -1
  const bare = hash > 0 ? value.slice(hash + 1) : value
  const colon = field === '__type' ? bare.indexOf(':') : -1
  addToken(evidence, colon > 0 ? bare.slice(0, colon) : bare, field)
  // Firebase puts its product before a status they all share: `functions/unavailable`.
  const slash = field === 'code' ? bare.indexOf('/') : -1
  if (slash > 0 && /^[a-z]+\/[a-z-]+$/.test(bare)) addToken(evidence, bare.slice(slash + 1), field)
  return true
}

export function addToken(evidence: Evidence, value: string, field: string): void {
  const { tokens } = evidence
  if (tokens.length >= TOKENS_MAX || value === '') return
  for (const token of tokens) if (token.value === value && token.field === field) return
  tokens.push({ value, field })
}

function addStatus(evidence: Evidence, value: number, trust: Trust): void {
  for (const status of evidence.statuses) if (status.value === value && status.trust === trust) return
  if (evidence.statuses.length < 8) evidence.statuses.push({ value, trust })
}

const isStatus = (value: number): boolean => Number.isInteger(value) && value >= 200 && value <= 599

const has = (owner: object | undefined, key: string): boolean => {
  try {
    return owner !== undefined && key in owner
  } catch {
    return false
  }
}

const nameOf = (owner: object | undefined): string => {
  try {
    const name: unknown = (owner as { name?: unknown } | undefined)?.name
    return typeof name === 'string' ? name : ''
  } catch {
    return ''
  }
}

export function readNumber(evidence: Evidence, field: string, value: number, owner?: object): void {
  if (!Number.isFinite(value)) return
  switch (field) {
    case 'errno':
    case 'nativeErrorCode':
    case 'native_code':
      if (value >= 1_000 && value <= 9_999) addToken(evidence, `mysql:${value}`, field)
      return
    case 'number':
      addToken(evidence, `mssql:${value}`, field)
      return
    case 'errcode':
    case 'rawCode':
      addToken(evidence, `sqlite:${value}`, field)
      return
    case 'replyCode':
    case 'reply_code':
      addToken(evidence, `amqp:${value}`, field)
      return
    case 'classId':
    case 'methodId':
      return
    case 'grpcCode':
    case 'grpc_code':
      addToken(evidence, `grpc:${value}`, field)
      return
    default:
      readCode(evidence, field, value, owner)
  }
}

/** A number under `code` or `status`: whose number is it? The owner's other properties tell. */
function readCode(evidence: Evidence, field: string, value: number, owner: object | undefined): void {
  if (field !== 'code' && field !== 'error_code' && field !== 'errorCode') {
    if (isStatus(value)) addStatus(evidence, value, 'field')
    else if (value >= 0 && value <= 16 && field === 'status') addToken(evidence, `grpc:${value}`, field)
    return
  }
  const name = nameOf(owner)
  if (
    name.startsWith('Mongo') ||
    has(owner, 'codeName') ||
    has(owner, 'errmsg') ||
    has(owner, 'errorLabels') ||
    has(owner, 'errorResponse')
  ) {
    addToken(evidence, `mongo:${value}`, field)
    return
  }
  if (has(owner, 'classId') || has(owner, 'methodId')) {
    addToken(evidence, `amqp:${value}`, field)
    return
  }
  if (value >= 1 && value <= 16) {
    if (has(owner, 'cmd') || has(owner, 'syscall') || /^(?:Abort|Timeout|[A-Z]\w*State|NotFound)Error$/.test(name))
      return
    const sure = has(owner, 'details') || has(owner, 'metadata') || has(owner, 'note')
    addToken(evidence, sure ? `grpc:${value}` : `grpc?:${value}`, field)
    return
  }
  if (isStatus(value)) addStatus(evidence, value, 'body')
  else addToken(evidence, value >= 1_000 && has(owner, 'sqlState') ? `mysql:${value}` : `number:${value}`, field)
}

/** Units of bare numbers, by field name; seconds unless the name says otherwise. */
export function readDelayField(evidence: Evidence, field: string, value: unknown): void {
  const unitMs = /ms$|millis$|msBeforeNext|timeToReset/i.test(field) ? 1 : 1_000
  let ms: number | undefined
  if (typeof value === 'object' && value !== null) {
    const { seconds, nanos } = value as { seconds?: unknown; nanos?: unknown }
    if (seconds === undefined && nanos === undefined) return
    ms = protoDuration(seconds, nanos)
  } else ms = parseField(value, unitMs, evidence.now)
  if (ms !== undefined) evidence.told.push({ ms, source: 'body', from: field })
}
