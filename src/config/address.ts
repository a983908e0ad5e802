/**
 * Addresses of stores, artifacts and buses: one line of text in, a driver's name and its parts out.
 * It opens nothing and knows no driver; passwords never appear in what it throws.
 */
import { isAbsolute, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { nearest } from './nearest.ts'
import { shown } from './shown.ts'

export type StoreAddress =
  | { readonly driver: 'sqlite'; readonly file: string }
  | { readonly driver: 'postgres'; readonly url: string }
  | { readonly driver: 'firestore'; readonly project: string; readonly database?: string }
  | { readonly driver: 'memory' }

export type ArtifactsAddress =
  | { readonly driver: 'folder'; readonly folder: string }
  | { readonly driver: 'gcs'; readonly bucket: string; readonly prefix?: string }
  | { readonly driver: 'memory' }

export type BusAddress = { readonly driver: 'memory' } | { readonly driver: 'amqp'; readonly url: string }

const STORES = 'sqlite:<file>, firestore://<project> or memory:'
const ARTIFACTS = 'folder:<path>, gcs://<bucket>/<prefix> or memory:'
const BUSES = 'memory: or amqp://<user>@<host>'

/** Relative files are taken from `folder`. Throws a RangeError that names the field, the value and what is allowed. */
export function parseStore(value: unknown, field: string, folder: string): StoreAddress {
  const { scheme, rest } = split(value, field, STORES)
  switch (scheme) {
    case 'memory':
      return rest === '' ? { driver: 'memory' } : refuse(value, field, 'nothing after memory:')
    case 'sqlite':
      return { driver: 'sqlite', file: rest === ':memory:' ? rest : pathOf(rest, value, field, folder, STORES) }
    case 'postgres':
    case 'postgresql':
      return { driver: 'postgres', url: urlOf(value, field, STORES) }
    case 'firestore': {
      const [, project, database] = /^\/\/([a-z][a-z0-9-]{2,62})(?:\/([a-z0-9()-]{1,63}))?\/?$/.exec(rest) ?? []
      if (project === undefined)
        return refuse(value, field, 'firestore://<project> or firestore://<project>/<database>')
      return { driver: 'firestore', project, ...(database === undefined ? {} : { database }) }
    }
    default:
      return unknownScheme(value, field, scheme, ['sqlite', 'firestore', 'memory'], STORES)
  }
}

export function parseArtifacts(value: unknown, field: string, folder: string): ArtifactsAddress {
  const { scheme, rest } = split(value, field, ARTIFACTS)
  switch (scheme) {
    case 'memory':
      return rest === '' ? { driver: 'memory' } : refuse(value, field, 'nothing after memory:')
    case 'folder':
      return { driver: 'folder', folder: pathOf(rest, value, field, folder, ARTIFACTS) }
    case 'gcs':
    case 'gs': {
      const [, bucket, prefix] = /^\/\/([a-z0-9][a-z0-9._-]{1,221}[a-z0-9])(?:\/([^?#\s]*))?$/.exec(rest) ?? []
      if (bucket === undefined) return refuse(value, field, 'gcs://<bucket> or gcs://<bucket>/<prefix>')
      return { driver: 'gcs', bucket, ...(prefix ? { prefix } : {}) }
    }
    default:
      return unknownScheme(value, field, scheme, ['folder', 'gcs', 'memory'], ARTIFACTS)
  }
}

export function parseBus(value: unknown, field: string): BusAddress {
  const { scheme, rest } = split(value, field, BUSES)
  switch (scheme) {
    case 'memory':
      return rest === '' ? { driver: 'memory' } : refuse(value, field, 'nothing after memory:')
    case 'amqp':
    case 'amqps':
      return { driver: 'amqp', url: urlOf(value, field, BUSES) }
    default:
      return unknownScheme(value, field, scheme, ['memory', 'amqp'], BUSES)
  }
}

/** `memory` alone is clear enough; every other scheme needs something after its colon. */
function split(value: unknown, field: string, allowed: string): { scheme: string; rest: string } {
  if (typeof value !== 'string') return refuse(value, field, allowed)
  if (value === 'memory') return { scheme: 'memory', rest: '' }
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]{0,30}):(.*)$/is.exec(value) ?? []
  return scheme === undefined || rest === undefined
    ? refuse(value, field, allowed)
    : { scheme: scheme.toLowerCase(), rest }
}

function pathOf(rest: string, value: unknown, field: string, folder: string, allowed: string): string {
  if (rest === '' || rest === '//' || rest.includes('\0')) return refuse(value, field, allowed)
  if (rest.startsWith('///')) return fileURLToPath(`file:${rest}`)
  // `sqlite://data/x.db` would take `data` for a host; nobody means that.
  if (rest.startsWith('//')) return refuse(value, field, `${allowed}; a path takes no // before it`)
  return isAbsolute(rest) ? rest : resolve(folder, rest)
}

function urlOf(value: unknown, field: string, allowed: string): string {
  const url = String(value)
  if (!URL.canParse(url) || new URL(url).hostname === '') return refuse(value, field, allowed)
  return url
}

function unknownScheme(
  value: unknown,
  field: string,
  scheme: string,
  known: readonly string[],
  allowed: string,
): never {
  const meant = nearest(scheme, known)
  return refuse(value, field, meant === undefined ? allowed : `${allowed}; did you mean ${meant}:?`)
}

function refuse(value: unknown, field: string, allowed: string): never {
  throw new RangeError(`${field}: ${shown(value)} is not allowed; allowed is ${allowed}`)
}
