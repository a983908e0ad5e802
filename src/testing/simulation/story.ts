/**
 * The story of each run, folded from what the store executed: a plain model of states and leases, independent of any driver.
 * It judges nothing; each step keeps the run as it was before and after, for the invariants to look at.
 */
import type { Change, EndChange } from '../../ports/store.ts'
import { type ConcurrencyKey, isTerminal, type Lane, type State } from '../../run/run.ts'
import { GateFold, type GateStory } from './gate-story.ts'
import { type AskedRun, type History, type Line, only, type StoreLine } from './history.ts'
import { askedOf } from './recorder.ts'
import { beginFlowAgain, type ModelMove, moveDependents, type Need, tie } from './story-needs.ts'

export interface Holder {
  readonly token: number
  readonly worker: string
  readonly process: string
  readonly alone: boolean
  readonly claimedAt: number
  until: number
  /** It is in review, and this is a person's hand. */
  readonly isPerson?: boolean
}

export interface Model {
  readonly state: State
  readonly generation: number
  readonly attempt: number
  readonly lane: Lane
  readonly priority: number
  /** The due time that its place in the order was made with. */
  readonly placedFor?: number | undefined
  readonly dueAt?: number | undefined
  readonly holder?: Holder | undefined
  readonly endedBy?: number | undefined
  readonly output?: string | undefined
  readonly suspensions: number
  /** It vanished together with others. */
  readonly suspect: boolean
  /** Its last try met the trouble of its resource, or was told to wait for it. */
  readonly again: boolean
  /** It ended because a run that it needs ended without success. */
  readonly byNeed: boolean
  readonly finishedAt?: number | undefined
}

export type StepKind =
  | 'created'
  | 'claimed'
  | 'lapsed'
  | 'taken'
  /** A person went away, and it lies on the desk again. */
  | 'returned'
  | 'ended'
  | 'written'
  | 'refused'
  | 'cancelled'
  | 'again'
  | 'moved'
  | 'forwarded'
  | 'unblocked'
  | 'endedByNeed'
  | 'pruned'

export interface StoryStep {
  readonly kind: StepKind
  readonly line: StoreLine
  readonly before: Model | undefined
  readonly after: Model
  /** The token that the operation carried or gave. */
  readonly token?: number
  readonly change?: Change
  /** The holder that a lapse took the run from. */
  readonly from?: Holder
}

export interface Story {
  readonly run: string
  readonly item: number
  readonly steps: readonly StoryStep[]
  readonly last: Model
  /** The run of the first step of its flow. */
  readonly flow: string | undefined
  /** As they stand at the end. */
  readonly needs: readonly Need[]
  readonly dependents: readonly Need[]
}

export interface Draft extends Story {
  readonly steps: StoryStep[]
  last: Model
  readonly needs: Need[]
  readonly dependents: Need[]
  /** What it was submitted into. */
  readonly home: Lane
  readonly submittedAt: number
  /** In the order of creation. */
  readonly number: number
  readonly concurrency: ConcurrencyKey | undefined
}

interface Folded {
  readonly stories: ReadonlyMap<string, Story>
  /** By the line that moved them. */
  readonly moves: ReadonlyMap<number, readonly ModelMove[]>
  readonly gates: GateStory
}

const told = new WeakMap<History, Folded>()

function folded(history: History): Folded {
  const known = told.get(history)
  if (known) return known
  const made = fold(history)
  told.set(history, made)
  return made
}

export const stories = (history: History): ReadonlyMap<string, Story> => folded(history).stories

/** Runs that the end or the retry of another one must have moved, by the line that did. */
export const movesOf = (history: History): ReadonlyMap<number, readonly ModelMove[]> => folded(history).moves

/** What holds, buckets and limits allowed, and what they were asked for. */
export const gateStory = (history: History): GateStory => folded(history).gates

function fold(history: History): Folded {
  const drafts = new Map<string, Draft>()
  const moves = new Map<number, readonly ModelMove[]>()
  const nonces = new Set<string>()
  const gates = new GateFold(history, drafts)
  for (const line of only(history, 'store')) {
    for (const draft of gates.before(line))
      step(draft, 'forwarded', line, { ...draft.last, state: 'ready', dueAt: undefined })
    const moved = apply(drafts, nonces, line)
    if (moved.length > 0) moves.set(line.seq, moved)
    gates.after(line)
  }
  return { stories: drafts, moves, gates: gates.story(history.dump.at) }
}

