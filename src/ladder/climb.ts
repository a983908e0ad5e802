/**
 * The climb: which step follows from the takes so far. A pure fold over what is stored, so that a handler that runs again comes to the
 * same place; leaving a rung is a state, never an exception. It knows neither prompts nor answers, only what was judged about them.
 */
import type { Rung } from './rung.ts'

/**
 * What a take came to. Of models: `ok` passed the gate, `syntax` could not be read, `empty` said nothing, `truncated` was cut off,
 * `semantic` was refused by the gate, `refused` by the provider, `exhausted` was never sent because a budget is used up, `bug` could
 * not be judged because a rule threw. Of people also: `back` to a rung, `rejected` for good, `overdue`.
 */
export type TakeKind =
  | 'ok'
  | 'syntax'
  | 'empty'
  | 'truncated'
  | 'semantic'
  | 'refused'
  | 'exhausted'
  | 'bug'
  | 'back'
  | 'rejected'
  | 'overdue'

export interface TakeFacts {
  /** Position of its rung. */
  readonly rung: number
  readonly kind: TakeKind
  /** Hash of what was answered. */
  readonly answer?: string
  /** Fingerprint of what is wrong with it: the places and codes. */
  readonly fault?: string
  /** Of `exhausted`: when the window opens again; absent when waiting does not help. */
  readonly until?: number
  /** Of `back`: the position to go on at. */
  readonly to?: number
}

export type LeaveReason = 'spent' | 'no_progress' | 'refused' | 'exhausted' | 'bug' | 'overdue' | 'back' | 'rejected'

/** A change of rungs, made by the latest take. */
export interface Left {
  readonly from: number
  readonly reason: LeaveReason
}

export type Step =
  | {
      readonly do: 'ask'
      readonly rung: number
      /** Number of the take on this rung, over the whole climb. */
      readonly take: number
      /** `first`: nothing was answered so far. `correct`: this rung's own answer. `climb`: earlier rungs' answers. `hint`: a person sent it back. */
      readonly mode: 'first' | 'correct' | 'climb' | 'hint'
      readonly withImage: boolean
      /** Room for the answer, in tokens. */
      readonly maxOutputTokens: number
      /** There is no more room to give: the answer must be shorter. */
      readonly less: boolean
      readonly left?: Left
    }
  | {
      readonly do: 'person'
      readonly rung: number
      readonly round: number
      /** It was told to be overdue already: it stays on the desk, and is not told again. */
      readonly isLate: boolean
      readonly left?: Left
    }
  | { readonly do: 'wait'; readonly rung: number; readonly until: number }
  | { readonly do: 'done'; readonly take: number }
  | { readonly do: 'fail'; readonly left: Left }

export interface ClimbFacts {
  /** An image that joins from the first correction on. */
  readonly hasImage: boolean
  /** The most room that a rung's model can give, in tokens. */
  readonly roomOf: (rung: number) => number
}

/** How often people may send one question back to models, over the whole climb. */
export const BACKS_MAX = 10

type Place =
  | {
      readonly at: 'rung'
      readonly rung: number
      /** Takes since it was entered. */
      readonly used: number
      readonly room: number
      readonly less: boolean
      readonly last?: TakeFacts
      readonly left?: Left
    }
  | { readonly at: 'end'; readonly step: Extract<Step, { readonly do: 'done' | 'fail' | 'wait' }> }

export function climb(rungs: readonly Rung[], takes: readonly TakeFacts[], facts: ClimbFacts): Step {
  let place: Place = enter(rungs, 0)
  let backs = 0
  for (const [index, take] of takes.entries()) {
    if (place.at === 'end') break
    if (take.kind === 'back') backs += 1
    place = after(rungs, place, take, index, { ...facts, backs })
  }
  return stepOf(rungs, place, takes, facts)
}

function stepOf(rungs: readonly Rung[], place: Place, takes: readonly TakeFacts[], facts: ClimbFacts): Step {
  if (place.at === 'end') return place.step
  const { rung, used, room, less, left } = place
  const here = takes.filter((take) => take.rung === rung)
  const before = here.length
  const told = left ? { left } : {}
  if (rungs[rung]?.type === 'person')
    return { do: 'person', rung, round: before + 1, isLate: here.at(-1)?.kind === 'overdue', ...told }
  const answered = takes.some(({ kind }) => kind !== 'exhausted')
  return {
    do: 'ask',
    rung,
    take: before + 1,
    mode: used > 0 ? 'correct' : left?.reason === 'back' ? 'hint' : answered ? 'climb' : 'first',
    withImage: facts.hasImage && answered,
    maxOutputTokens: room,
    less,
    ...told,
  }
}

