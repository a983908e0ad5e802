/**
 * Artifacts: outputs that are too large for a row, create-only for ever. This file is the law of the seam; there is no code here.
 *
 * - **One content per name, for ever.** A second put never replaces the first.
 * - **No partial object is visible**, whatever crashes when: a name either answers with whole bytes or is absent.
 * - **Names cannot leave their root.** Each segment is checked by the caller's rule and again by the driver.
 */

export interface Artifacts {
  readonly name: string

  /**
   * Creates the object if the name is free. If it exists with the same fingerprint and its bytes match their hash, the stored object wins
   * and the answer is `reused`; a different fingerprint or a broken hash answers `"conflict"` and touches nothing.
   */
  put(request: PutArtifact): Promise<StoredArtifact | 'conflict'>

  /** The bytes, verified against their hash; `undefined` when absent, `"broken"` when the hash does not match. */
  get(uri: string): Promise<Uint8Array | 'broken' | undefined>

  /**
   * Removes every object whose path begins with these segments, whole segments only; none is no error. It is for retention, of runs that
   * are gone: their names are never used again, so that one content per name stays true. Absent: the driver removes nothing.
   */
  remove?(prefix: readonly string[]): Promise<void>

  close(): Promise<void>
}

export interface PutArtifact {
  /** `<run>/<name>` in generation 1, `<run>/g<generation>/<name>` after. */
  readonly path: readonly string[]
  readonly body: Uint8Array
  /** Of the input that made it: tells a repeat of the same work from a clash of two. */
  readonly fingerprint: string
  readonly contentType?: string
}

export interface StoredArtifact {
  readonly uri: string
  readonly sha256: string
  readonly bytes: number
  readonly reused: boolean
}
