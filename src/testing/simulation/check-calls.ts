/**
 * I13 and I14: what the provider received against the journal. The provider's log outranks the engine's own events.
 */
import { type FaultLine, type History, only, type ProviderLine } from './history.ts'
import { grouped, invariant } from './invariant.ts'
import { claimOf, modelAt, type Story, type StoryStep, stories } from './story.ts'

const callOf = ({ run, generation, call, inputHash }: ProviderLine) => `${run}.${generation}.${call}.${inputHash}`

/** Our own stop of a handler that is in the middle of a call leaves that call open. */
const STOPPED = new Set(['attempt.timeout', 'worker.stop', 'worker.ends', 'deadline.passed'])

/** Binary fractions do not add up exactly. */
const COST_SLACK_USD = 1e-9

export const CALLS = [
  invariant(
    'I13',
    'A call is sent once; a repeat follows a stored failure or is flagged after a fault, and never after a stored answer.',
    (history) => {
      const sends = grouped([...only(history, 'provider')], callOf)
      return [
        ...[...sends.values()].flatMap((lines) => repeats(history, lines)),
        ...superseded(history),
        ...unsent(history, sends),
        ...sharedKeys(history),
        ...overcharged(history),
      ]
    },
  ),

  invariant(
    'I14',
    'Every send has an intent that was stored before it, by the same owner and with the same number.',
    (history) =>
      only(history, 'provider').flatMap((line) => {
        const story = stories(history).get(line.run)
        const intent = story && intentOf(story, line)
        return intent && intent.line.seq < line.seq
          ? []
          : [`${callOf(line)}: take ${line.take} was sent without an intent`]
      }),
  ),
]

const intentOf = ({ steps }: Story, line: ProviderLine): StoryStep | undefined =>
  steps.find(
    ({ kind, change, token }) =>
      kind === 'written' &&
      change?.type === 'intent' &&
      token === line.token &&
      change.generation === line.generation &&
      change.name === line.call &&
      change.inputHash === line.inputHash &&
      change.take === line.take,
  )

/** Answers and failures of a call that the store kept, receipts included. */
function answersOf({ steps }: Story, line: ProviderLine): readonly StoryStep[] {
  return steps.filter(
    ({ kind, change }) =>
      change?.type === 'answer' &&
      (kind === 'written' || (kind === 'refused' && change.answer !== undefined)) &&
      change.generation === line.generation &&
      change.name === line.call &&
      change.inputHash === line.inputHash,
  )
}

function repeats(history: History, lines: readonly ProviderLine[]): string[] {
  const found: string[] = []
  const [first] = lines
  const story = first && stories(history).get(first.run)
  if (!story) return found
  const answers = answersOf(story, first)
  for (const line of lines) {
    const claim = claimOf(story, line.token)
    const paid = answers.find(
      ({ change, line: stored }) =>
        change?.type === 'answer' && change.answer !== undefined && stored.seq < (claim?.line.seq ?? 0),
    )
    if (paid)
      found.push(`${callOf(line)}: take ${line.take} was sent although an answer was stored before its owner’s claim`)
    if (lines.some((other) => other !== line && other.take === line.take && other.seq < line.seq))
      found.push(`${callOf(line)}: take ${line.take} was sent twice`)
    const before = lines.filter(({ seq }) => seq < line.seq).at(-1)
    if (!before) continue
    const settled = answers.some(
      ({ line: stored, change }) =>
        change?.type === 'answer' && change.failure !== undefined && stored.seq > before.seq && stored.seq < line.seq,
    )
    if (!settled && !flagged(history, line))
      found.push(`${callOf(line)}: take ${line.take} repeats take ${before.take} and nobody said so`)
    if (!settled && !disturbed(history, story, before, line))
      found.push(`${callOf(line)}: take ${line.take} repeats take ${before.take} without any fault`)
  }
  return found
}

