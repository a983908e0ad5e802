/**
 * A request to a model, freed of the provider's format: what was asked, of whom, with which pictures and in which shape.
 * The wires make it; the rest of the simulator knows nothing of Gemini or OpenAI.
 */

export interface Picture {
  readonly mediaType: string
  /** Of the decoded bytes, lower-case hex. */
  readonly sha256: string
  readonly bytes: number
}

export interface Question {
  readonly model: string
  /** Texts of the user's turns, in order; the document is in one of them. */
  readonly texts: readonly string[]
  readonly system: string
  readonly pictures: readonly Picture[]
  /** JSON Schema of the answer, if one was given. */
  readonly schema: unknown
  readonly maxOutputTokens: number | undefined
  readonly isStreamed: boolean
}

/** What came of it, again without a format. */
export interface Reply {
  readonly text: string
  readonly end: 'stop' | 'length' | 'blocked-prompt' | 'blocked-answer'
  readonly tokens: Tokens
}

export interface Tokens {
  readonly input: number
  readonly images: number
  readonly output: number
  readonly thoughts: number
}