function apply(drafts: Map<string, Draft>, nonces: Set<string>, line: StoreLine): readonly ModelMove[] {
  switch (line.verb) {
    case 'create':
      return create(drafts, line)
    case 'claim':
      if (!nonces.has(line.nonce)) expire(drafts, line)
      claim(drafts, line)
      if (line.runs.length > 0) nonces.add(line.nonce)
      return []
    case 'renew':
      for (const { run, token } of line.leases) {
        const holder = drafts.get(run)?.last.holder
        if (holder?.token === token && !line.lost.includes(run)) holder.until = line.at + line.leaseMs
      }
      return []
    case 'take':
      take(drafts.get(line.run), line)
      return []
    case 'commit':
      return commit(drafts, line, line.change)
    case 'steer':
      return steer(drafts.get(line.act.run), line)
    case 'reorder':
      reorder(drafts.get(line.move.run), line)
      return []
    case 'prune':
      for (const id of line.pruned) {
        const draft = drafts.get(id)
        if (draft) step(draft, 'pruned', line, draft.last)
      }
      return []
    case 'hold':
    case 'release':
      return []
  }
}

export const step = (
  draft: Draft,
  kind: StepKind,
  line: StoreLine,
  after: Model,
  extra: Partial<StoryStep> = {},
): void => {
  draft.steps.push({ kind, line, before: draft.last, after, ...extra })
  draft.last = after
}

const begun = (
  { lane, priority, placedFor }: Pick<Model, 'lane' | 'priority' | 'placedFor'>,
  generation: number,
): Model => ({
  ...{ state: 'ready', generation, attempt: 0, suspensions: 0, suspect: false, again: false, byNeed: false },
  ...{ lane, priority, placedFor },
})

/** The next generation: in the lane that it was submitted into. */
export const nextGeneration = ({ last, home }: Draft): Model => ({
  ...begun({ ...last, lane: home }, last.generation + 1),
  endedBy: last.endedBy,
})

function create(drafts: Map<string, Draft>, line: Extract<StoreLine, { verb: 'create' }>): ModelMove[] {
  const steps = new Map<string, Draft>()
  const again: Draft[] = []
  const first = line.runs.find((answer) => answer !== 'conflict')
  line.runs.forEach((answer, index) => {
    const asked = line.asked[index]
    if (answer === 'conflict' || !asked) return
    const known = drafts.get(answer.id)
    if (!known) {
      const draft = newDraft(
        answer.id,
        answer.generation,
        drafts.size,
        asked,
        line,
        asked.step === undefined ? undefined : first?.id,
      )
      drafts.set(answer.id, draft)
      if (asked.step !== undefined) steps.set(asked.step, draft)
      tieSteps(draft, asked, steps)
      draft.steps.push({ kind: 'created', line, before: undefined, after: draft.last })
    } else if (answer.generation > known.last.generation && !known.last.byNeed) again.push(known)
  })
  return again.flatMap((draft) => beginFlowAgain(draft, line))
}

function newDraft(
  run: string,
  generation: number,
  number: number,
  { item, lane, priority, dueAt, concurrency }: AskedRun,
  { at }: StoreLine,
  flow?: string,
): Draft {
  const later = dueAt !== undefined && dueAt > at
  const last: Model = {
    ...begun({ lane, priority, placedFor: dueAt }, generation),
    ...(later ? { state: 'waiting', dueAt } : {}),
  }
  const made = { submittedAt: at, number, concurrency }
  return { run, item, flow, steps: [], last, needs: [], dependents: [], home: lane, ...made }
}

function tieSteps(
  draft: Draft,
  { needs = [], onNeedFailed = 'fail' }: AskedRun,
  steps: ReadonlyMap<string, Draft>,
): void {
  for (const name of needs) {
    const needed = steps.get(name)
    if (needed) tie(draft, needed, onNeedFailed)
  }
  if (draft.needs.length > 0) draft.last = { ...draft.last, state: 'blocked', dueAt: undefined, placedFor: undefined }
}

function expire(drafts: Map<string, Draft>, line: StoreLine): void {
  for (const draft of drafts.values()) {
    const from = draft.last.holder
    if (!from || from.until > line.at) continue
    if (from.isPerson) {
      step(draft, 'returned', line, { ...draft.last, holder: undefined }, { from, token: from.token })
      continue
    }
    const suspect = draft.last.suspect || !from.alone
    step(draft, 'lapsed', line, { ...draft.last, suspect, holder: undefined }, { from, token: from.token })
  }
}

function claim(drafts: Map<string, Draft>, line: Extract<StoreLine, { verb: 'claim' }>): void {
  for (const { id, attempt } of line.runs) {
    const draft = drafts.get(id)
    // Asked again with the same nonce: the runs of the first answer, told once more.
    if (!draft || draft.last.holder?.token === line.token) continue
    const { worker, process, alone, at, token } = line
    const holder = { token, worker, process, alone, claimedAt: at, until: at + line.leaseMs }
    step(draft, 'claimed', line, { ...draft.last, state: 'ready', dueAt: undefined, attempt, holder }, { token })
  }
}

