/**
 * Artifacts in memory for the simulation, create-only, with a log of every put. It answers through the process that asked.
 */
import { createHash } from 'node:crypto'
import type { Artifacts, PutArtifact, StoredArtifact } from '../../ports/artifacts.ts'
import type { Recorder } from './recorder.ts'
import type { SimProcess } from './sim-process.ts'

export class ArtifactShelf {
  readonly objects = new Map<
    string,
    { readonly sha256: string; readonly fingerprint: string; readonly body: Uint8Array }
  >()
  readonly #recorder: Recorder

  constructor(recorder: Recorder) {
    this.#recorder = recorder
  }

  /** The shelf as one process reaches it. */
  for(process: SimProcess): Artifacts {
    const answer = <T>(value: T): Promise<T> => new Promise((resolve) => process.deliver(1, () => resolve(value)))
    return {
      name: 'shelf',
      put: (request) => (process.alive ? answer(this.#put(process.name, request)) : new Promise(() => {})),
      get: (uri) => answer(this.objects.get(uri)?.body),
      close: async () => {},
    }
  }

  #put(process: string, { path, body, fingerprint }: PutArtifact): StoredArtifact | 'conflict' {
    const uri = path.join('/')
    const known = this.objects.get(uri)
    const sha256 = known?.sha256 ?? createHash('sha256').update(body).digest('hex')
    const reused = known !== undefined
    const told = reused && known.fingerprint !== fingerprint ? 'conflict' : reused ? 'reused' : 'created'
    this.#recorder.note({ log: 'artifact', process, path: uri, answer: told, sha256 })
    if (told === 'conflict') return 'conflict'
    if (!reused) this.objects.set(uri, { sha256, fingerprint, body })
    return { uri, sha256, bytes: (known?.body ?? body).length, reused }
  }
}
