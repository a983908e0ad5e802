/**
 * The connection to MongoDB: the optional package, its settings, and its errors in the words of the port.
 * It knows no collection.
 */
import type { Db, MongoClient } from 'mongodb'
import { maskSecrets } from '../../failure/mask-secrets.ts'
import { isRepriseError, RepriseError } from '../../failure/reprise-error.ts'

const PACKAGE = 'mongodb'

/** How long to look for a server before a verb gives up; the next pass tries again. */
const SELECTION_MS = 5_000

/** A statement that takes longer is given up: a sweep must not hang on one query. */
const SOCKET_MS = 60_000

export type Library = typeof import('mongodb')

export async function loadLibrary(load: () => Promise<Library> = () => import('mongodb')): Promise<Library> {
  try {
    return await load()
  } catch (cause) {
    throw new RepriseError(
      'mongodb.package',
      `The MongoDB source needs the package ${PACKAGE}, which could not be loaded (${(cause as Error).message.split('\n')[0]}). Install it: npm install ${PACKAGE}`,
      { cause },
    )
  }
}

export function connect(library: Library, url: string): MongoClient {
  try {
    return new library.MongoClient(url, {
      appName: 'reprise-sweep',
      serverSelectionTimeoutMS: SELECTION_MS,
      socketTimeoutMS: SOCKET_MS,
    })
  } catch (cause) {
    throw new RepriseError(
      'mongodb.url',
      `The address ${maskSecrets(url)} is none of MongoDB's: ${maskSecrets((cause as Error).message)}. Allowed is mongodb://<user>@<host>:<port>/.`,
    )
  }
}

/** Resolves when a server answers; a client that found none is let go of, and the next verb makes another. */
export async function connected(client: MongoClient): Promise<void> {
  try {
    await client.connect()
  } catch (error) {
    await client.close().catch(() => undefined)
    throw error
  }
}

/** Acknowledged by a majority and journaled, from the primary: what is written stays, what is read is the latest. */
export function databaseOf(client: MongoClient, name: string): Db {
  return client.db(name, { writeConcern: { w: 'majority', journal: true }, readPreference: 'primary' })
}

export async function reaching<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    if (isRepriseError(cause) || !(cause instanceof Error) || !cause.name.startsWith('Mongo')) throw cause
    const message = maskSecrets(cause.message)
    throw new RepriseError('source.unavailable', `MongoDB cannot be used now: ${message}. The next pass tries again.`, {
      cause,
    })
  }
}
