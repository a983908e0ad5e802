/**
 * The door for policies: a few fields over a base, checked one by one, copied and frozen all the way down.
 * What the values mean is told in `policy.ts`; what follows from them in `decide.ts`.
 */
import { KINDS, type Kind } from '../failure/failure.ts'
import { type Duration, parseDuration } from '../time/duration.ts'
import { type BackoffInput, checkBackoff } from './backoff.ts'
import { oneOf, plainFields, refuse, wholeNumber } from './check.ts'
import type { LadderShape, ModelRung, PersonRung, RungShape } from './ladder.ts'
import type { KindRule, Limits, Policy, Recourse, ToldDelay } from './policy.ts'

/** No ledger holds more than this, so that a slip of the pen cannot become a flood. */
const LEDGER_MAX = 10_000
const RUNGS_MAX = 32
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,127}$/
const COST_MAX_USD = 1_000_000

/** Fields that end in `Ms` may be written as text: "30s". */
type Written<T> = { readonly [Field in keyof T]?: Field extends `${string}Ms` ? Duration : T[Field] }

export type KindRuleInput = Written<Omit<KindRule, 'backoff'>> & { readonly backoff?: Partial<BackoffInput> }
export type RungInput =
  | (Written<ModelRung> & Pick<ModelRung, 'type' | 'name'>)
  | (Written<PersonRung> & Pick<PersonRung, 'type' | 'name'>)

/** Any part of a policy; what is left out is the base's. */
export interface PolicyInput extends Partial<Omit<Policy, 'kinds' | 'toldDelay' | 'limits' | 'ladder'>> {
  readonly kinds?: { readonly [K in Kind]?: KindRuleInput }
  readonly toldDelay?: Written<ToldDelay>
  readonly limits?: Written<Limits>
  readonly ladder?: readonly RungInput[]
}

/** What each kind may be answered with. A refusal or a final failure is never sent again, a conflict is never an error. */
const RECOURSES: Readonly<Record<Kind, readonly Recourse[]>> = {
  transient: ['retry', 'escalate', 'person', 'fail'],
  rate_limited: ['retry', 'escalate', 'person', 'fail'],
  syntax: ['repair', 'retry', 'escalate', 'person', 'fail'],
  semantic: ['repair', 'retry', 'escalate', 'person', 'fail'],
  refused: ['person', 'fail'],
  final: ['person', 'fail'],
  conflict: ['ignore'],
  exhausted: ['wait', 'escalate', 'person', 'fail'],
  interrupted: ['retry', 'person', 'fail'],
}

const POLICY_FIELDS = [
  'name',
  'scale',
  'maxAttempts',
  'unknownMaxAttempts',
  'kinds',
  'rateWaitsMax',
  'interruptionsMax',
  'lapsesMax',
  'toldDelay',
  'limits',
  'ladder',
]
const RULE_FIELDS = ['recourse', 'maxAttempts', 'backoff', 'whenSpent']
const BACKOFF_FIELDS = ['shape', 'baseMs', 'factor', 'capMs', 'jitter', 'jitterMs']
const TOLD_FIELDS = ['minMs', 'maxMs', 'beyond']
const LIMIT_FIELDS = ['callMs', 'attemptMs', 'finalizeReserveMs']
const MODEL_FIELDS = ['type', 'name', 'attempts', 'maxCostUsd', 'budget']
const PERSON_FIELDS = ['type', 'name', 'queue', 'withinMs', 'attempts']

const defined = new WeakSet<object>()

/** True for what came out of `definePolicy` (or a preset): checked and frozen, safe to use without another look. */
export function isPolicy(value: unknown): value is Policy {
  return typeof value === 'object' && value !== null && defined.has(value)
}

/** Checks `input` over a complete `base`. Throws a RangeError that names the field, the value and what is allowed. */
export function completePolicy(input: PolicyInput, base: Policy): Policy {
  plainFields(input, POLICY_FIELDS, 'policy')
  const merged = { ...base, ...withoutUndefined(input) }
  const { name, scale, maxAttempts, unknownMaxAttempts, rateWaitsMax, interruptionsMax, lapsesMax } = merged
  if (typeof name !== 'string' || !NAME.test(name)) refuse('policy.name', name, `names that match ${NAME.source}`)
  oneOf(scale, ['call', 'durable'], 'policy.scale')
  wholeNumber(maxAttempts, 1, LEDGER_MAX, 'policy.maxAttempts')
  wholeNumber(unknownMaxAttempts, 1, LEDGER_MAX, 'policy.unknownMaxAttempts')
  wholeNumber(rateWaitsMax, 0, LEDGER_MAX, 'policy.rateWaitsMax')
  wholeNumber(interruptionsMax, 0, LEDGER_MAX, 'policy.interruptionsMax')
  wholeNumber(lapsesMax, 0, LEDGER_MAX, 'policy.lapsesMax')
  const limits = input.limits === undefined ? base.limits : limitsOf(input.limits, base.limits)
  const ladder = input.ladder === undefined ? base.ladder : ladderOf(input.ladder)
  const policy: Policy = Object.freeze({
    name,
    scale,
    maxAttempts,
    unknownMaxAttempts,
    kinds: kindsOf(input.kinds ?? {}, base.kinds),
    rateWaitsMax,
    interruptionsMax,
    lapsesMax,
    toldDelay: toldDelayOf(input.toldDelay ?? {}, base.toldDelay),
    ...(limits ? { limits } : {}),
    ...(ladder ? { ladder } : {}),
  })
  defined.add(policy)
  return policy
}

