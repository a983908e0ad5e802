/**
 * Artifacts in memory, for tests and trials: create-only as every driver, and gone with the process.
 */
import { createHash } from 'node:crypto'
import type { Artifacts } from '../../ports/artifacts.ts'

/** One folder or file name on every system: nothing that could lead elsewhere. */
const SEGMENT = /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/
const AMBIGUOUS = /\.\.|\.$|^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i

interface StoredObject {
  readonly bytes: Uint8Array
  readonly sha256: string
  readonly fingerprint: string
}

export function memoryArtifacts(objects: Map<string, StoredObject> = new Map()): Artifacts {
  return {
    name: 'memory',
    put: async ({ path, body, fingerprint }) => {
      const uri = uriOf(path)
      const known = objects.get(uri)
      if (known) {
        if (known.fingerprint !== fingerprint || hashOf(known.bytes) !== known.sha256) return 'conflict'
        return { uri, sha256: known.sha256, bytes: known.bytes.length, reused: true }
      }
      const stored = { bytes: Uint8Array.from(body), sha256: hashOf(body), fingerprint }
      objects.set(uri, stored)
      return { uri, sha256: stored.sha256, bytes: stored.bytes.length, reused: false }
    },
    get: async (uri) => {
      const stored = objects.get(uri)
      if (!stored) return undefined
      return hashOf(stored.bytes) === stored.sha256 ? Uint8Array.from(stored.bytes) : 'broken'
    },
    remove: async (prefix) => {
      const name = uriOf(prefix)
      for (const uri of objects.keys()) if (uri === name || uri.startsWith(`${name}/`)) objects.delete(uri)
    },
    close: async () => {},
  }
}

function uriOf(path: readonly string[]): string {
  const wrong = path.find((segment) => !SEGMENT.test(segment) || AMBIGUOUS.test(segment))
  if (path.length === 0 || wrong !== undefined) {
    const shown = JSON.stringify(wrong?.slice(0, 40) ?? path)
    throw new RangeError(
      `path: ${shown}; allowed are one or more names that match ${SEGMENT.source}, without "..", not ending in "." and no device's`,
    )
  }
  return `memory:${path.join('/')}`
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