const flagged = (history: History, line: ProviderLine): boolean =>
  only(history, 'event').some(
    ({ event, seq }) =>
      event.name === 'call.ambiguous' &&
      event.run === line.run &&
      event.generation === line.generation &&
      event.attempt === line.attempt &&
      event.call === line.call &&
      seq < line.seq,
  )

const isStop = ({ kind, change }: StoryStep): boolean =>
  kind === 'ended' && change?.type === 'end' && STOPPED.has(change.attempt?.failure?.code ?? '')

/** Something happened to the sender or to the run between two lines. */
function disturbed(history: History, { steps }: Story, from: ProviderLine, to: { readonly seq: number }): boolean {
  const within = ({ seq }: { readonly seq: number }) => seq < to.seq
  const hit = (fault: FaultLine) => fault.process === from.process && within(fault)
  const steered = steps.some(({ kind, line }) => (kind === 'cancelled' || kind === 'again') && within(line))
  const stopped = steps.some((step) => step.token === from.token && isStop(step))
  return steered || stopped || only(history, 'fault').some(hit)
}

/** Past the end of its lease nobody sends. A cancel takes the lease before its time, and its owner hears of it later. */
function superseded(history: History): string[] {
  return only(history, 'provider').flatMap((line) => {
    const story = stories(history).get(line.run)
    const holder = story && modelAt(story, line)?.holder?.token
    const stolen = story?.steps.some(
      ({ kind, line: at }) => (kind === 'cancelled' || kind === 'again') && at.seq < line.seq,
    )
    return !story || holder === line.token || stolen
      ? []
      : [`${callOf(line)}: sent with token ${line.token}, held by ${holder ?? 'nobody'}`]
  })
}

/** A take in the journal that the provider never saw is one whose sender was hit between intent and send. */
function unsent(history: History, sends: ReadonlyMap<string, readonly ProviderLine[]>): string[] {
  const found: string[] = []
  for (const [run, journals] of Object.entries(history.dump.journals)) {
    const story = stories(history).get(run)
    for (const [generation, entries] of Object.entries(journals)) {
      for (const { name, inputHash, takes } of entries) {
        if (inputHash === 'sleep' || inputHash === 'join' || !story) continue
        const sent = sends.get(`${run}.${generation}.${name}.${inputHash}`)?.length ?? 0
        const intents = story.steps.filter(
          ({ kind, change }) =>
            kind === 'written' &&
            change?.type === 'intent' &&
            change.name === name &&
            String(change.generation) === generation,
        )
        if (sent > takes) found.push(`${run}.${generation}.${name}: ${sent} sends, the journal has ${takes}`)
        if (intents.length === 0)
          found.push(`${run}.${generation}.${name}: the journal has ${takes} takes, and no intent was ever written`)
        const hit =
          only(history, 'fault').length > 0 || story.steps.some((step) => step.kind === 'cancelled' || isStop(step))
        if (sent < takes && !hit)
          found.push(
            `${run}.${generation}.${name}: the journal has ${takes} takes, the provider ${sent}, and there was no fault`,
          )
      }
    }
  }
  return found
}

/** A run never shows more than its sends were charged; less only when an answer got lost on its way. */
function overcharged(history: History): string[] {
  return history.dump.runs.flatMap(({ id, costUsd }) => {
    const charged = only(history, 'provider').reduce((sum, line) => sum + (line.run === id ? line.costUsd : 0), 0)
    return costUsd > charged + COST_SLACK_USD ? [`${id}: shows ${costUsd} USD, the provider charged ${charged}`] : []
  })
}

function sharedKeys(history: History): string[] {
  return [...grouped([...only(history, 'provider')], ({ idempotencyKey }) => idempotencyKey)]
    .filter(([, lines]) => new Set(lines.map((line) => `${callOf(line)} ${line.body}`)).size > 1)
    .map(([key]) => `idempotency key ${key} was used for two calls`)
}
