/**
 * A flow and the links between runs as readers of a store see them.
 * How they are made and moved is said by the verbs of the store.
 */
import type { Failure } from '../failure/failure.ts'
import type { Why } from '../policy/why.ts'
import type { NeedKind } from '../run/need.ts'
import type { State } from '../run/run.ts'

export type FlowRef = { readonly id: string } | { readonly name: string; readonly key: string }

export interface FlowView {
  /** That of its first step's run. */
  readonly id: string
  readonly name: string
  readonly key?: string
  readonly steps: readonly FlowStep[]
}

export interface FlowStep {
  readonly step: string
  readonly run: string
  readonly task: string
  readonly state: State
  readonly generation: number
}

export interface Links {
  readonly needs: readonly NeedLink[]
  readonly dependents: readonly Link[]
}

/** A need as seen from one of its ends: `run` is the other end. */
export interface Link {
  readonly run: string
  readonly task: string
  readonly state: State
  /** Its name, if it is a step. */
  readonly step?: string
  readonly kind: NeedKind
  readonly open: boolean
  /** The join that made it, in which generation of the parent, and which of its children. */
  readonly join?: { readonly name: string; readonly generation: number; readonly index: number }
}

export interface NeedLink extends Link {
  readonly output?: string
  readonly failure?: Failure
  readonly why?: Why
  readonly costUsd: number
}