function kindsOf(input: NonNullable<PolicyInput['kinds']>, base: Policy['kinds']): Policy['kinds'] {
  plainFields(input, KINDS, 'policy.kinds')
  const entries = KINDS.map((kind) => [kind, ruleOf(kind, input[kind] ?? {}, base[kind])] as const)
  return Object.freeze(Object.fromEntries(entries) as Record<Kind, KindRule>)
}

function ruleOf(kind: Kind, input: KindRuleInput, base: KindRule): KindRule {
  const field = `policy.kinds.${kind}`
  plainFields(input, RULE_FIELDS, field)
  const { recourse, maxAttempts, whenSpent } = { ...base, ...withoutUndefined(input) }
  oneOf(recourse, RECOURSES[kind], `${field}.recourse`)
  oneOf(whenSpent, ['escalate', 'person', 'fail'], `${field}.whenSpent`)
  if (maxAttempts !== undefined) wholeNumber(maxAttempts, 1, LEDGER_MAX, `${field}.maxAttempts`)
  const backoff = input.backoff ?? {}
  plainFields(backoff, BACKOFF_FIELDS, `${field}.backoff`)
  return Object.freeze({
    recourse,
    ...(maxAttempts === undefined ? {} : { maxAttempts }),
    backoff: checkBackoff({ ...base.backoff, ...withoutUndefined(backoff) }, `${field}.backoff`),
    whenSpent,
  })
}

function toldDelayOf(input: Written<ToldDelay>, base: ToldDelay): ToldDelay {
  plainFields(input, TOLD_FIELDS, 'policy.toldDelay')
  const merged = { ...base, ...withoutUndefined(input) }
  const minMs = parseDuration(merged.minMs, 'policy.toldDelay.minMs')
  const maxMs = parseDuration(merged.maxMs, 'policy.toldDelay.maxMs')
  oneOf(merged.beyond, ['clamp', 'fail'], 'policy.toldDelay.beyond')
  if (maxMs < minMs) refuse('policy.toldDelay.maxMs', maxMs, `${minMs} (minMs) and more`)
  return Object.freeze({ minMs, maxMs, beyond: merged.beyond })
}

function limitsOf(input: Written<Limits>, base: Limits | undefined): Limits {
  plainFields(input, LIMIT_FIELDS, 'policy.limits')
  const merged = Object.entries({ ...base, ...withoutUndefined(input) })
  return Object.freeze(
    Object.fromEntries(merged.map(([key, value]) => [key, parseDuration(value, `policy.limits.${key}`)])),
  )
}

function ladderOf(input: readonly RungInput[]): LadderShape {
  if (!Array.isArray(input) || input.length === 0 || input.length > RUNGS_MAX) {
    refuse('policy.ladder', input, `lists of 1 to ${RUNGS_MAX} rungs`)
  }
  const rungs = input.map((rung, index) => rungOf(rung, `policy.ladder[${index}]`))
  rungs.forEach((rung, index) => {
    const field = `policy.ladder[${index}]`
    if (rungs.findIndex(({ name }) => name === rung.name) < index)
      refuse(`${field}.name`, rung.name, 'names not used before')
    if (rung.type === 'model' && rungs[index - 1]?.type === 'person')
      refuse(`${field}.type`, 'model', 'persons after a person')
  })
  return Object.freeze(rungs)
}

function rungOf(input: RungInput, field: string): RungShape {
  plainFields(input, input?.type === 'person' ? PERSON_FIELDS : MODEL_FIELDS, field)
  oneOf(input.type, ['model', 'person'], `${field}.type`)
  if (typeof input.name !== 'string' || !NAME.test(input.name)) {
    refuse(`${field}.name`, input.name, `names that match ${NAME.source}`)
  }
  const { attempts } = input
  if (attempts !== undefined || input.type === 'model') wholeNumber(attempts, 1, LEDGER_MAX, `${field}.attempts`)
  if (input.type === 'person') {
    const queue = input.queue ?? input.name
    if (typeof queue !== 'string' || !NAME.test(queue))
      refuse(`${field}.queue`, queue, `names that match ${NAME.source}`)
    const withinMs = parseDuration(input.withinMs, `${field}.withinMs`)
    return Object.freeze({ type: 'person', name: input.name, queue, withinMs, ...(attempts ? { attempts } : {}) })
  }
  const { maxCostUsd, budget } = input
  if (maxCostUsd !== undefined && !(maxCostUsd >= 0 && maxCostUsd <= COST_MAX_USD)) {
    refuse(`${field}.maxCostUsd`, maxCostUsd, `numbers from 0 to ${COST_MAX_USD}`)
  }
  if (budget !== undefined && (typeof budget !== 'string' || !NAME.test(budget))) {
    refuse(`${field}.budget`, budget, `names that match ${NAME.source}`)
  }
  return Object.freeze({
    type: 'model',
    name: input.name,
    attempts: attempts ?? 1,
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(budget === undefined ? {} : { budget }),
  })
}

/** An option that is present and undefined means the base's value, as in a spread of optional settings. */
function withoutUndefined<T extends object>(input: T): { [Field in keyof T]: Exclude<T[Field], undefined> } {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as {
    [Field in keyof T]: Exclude<T[Field], undefined>
  }
}
