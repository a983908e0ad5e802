/**
 * `ctx.artifact`: an output too large for a row, create-only under the run's name.
 * A clash of contents is never resolved here: the stored object stays and a person looks.
 */
import { RepriseError } from '../failure/reprise-error.ts'
import type { StoredArtifact } from '../ports/artifacts.ts'
import { crashPoint } from './crash-point.ts'
import type { Execution } from './execution.ts'
import { hashOf } from './json.ts'

export type ArtifactBody = string | Uint8Array

export interface ArtifactOptions {
  readonly contentType?: string
  /** What it was made from, besides the run's own input. */
  readonly input?: unknown
}

export async function putArtifact(
  execution: Execution,
  name: string,
  body: ArtifactBody,
  options: ArtifactOptions,
): Promise<StoredArtifact> {
  const { run, parts, task } = execution
  const { artifacts } = parts
  if (!artifacts) {
    throw new RepriseError(
      'artifacts.missing',
      `ctx.artifact("${name}") needs a place to keep it: createReprise({ artifacts: folder({ root: './artifacts' }) }).`,
    )
  }
  await parts.keeper.confirm(execution)
  const stored = await artifacts.put({
    path: run.generation === 1 ? [run.id, name] : [run.id, `g${run.generation}`, name],
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    fingerprint: hashOf([task.name, run.input, options.input ?? null]),
    ...(options.contentType === undefined ? {} : { contentType: options.contentType }),
  })
  crashPoint('after-artifact')
  if (stored !== 'conflict') {
    execution.emit('artifact.stored', { artifact: name, uri: stored.uri, bytes: stored.bytes, reused: stored.reused })
    return stored
  }
  const reason = `ARTIFACT_CONFLICT: "${name}" exists with other content or a broken hash; the stored object is untouched`
  throw execution.suspend({ type: 'person', queue: 'review', reason }, reason)
}
