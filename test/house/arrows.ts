/**
 * Reads the table of rooms in ARCHITECTURE.md and finds imports that it does not allow.
 */
import { posix } from 'node:path'
import type { SourceFile } from './source-files.ts'

type Permission = 'value' | 'types'

/** Room → the rooms it may import from; `null` means anything. */
export type Arrows = ReadonlyMap<string, ReadonlyMap<string, Permission> | null>

/** Rooms whose folders are drivers: siblings behind one port that must not know each other. */
const DRIVER_ROOMS = new Set(['stores', 'artifacts', 'bus', 'sources'])

export function readArrows(markdown: string): Arrows {
  const arrows = new Map<string, ReadonlyMap<string, Permission> | null>()
  for (const line of markdown.split('\n')) {
    const [, room, allowed] = /^\| `(\w+)` +\|.*\| ([^|]*?) +\|$/.exec(line) ?? []
    if (!room || !allowed) continue
    const targets = [...allowed.matchAll(/`(\w+)`( \(types\))?/g)].map(
      ([, target, types]) => [target ?? '', types ? 'types' : 'value'] as const,
    )
    arrows.set(room, allowed === 'anything' ? null : new Map(targets))
  }
  return arrows
}

/** One sentence per import that crosses a wall. Tests and fixtures beside the code may import anything. */
export function wrongArrows(files: readonly SourceFile[], arrows: Arrows): string[] {
  const wrong: string[] = []
  for (const { path, text } of files) {
    const [, room] = /^src\/(\w+)\//.exec(path) ?? []
    if (!room || /\.(test|fixtures)\.ts$/.test(path)) continue
    const allowed = arrows.get(room)
    if (allowed === undefined) {
      wrong.push(`${path}: room "${room}" is not in ARCHITECTURE.md`)
      continue
    }
    for (const [, typesOnly, named, lazy] of importsOf(text)) {
      const target = named ?? lazy
      if (!target?.startsWith('.')) continue
      const targetPath = posix.join(posix.dirname(path), target)
      const [, targetRoom] = /^src\/(\w+)\//.exec(targetPath) ?? []
      if (
        DRIVER_ROOMS.has(room) &&
        targetRoom === room &&
        isDriver(targetPath) &&
        folderOf(path) !== folderOf(targetPath)
      ) {
        wrong.push(`${path} imports ${targetPath}: a driver must not know another`)
      } else if (targetRoom !== room && allowed !== null) {
        const permission = targetRoom && allowed.get(targetRoom)
        if (!permission)
          wrong.push(`${path} imports ${targetPath}: "${room}" may not import "${targetRoom ?? 'the public face'}"`)
        else if (permission === 'types' && !typesOnly)
          wrong.push(`${path} imports ${targetPath}: "${room}" may import only types of "${targetRoom}"`)
      }
    }
  }
  return wrong
}

const importsOf = (text: string) =>
  text.matchAll(/^\s*(?:import|export)(\s+type)?\s[^;'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)

const folderOf = (path: string) => path.split('/').slice(0, 3).join('/')

/** A file of a driver's folder; what lies in the room itself is for all of its drivers. */
const isDriver = (path: string) => path.split('/').length > 3
