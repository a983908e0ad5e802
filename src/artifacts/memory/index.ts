/**
 * Artifacts in memory, for tests and trials: create-only as every driver, and gone with the process.
 */
import { createHash } from 'node:crypto'
import type { Artifacts } from '../../ports/artifacts.ts'
import { checkPath } from '../artifact-path.ts'

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
  checkPath(path)
  return `memory:${path.join('/')}`
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
