/**
 * Artifacts in memory as the contract opens them, with a hand on the objects.
 */
import { memoryArtifacts } from '../../src/artifacts/memory/index.ts'
import type { OpenedArtifacts } from '../../src/testing/artifacts-contract.ts'

export type Objects = NonNullable<Parameters<typeof memoryArtifacts>[0]>

export function openMemoryArtifacts(objects: Objects = new Map()): OpenedArtifacts & { readonly objects: Objects } {
  return {
    objects,
    artifacts: memoryArtifacts(objects),
    reopen: () => memoryArtifacts(objects),
    corrupt: (uri) => {
      const object = objects.get(uri)
      if (object) objects.set(uri, { ...object, bytes: Uint8Array.of(...object.bytes, 0) })
    },
    outside: () => [...objects.keys()],
  }
}
