/**
 * Reads a fault plan from unknown input, such as a JSON file: every mistake is told by its place, its value and what is allowed.
 * It changes nothing and looks at no other file.
 */
import { parseDuration } from '../time/duration.ts'
import { FAULT_NAMES, isFaultName } from './fault.ts'
import type { FaultPlan } from './fault-plan.ts'
import { PRESET_NAMES, PRESETS, type PresetName } from './presets.ts'

/** Past an hour a latency is a mistake in the unit. */
const LATENCY_MAX_MS = 3_600_000
const THINK_TOKENS_MAX = 1_000_000
const SHOWN_MAX = 60

const MODEL_FIELDS = ['latencyMs', 'rates', 'always', 'thinkTokens']
const PLAN_FIELDS = [...MODEL_FIELDS, 'models', 'script', 'images', 'retryAfter']

/** The plan itself, or the one of a preset's name. Throws a RangeError that names the field. */
export function checkPlan(value: unknown, field = 'faults'): FaultPlan {
  if (typeof value === 'string') {
    if (!Object.hasOwn(PRESETS, value)) wrong(field, value, `a plan, or one of the presets ${PRESET_NAMES.join(', ')}`)
    return PRESETS[value as PresetName]
  }
  const plan = recordOf(value, field)
  onlyFields(plan, PLAN_FIELDS, field)
  checkModelPlan(plan, field)
  for (const [part, own] of Object.entries(recordOf(plan['models'] ?? {}, `${field}.models`))) {
    const place = `${field}.models.${part}`
    onlyFields(recordOf(own, place), MODEL_FIELDS, place)
    checkModelPlan(recordOf(own, place), place)
  }
  checkScript(plan['script'] ?? {}, `${field}.script`)
  for (const [sha256, text] of Object.entries(recordOf(plan['images'] ?? {}, `${field}.images`))) {
    const place = `${field}.images.${sha256}`
    if (!/^[0-9a-f]{64}$/.test(sha256)) wrong(place, sha256, 'the SHA-256 of the image in lower-case hex as key')
    if (typeof text !== 'string') wrong(place, text, 'the text that the image shows')
  }
  if (plan['retryAfter'] !== undefined) parseDuration(plan['retryAfter'], `${field}.retryAfter`)
  return plan
}

export function checkScript(value: unknown, field = 'script'): void {
  for (const [key, own] of Object.entries(recordOf(value, field))) {
    const place = `${field}.${key}`
    if (key.startsWith('/')) checkPattern(key, place)
    if (Array.isArray(own)) checkSteps(own, place)
    else for (const [part, steps] of Object.entries(recordOf(own, place))) checkSteps(steps, `${place}.${part}`)
  }
}

/** A pattern between slashes, with flags: `/INV-0[12]/i`. */
export function patternOf(key: string): RegExp {
  const end = key.lastIndexOf('/')
  return new RegExp(key.slice(1, end), key.slice(end + 1))
}

function checkPattern(key: string, place: string): void {
  try {
    if (key.lastIndexOf('/') > 0) return void patternOf(key)
  } catch {
    // Told below, with what is allowed.
  }
  wrong(place, key, 'a regular expression between slashes')
}

function checkSteps(steps: unknown, place: string): void {
  if (!Array.isArray(steps) || steps.length === 0) wrong(place, steps, 'a list of at least one fault')
  for (const [index, step] of (steps as readonly unknown[]).entries()) {
    const at = `${place}[${index}]`
    if (typeof step !== 'object' || step === null) {
      checkFault(step, at)
      continue
    }
    const { fault, retryAfter } = onlyFields(recordOf(step, at), ['fault', 'retryAfter'], at)
    checkFault(fault, `${at}.fault`)
    if (retryAfter !== undefined) parseDuration(retryAfter, `${at}.retryAfter`)
  }
}

function checkModelPlan(plan: Readonly<Record<string, unknown>>, field: string): void {
  for (const name of ['rates', 'always']) {
    const rates = Object.entries(recordOf(plan[name] ?? {}, `${field}.${name}`))
    let sum = 0
    for (const [fault, share] of rates) {
      checkFault(fault, `${field}.${name}`)
      if (typeof share !== 'number' || !(share >= 0 && share <= 1))
        wrong(`${field}.${name}.${fault}`, share, 'a share from 0 to 1')
      sum += share as number
    }
    if (sum > 1 + 1e-9) wrong(`${field}.${name}`, sum, 'shares that sum up to 1 at most')
  }
  checkRange(plan['latencyMs'], LATENCY_MAX_MS, `${field}.latencyMs`)
  checkRange(plan['thinkTokens'], THINK_TOKENS_MAX, `${field}.thinkTokens`)
}

function checkRange(range: unknown, max: number, field: string): void {
  if (range === undefined) return
  const [from, to] = Array.isArray(range) && range.length === 2 ? range : []
  const isWhole = (value: unknown) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
  if (!isWhole(from) || !isWhole(to) || from > to) {
    wrong(field, range, `two whole numbers from 0 to ${max}, the smaller one first`)
  }
}

function checkFault(name: unknown, place: string): void {
  if (!isFaultName(name)) wrong(place, name, `one of ${FAULT_NAMES.join(', ')}`)
}

function recordOf(value: unknown, field: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) wrong(field, value, 'an object')
  return value as Readonly<Record<string, unknown>>
}

function onlyFields<T extends object>(value: T, allowed: readonly string[], field: string): T {
  for (const name of Object.keys(value)) {
    if (!allowed.includes(name)) wrong(`${field}.${name}`, name, `only the fields ${allowed.join(', ')}`)
  }
  return value
}

function wrong(field: string, value: unknown, allowed: string): never {
  const text = JSON.stringify(value) ?? String(value)
  const shown = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text
  throw new RangeError(`${field}: ${shown} is not allowed; it takes ${allowed}`)
}
