/**
 * The story of each run, folded from what the store executed: a plain model of states and leases, independent of any driver.
 * It judges nothing; each step keeps the run as it was before and after, for the invariants to look at.
 */
import type { Change, EndChange } from '../../ports/store.ts'
import type { State } from '../../run/run.ts'
import type { History, Line, StoreLine } from './history.ts'

export interface Holder {
  readonly token: number
  readonly worker: string
  readonly process: string
  readonly alone: boolean
  readonly claimedAt: number
  until: number
}

export interface Model {
  readonly state: State
  readonly generation: number
  readonly attempt: number
  readonly dueAt?: number | undefined
  readonly holder?: Holder | undefined
  readonly endedBy?: number | undefined
  readonly output?: string | undefined
  readonly suspensions: number
}

export type StepKind = 'created' | 'claimed' | 'lapsed' | 'ended' | 'written' | 'refused' | 'cancelled' | 'again'

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
}

const told = new WeakMap<History, ReadonlyMap<string, Story>>()

export function stories(history: History): ReadonlyMap<string, Story> {
  const known = told.get(history)
  if (known) return known
  const made = fold(history)
  told.set(history, made)
  return made
}

interface Draft {
  readonly run: string
  readonly item: number
  readonly steps: StoryStep[]
  last: Model
}

function fold(history: History): ReadonlyMap<string, Story> {
  const drafts = new Map<string, Draft>()
  const nonces = new Set<string>()
  for (const line of history.lines) {
    if (line.log !== 'store') continue
    switch (line.verb) {
      case 'create':
        create(drafts, line)
        break
      case 'claim':
        if (!nonces.has(line.nonce)) expire(drafts, line)
        claim(drafts, line)
        if (line.runs.length > 0) nonces.add(line.nonce)
        break
      case 'renew':
        for (const { run, token } of line.leases) {
          const holder = drafts.get(run)?.last.holder
          if (holder?.token === token && !line.lost.includes(run)) holder.until = line.at + line.leaseMs
        }
        break
      case 'commit':
        commit(drafts.get(line.change.run), line, line.change)
        break
      case 'steer':
        steer(drafts.get(line.act.run), line)
    }
  }
  return drafts
}

const step = (draft: Draft, kind: StepKind, line: StoreLine, after: Model, extra: Partial<StoryStep> = {}): void => {
  draft.steps.push({ kind, line, before: draft.last, after, ...extra })
  draft.last = after
}

const begun = (state: State, generation: number, dueAt?: number): Model => ({
  state,
  generation,
  attempt: 0,
  dueAt,
  suspensions: 0,
})

function create(drafts: Map<string, Draft>, line: Extract<StoreLine, { verb: 'create' }>): void {
  line.runs.forEach((answer, index) => {
    if (answer === 'conflict') return
    const known = drafts.get(answer.id)
    if (!known) {
      const later = line.dueAt !== undefined && line.dueAt > line.at
      const model = begun(later ? 'waiting' : 'ready', answer.generation, later ? line.dueAt : undefined)
      const created: StoryStep = { kind: 'created', line, before: undefined, after: model }
      drafts.set(answer.id, { run: answer.id, item: line.items[index] ?? 0, steps: [created], last: model })
    } else if (answer.generation > known.last.generation) {
      step(known, 'again', line, { ...begun('ready', answer.generation), endedBy: known.last.endedBy })
    }
  })
}

function expire(drafts: Map<string, Draft>, line: StoreLine): void {
  for (const draft of drafts.values()) {
    const from = draft.last.holder
    if (!from || from.until > line.at) continue
    step(draft, 'lapsed', line, { ...draft.last, holder: undefined }, { from, token: from.token })
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

function commit(draft: Draft | undefined, line: Extract<StoreLine, { verb: 'commit' }>, change: Change): void {
  if (!draft) return
  const { token } = change
  // A budget was used up: nothing was written, and nobody lost anything.
  if (line.answer === 'over') return
  if (line.answer === 'lost') step(draft, 'refused', line, draft.last, { token, change })
  else if (change.type === 'end') step(draft, 'ended', line, ended(draft.last, change), { token, change })
  else step(draft, 'written', line, draft.last, { token, change })
}

const ended = (model: Model, change: EndChange): Model => ({
  ...model,
  state: change.state,
  holder: undefined,
  dueAt: change.dueAt,
  endedBy: change.token,
  output: change.output,
  attempt: model.attempt - (change.unstarted ? 1 : 0),
  suspensions: model.suspensions + (change.suspensions ?? 0),
})

function steer(draft: Draft | undefined, line: Extract<StoreLine, { verb: 'steer' }>): void {
  if (!draft || line.answer === 'lost') return
  if (line.act.type === 'cancel') {
    step(draft, 'cancelled', line, { ...draft.last, state: 'cancelled', holder: undefined, dueAt: undefined })
  } else step(draft, 'again', line, { ...begun('ready', draft.last.generation + 1), endedBy: draft.last.endedBy })
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
