/** Artifacts that are kept wrongly: each takes the intact driver and gives the verbs that it breaks. */
import { memoryArtifacts } from '../../../src/artifacts/memory/index.ts'
import type { Artifacts } from '../../../src/ports/artifacts.ts'
import type { OpenedArtifacts } from '../../../src/testing/artifacts-contract.ts'
import { type Objects, openMemoryArtifacts } from '../memory-artifacts.fixtures.ts'
import { gap } from './bench.ts'

type ArtifactsSabotage = (
  artifacts: Artifacts,
  objects: Objects,
) => Partial<Artifacts> & { readonly reopen?: () => Artifacts }

const uriOf = (path: readonly string[]) => `memory:${path.join('/')}`

export const artifactsShelf: Readonly<Record<string, ArtifactsSabotage>> = {
  'wrong-hash': (artifacts) => ({
    put: async (request) => {
      const stored = await artifacts.put(request)
      return stored === 'conflict' ? stored : { ...stored, sha256: stored.sha256.toUpperCase() }
    },
  }),
  replaces: (artifacts, objects) => ({
    put: (request) => {
      objects.delete(uriOf(request.path))
      return artifacts.put(request)
    },
  }),
  'fingerprint-ignored': (artifacts) => ({ put: (request) => artifacts.put({ ...request, fingerprint: '' }) }),
  'hash-unchecked': (_artifacts, objects) => ({ get: async (uri) => objects.get(uri)?.bytes }),
  'check-then-write': (artifacts, objects) => ({
    put: async (request) => {
      const free = !objects.has(uriOf(request.path))
      await gap()
      if (free) objects.delete(uriOf(request.path))
      return artifacts.put(request)
    },
  }),
  'last-segment-only': (artifacts) => ({
    put: (request) => artifacts.put({ ...request, path: request.path.slice(-1) }),
  }),
  'text-only': (artifacts) => ({
    put: (request) =>
      artifacts.put({ ...request, body: new TextEncoder().encode(new TextDecoder().decode(request.body)) }),
  }),
  'absent-is-empty': (artifacts) => ({ get: async (uri) => (await artifacts.get(uri)) ?? new Uint8Array(0) }),
  'names-unchecked': (artifacts, objects) => ({
    put: async (request) =>
      artifacts.put(request).catch(() => {
        objects.set(uriOf(request.path), { bytes: request.body, sha256: '', fingerprint: request.fingerprint })
        return { uri: uriOf(request.path), sha256: '', bytes: request.body.length, reused: false }
      }),
  }),
  'uris-unchecked': (artifacts) => ({
    get: async (uri) => (uri.endsWith('/etc/passwd') ? new Uint8Array(1) : artifacts.get(uri)),
  }),
  'bytes-shared': (artifacts, objects) => ({
    put: async (request) => {
      const stored = await artifacts.put(request)
      const object = objects.get(uriOf(request.path))
      if (object) objects.set(uriOf(request.path), { ...object, bytes: request.body })
      return stored
    },
  }),
  'removes-by-text': (_artifacts, objects) => ({
    remove: async (prefix) => {
      for (const uri of objects.keys()) if (uri.startsWith(uriOf(prefix))) objects.delete(uri)
    },
  }),
  'removes-nothing': () => ({ remove: async () => {} }),
  'forgets-at-close': () => ({ reopen: () => memoryArtifacts() }),
}

/** Artifacts in memory with one fault. */
export function openBrokenArtifacts(sabotage: ArtifactsSabotage): OpenedArtifacts {
  const intact = openMemoryArtifacts()
  const { reopen = intact.reopen, ...broken } = sabotage(intact.artifacts, intact.objects)
  return { ...intact, artifacts: { ...intact.artifacts, ...broken }, reopen }
}