function take(draft: Draft | undefined, line: Extract<StoreLine, { verb: 'take' }>): void {
  const { token, by: worker, process, at, leaseMs } = line
  if (!draft || token === undefined) return
  const holder = { token, worker, process, alone: false, claimedAt: at, until: at + leaseMs, isPerson: true }
  step(draft, 'taken', line, { ...draft.last, holder }, { token })
}

function commit(
  drafts: Map<string, Draft>,
  line: Extract<StoreLine, { verb: 'commit' }>,
  change: Change,
): readonly ModelMove[] {
  const draft = drafts.get(change.run)
  if (!draft) return []
  const { token } = change
  // A budget was used up: nothing was written, and nobody lost anything.
  if (line.answer === 'over') return []
  if (line.answer === 'lost') step(draft, 'refused', line, draft.last, { token, change })
  else if (change.type !== 'end') step(draft, 'written', line, draft.last, { token, change })
  else {
    step(draft, 'ended', line, ended(draft.last, change, line.at), { token, change })
    bring(drafts, draft, line, change)
    return isTerminal(change.state) ? moveDependents(draft, line) : []
  }
  return []
}

/** The runs that begin with an end. */
function bring(
  drafts: Map<string, Draft>,
  parent: Draft,
  line: Extract<StoreLine, { verb: 'commit' }>,
  { join, children = [] }: EndChange,
): void {
  const asked = join?.children ?? children
  line.created?.forEach((answer, index) => {
    const child = asked[index]
    if (answer === 'conflict' || !child || drafts.has(answer.id)) return
    const draft = newDraft(answer.id, answer.generation, drafts.size, askedOf(child), line)
    draft.steps.push({ kind: 'created', line, before: undefined, after: draft.last })
    drafts.set(answer.id, draft)
    if (join) tie(parent, draft, 'join', { name: join.name, generation: parent.last.generation, index })
  })
}

const ended = (model: Model, change: EndChange, at: number): Model => ({
  ...model,
  state: change.state,
  holder: undefined,
  dueAt: change.dueAt,
  endedBy: change.token,
  output: change.output,
  lane: change.lane ?? model.lane,
  attempt: model.attempt - (change.unstarted ? 1 : 0),
  suspensions: model.suspensions + (change.suspensions ?? 0),
  suspect: change.unstarted ? model.suspect : false,
  again: change.unstarted ? model.again : (change.again ?? change.trouble !== undefined),
  finishedAt: isTerminal(change.state) ? at : undefined,
})

function steer(draft: Draft | undefined, line: Extract<StoreLine, { verb: 'steer' }>): readonly ModelMove[] {
  if (!draft || line.answer === 'lost') return []
  if (line.act.type === 'retry') return beginFlowAgain(draft, line)
  const gone = { holder: undefined, dueAt: undefined, suspect: false, finishedAt: line.at }
  step(draft, 'cancelled', line, { ...draft.last, ...gone, state: 'cancelled' })
  return moveDependents(draft, line)
}

function reorder(draft: Draft | undefined, line: Extract<StoreLine, { verb: 'reorder' }>): void {
  if (!draft || line.answer === 'lost') return
  const { priority = draft.last.priority, dueAt } = line.move
  // Some claim has found the person overdue, or the move would have been refused.
  const found = draft.last.state === 'review' ? ({ state: 'ready', dueAt: undefined } as const) : {}
  const waits = dueAt !== undefined && dueAt > line.at
  // Its time is the operator's from now on, and no longer a wait for its resource.
  const place =
    dueAt === undefined
      ? {}
      : ({ state: waits ? 'waiting' : 'ready', dueAt: waits ? dueAt : undefined, again: false } as const)
  step(draft, 'moved', line, { ...draft.last, priority, placedFor: dueAt ?? draft.last.placedFor, ...found, ...place })
}

/** The run as it was when `line` happened. */
export function modelAt({ steps }: Story, line: Pick<Line, 'seq'>): Model | undefined {
  let model: Model | undefined
  for (const each of steps) {
    if (each.line.seq > line.seq) break
    model = each.after
  }
  return model
}

/** The step in which a token was given. */
export const claimOf = ({ steps }: Story, token: number): StoryStep | undefined =>
  steps.find((each) => each.kind === 'claimed' && each.token === token)

/** The end that a token wrote, if the store took it. */
export const endOf = ({ steps }: Story, token: number): StoryStep | undefined =>
  steps.find((each) => each.kind === 'ended' && each.token === token)