function enter(rungs: readonly Rung[], rung: number, left?: Left): Place {
  const entered = rungs[rung]
  const room = entered?.type === 'model' ? entered.maxOutputTokens : 0
  return { at: 'rung', rung, used: 0, room, less: false, ...(left ? { left } : {}) }
}

type Standing = Extract<Place, { readonly at: 'rung' }>

function after(
  rungs: readonly Rung[],
  place: Standing,
  take: TakeFacts,
  index: number,
  facts: ClimbFacts & { readonly backs: number },
): Place {
  const rung = rungs[place.rung] as Rung
  const leave = (reason: LeaveReason, to: 'next' | 'person' | number) =>
    leaving(rungs, { from: place.rung, reason }, to)
  switch (take.kind) {
    case 'ok':
      return { at: 'end', step: { do: 'done', take: index } }
    case 'refused':
      return leave('refused', 'person')
    case 'bug':
      // A person whose answer cannot be judged either stays at the desk, within its bound, until the rule is mended.
      return rung.type === 'person' ? again(rungs, place, take, facts) : leave('bug', 'person')
    case 'exhausted':
      return exhausted(rungs, place, take)
    case 'back':
      return facts.backs > BACKS_MAX ? leave('spent', 'next') : leave('back', take.to ?? 0)
    case 'rejected':
      return { at: 'end', step: { do: 'fail', left: { from: place.rung, reason: 'rejected' } } }
    case 'overdue':
      // Without a next rung nobody better is to be had: it stays with the desk, and the caller has told that it is late.
      return place.rung + 1 < rungs.length ? leave('overdue', 'next') : staying(place)
    case 'syntax':
    case 'empty':
    case 'truncated':
    case 'semantic':
      return again(rungs, place, take, facts)
  }
}

function exhausted(rungs: readonly Rung[], place: Standing, { until }: TakeFacts): Place {
  const rung = rungs[place.rung]
  const wanted = rung?.type === 'model' ? rung.onExhausted : 'person'
  if (wanted === 'wait' && until !== undefined) return { at: 'end', step: { do: 'wait', rung: place.rung, until } }
  return leaving(rungs, { from: place.rung, reason: 'exhausted' }, wanted === 'next' ? 'next' : 'person')
}

/** A bad answer: the same rung once more while it has takes left and made progress, else the next. */
function again(rungs: readonly Rung[], place: Standing, take: TakeFacts, { roomOf }: ClimbFacts): Place {
  const rung = rungs[place.rung] as Rung
  const used = place.used + 1
  const left = (reason: LeaveReason) => leaving(rungs, { from: place.rung, reason }, 'next')
  // An answer that was cut off is asked for differently each time, so the same words again are no sign of standing still.
  if (rung.type === 'model' && take.kind !== 'truncated' && isSame(place.last, take)) return left('no_progress')
  if (used >= rung.attempts) return left('spent')
  const stays = staying(place)
  if (take.kind !== 'truncated') return { ...stays, used, last: take }
  const most = Math.max(place.room, roomOf(place.rung))
  return { ...stays, used, last: take, room: Math.min(place.room * 2, most), less: place.less || place.room >= most }
}

/** Once more on the same rung: how it was entered is told already. */
function staying({ left: _entered, ...place }: Standing): Standing {
  return place
}

const isSame = (before: TakeFacts | undefined, now: TakeFacts): boolean =>
  before !== undefined &&
  before.kind === now.kind &&
  before.answer !== undefined &&
  before.answer === now.answer &&
  before.fault === now.fault

function leaving(rungs: readonly Rung[], left: Left, to: 'next' | 'person' | number): Place {
  const position =
    typeof to === 'number'
      ? to
      : rungs.findIndex((rung, index) => index > left.from && (to === 'next' || rung.type === 'person'))
  return rungs[position] ? enter(rungs, position, left) : { at: 'end', step: { do: 'fail', left } }
}
