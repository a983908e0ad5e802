/**
 * What a person is asked, and what they may answer: the data between a handler, the journal and the desk.
 * It knows neither who asks nor how the desk shows it.
 */

/** What is wrong with a value. Paths, codes and our own words only: never the words of a document. */
export interface Issue {
  /** JSON pointer; empty for the whole value. */
  readonly path: string
  readonly code: string
  readonly message: string
}

/** What a rung answered before the person was asked, and what was wrong with it. */
export interface RungAnswer {
  readonly rung: string
  readonly take: number
  readonly text?: string
  readonly value?: unknown
  readonly issues: readonly Issue[]
}

export interface AskedDocument {
  readonly text?: string
  readonly uri?: string
  readonly mediaType?: string
  readonly sha256?: string
}

export interface Question {
  /** Names the thing that is asked about: `Invoice 4711`. */
  readonly title: string
  /** Why a person is asked. */
  readonly reason: string
  /** JSON Schema that the answer must pass. Absent: any JSON. */
  readonly schema?: unknown
  /** The best answer so far: what accepting means. */
  readonly draft?: unknown
  /** What is wrong with the draft. */
  readonly issues?: readonly Issue[]
  readonly answers?: readonly RungAnswer[]
  readonly document?: AskedDocument
  readonly hint?: string
  /** Rungs that it may be sent back to. @default those of the answers */
  readonly rungs?: readonly string[]
}

interface By {
  /** Who. */
  readonly by: string
  /** When, store time. */
  readonly at: number
}

export type Reply =
  | ({ readonly act: 'answer'; readonly value: unknown; readonly how: 'accepted' | 'corrected' } & By)
  | ({ readonly act: 'back'; readonly to?: string; readonly hint: string } & By)
  | ({ readonly act: 'reject'; readonly reason: string } & By)
  /** Nobody answered in time. */
  | { readonly act: 'overdue'; readonly since: number }

/** Questions share the journal with calls; no call's input hashes to what begins like this. */
export const PERSON_HASH = 'person:'

export const rungsOf = ({ rungs, answers = [] }: Question): readonly string[] =>
  rungs ?? [...new Set(answers.map(({ rung }) => rung))]
