/**
 * The store that the configuration names, opened for one command and closed after it; what goes wrong with it ends in exit code 3.
 * The only place of the command line that picks drivers.
 */
import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import type { Command } from 'commander'
import { folder } from '../artifacts/folder/index.ts'
import { memoryArtifacts } from '../artifacts/memory/index.ts'
import type { ArtifactsAddress, StoreAddress } from '../config/address.ts'
import type { Settings } from '../config/config.ts'
import { maskSecrets } from '../failure/mask-secrets.ts'
import { isRepriseError } from '../failure/reprise-error.ts'
import type { Artifacts } from '../ports/artifacts.ts'
import type { Store } from '../ports/store.ts'
import type { Clock } from '../time/clock.ts'
import { CliError, usageError } from './cli-error.ts'
import { type ConfigFlag, configFrom, withConfigFlags } from './config-option.ts'
import type { Frame } from './frame.ts'

/** The flags of every command that opens the store. */
export const STORE_FLAGS: readonly ConfigFlag[] = ['config', 'store']

export const withStoreFlags = (command: Command): Command => withConfigFlags(command, STORE_FLAGS)

export interface StoreUse {
  /** Readers must not leave an empty file behind where somebody mistyped a path. */
  readonly missing: 'refuse' | 'create'
  /** What to say about the runs when the store fails. */
  readonly touched?: string
}

export interface Opened {
  readonly store: Store
  readonly settings: Settings
  /** The store's address as people read it. */
  readonly where: string
}

/** Opens the store, acts, closes it again; trouble with the store is told in one form. */
export async function withStore<Answer>(
  command: Command,
  frame: Frame,
  use: StoreUse,
  act: (opened: Opened) => Promise<Answer>,
): Promise<Answer> {
  const { settings } = await configFrom(command, frame)
  const where = addressText(settings.store, frame.cwd)
  if (use.missing === 'refuse') mustExist(settings.store, where)
  const store = await openStore(settings, frame.clock)
  try {
    return await act({ store, settings, where })
  } catch (error) {
    throw storeTrouble(error, where, use.touched)
  } finally {
    await store.close()
  }
}

/** Loads the driver that is named and no other: a command that lists runs should not wait for code that it does not use. */
export async function openStore(
  { store: address, priority }: Pick<Settings, 'store' | 'priority'>,
  clock: Clock,
): Promise<Store> {
  switch (address.driver) {
    case 'sqlite': {
      const { sqlite } = await import('../stores/sqlite/index.ts')
      return sqlite({ file: address.file, clock, ...priority })
    }
    case 'memory': {
      const { memory } = await import('../stores/memory/index.ts')
      return memory({ clock, ...priority })
    }
    case 'firestore': {
      const { firestore } = await import('../stores/firestore/index.ts')
      return firestore({
        projectId: address.project,
        ...priority,
        ...(address.database === undefined ? {} : { databaseId: address.database }),
      })
    }
    default:
      throw usageError(
        `This version has no driver for ${address.driver}.`,
        'The stores are `sqlite:<file>`, `firestore://<project>` and `memory:`; `reprise config store` shows where the address comes from.',
      )
  }
}

export async function openArtifacts(address: ArtifactsAddress, clock: Clock): Promise<Artifacts> {
  if (address.driver === 'folder') return folder({ root: address.folder, clock })
  if (address.driver === 'memory') return memoryArtifacts()
  const { gcs } = await import('../artifacts/gcs/index.ts')
  return gcs({ bucket: address.bucket, ...(address.prefix === undefined ? {} : { prefix: address.prefix }), clock })
}

/** As people read it: a file relative to here, a URL without its password. */
export function addressText(address: StoreAddress, cwd: string): string {
  switch (address.driver) {
    case 'sqlite': {
      const near = relative(cwd, address.file)
      return `sqlite:${near === '' || near.startsWith('..') ? address.file : near}`
    }
    case 'postgres':
      return maskSecrets(address.url)
    case 'firestore':
      return `firestore://${address.project}`
    case 'memory':
      return 'memory:'
  }
}

function mustExist(address: StoreAddress, where: string): void {
  if (address.driver !== 'sqlite' || address.file === ':memory:' || existsSync(address.file)) return
  throw new CliError({
    code: 'STORE_UNAVAILABLE',
    message: `There is no store at ${where}.`,
    cause: 'there is no such file',
    tryThis: '`reprise submit` makes it; `--store` or REPRISE_STORE names another.',
    exit: 3,
    touched: 'No run was touched.',
  })
}

/** What a store threw, as the command line tells it; every other error as it is. */
export function storeTrouble(error: unknown, where: string, touched = 'No run was touched.'): unknown {
  if (!isRepriseError(error) || !/^(store|sqlite)\./.test(error.code)) return error
  return new CliError({
    code: error.code === 'store.unknown' ? 'STORE_UNKNOWN' : 'STORE_UNAVAILABLE',
    message: `The store cannot be used: ${where}`,
    cause: error.message,
    tryThis:
      error.code === 'store.unknown'
        ? 'Look before repeating: `reprise runs` shows what is there.'
        : '`reprise config store` shows where the address comes from.',
    exit: 3,
    touched,
  })
}
