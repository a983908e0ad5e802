/**
 * The settings of incidents: business hours, owners, and the webhook, whose address and secret are never told.
 */
import { checkWebhookSecret, checkWebhookUrl, shownUrl } from '../incidents/webhook-address.ts'
import { STUCK_AFTER_MS } from '../run/stuck.ts'
import { type BusinessHours, businessHours, DEFAULT_HOURS } from '../time/business-hours.ts'
import type { Settings } from './config.ts'
import { duration } from './duration-setting.ts'
import { type Given, isPlain, type SettingReader } from './layers.ts'
import { shown } from './shown.ts'

/** The gravest threshold of waiting is a week; later than that nothing more could be told. */
const STUCK_MAX_MS = 7 * 86_400_000

export function incidentSettings(reader: SettingReader): Settings['incidents'] {
  const zone = reader.need('incidents.zone', {
    env: 'REPRISE_INCIDENT_ZONE',
    fallback: 'UTC',
    parse: (given) => checked(given, (text) => businessHours(undefined, { zone: text }).zone),
  })
  const hours = reader.need('incidents.hours', {
    env: 'REPRISE_INCIDENT_HOURS',
    fallback: DEFAULT_HOURS,
    parse: (given) => checked(given, (text) => businessHours(text) && text),
  })
  const holidays = reader.read('incidents.holidays', {
    env: 'REPRISE_INCIDENT_HOLIDAYS',
    parse: holidaysOf,
    print: (dates) => dates.join(', '),
  })
  const owners = reader.read('incidents.owners', {
    env: 'REPRISE_INCIDENT_OWNERS',
    parse: ownersOf,
    print: (record) =>
      Object.entries(record)
        .map(([of, owner]) => `${of}: ${owner}`)
        .join(', '),
  })
  const stuckAfterMs = reader.need('incidents.stuckAfterMs', {
    env: 'REPRISE_STUCK_AFTER',
    fallback: STUCK_AFTER_MS,
    parse: (given) => duration(given, 1_000, STUCK_MAX_MS),
  })
  const url = reader.read('incidents.webhookUrl', {
    env: 'REPRISE_WEBHOOK_URL',
    parse: ({ raw, field }) => checkWebhookUrl(raw, field),
    print: shownUrl,
  })
  const secret = reader.read('incidents.webhookSecret', {
    env: 'REPRISE_WEBHOOK_SECRET',
    parse: ({ raw, field }) => checkWebhookSecret(raw, field),
    print: () => '***',
  })
  reader.attempt('default', () => {
    if (url !== undefined && secret === undefined)
      throw new RangeError('incidents.webhookUrl is set without a secret; set REPRISE_WEBHOOK_SECRET too')
  })
  const calendar = reader.attempt('default', () => calendarOf(hours, zone, holidays)) ?? businessHours()
  return {
    calendar,
    owners: owners ?? {},
    stuckAfterMs,
    ...(url === undefined || secret === undefined ? {} : { webhook: { url, secret } }),
  }
}

/** What was wrong is told when it was read; here it would only be told again. */
function calendarOf(hours: string | undefined, zone: string | undefined, holidays?: readonly string[]): BusinessHours {
  return businessHours(hours, { ...(zone === undefined ? {} : { zone }), ...(holidays ? { holidays } : {}) })
}

function checked(given: Given, check: (text: string) => string): string {
  const { raw, field } = given
  if (typeof raw !== 'string') throw new RangeError(`${field}: ${shown(raw)} is not allowed; allowed is text`)
  try {
    return check(raw)
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(error.message.replace(/^\w+:/, `${field}:`)) : error
  }
}

function holidaysOf({ raw, field, isText }: Given): readonly string[] {
  const dates = isText
    ? String(raw)
        .split(',')
        .map((date) => date.trim())
    : raw
  if (!Array.isArray(dates) || !dates.every((date) => typeof date === 'string'))
    throw new RangeError(`${field}: ${shown(raw)} is not allowed; allowed is a list of dates such as 2026-12-25`)
  try {
    return businessHours(undefined, { holidays: dates }).holidays
  } catch (error) {
    throw error instanceof RangeError ? new RangeError(error.message.replace(/^\w+:/, `${field}:`)) : error
  }
}

const SUBJECT = /^([1-4]|(?:collection|task):.{1,200})$/s
const OWNER_MAX = 100

/** An object, or in a variable `2=platform,collection:archives=parsing`. */
function ownersOf({ raw, field, isText }: Given): Readonly<Record<string, string>> {
  const entries = isText
    ? String(raw)
        .split(',')
        .map((pair): [string, unknown] => [pair.split('=')[0]?.trim() ?? '', pair.split('=')[1]?.trim()])
    : isPlain(raw)
      ? Object.entries(raw)
      : undefined
  const isOwner = (owner: unknown): owner is string =>
    typeof owner === 'string' && owner.trim() !== '' && owner.length <= OWNER_MAX
  const wrong = entries?.find(([of, owner]) => !SUBJECT.test(of) || !isOwner(owner))
  if (entries && !wrong) return Object.freeze(Object.assign(Object.create(null), Object.fromEntries(entries)))
  const told = wrong ? `${shown(wrong[0])}: ${shown(wrong[1])}` : shown(raw)
  throw new RangeError(
    `${field}: ${told} is not allowed; allowed are names by tier ("3") or subject ("collection:archives", "task:summarize")`,
  )
}
