/**
 * What users import as `reprise` and `reprise/…`, and the source it is built from: examples are tested as they stand and never against
 * a build that is older than the code, or just being made.
 */
import { readFileSync } from 'node:fs'

const root = new URL('../../', import.meta.url)

/** `reprise/ai` → `file:///…/src/adapters/ai/index.ts`, for every entry of the package. */
export function faces(): ReadonlyMap<string, string> {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  const entries = Object.entries(exports).flatMap(([name, target]) => {
    if (typeof target === 'string') return []
    const source = target.default.replace(/^\.\/dist\//, 'src/').replace(/\.js$/, '.ts')
    return [[name.replace(/^\./, 'reprise'), new URL(source, root).href] as const]
  })
  return new Map(entries)
}
