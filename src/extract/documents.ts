/**
 * Which documents lie in files and folders: what can be read, what belongs together, and what each is known by.
 * It takes hashes of bytes and reads no text; what a document says is `read-document.ts`.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { RepriseError } from '../failure/reprise-error.ts'

/** One file of a document. */
export interface SourceFile {
  readonly path: string
  readonly sha256: string
  readonly mediaType: string
}

/** A document: one file, or a text and the picture that it was read from. */
export interface SourceDocument {
  /** As people call it: `INV-031`. */
  readonly name: string
  readonly files: readonly SourceFile[]
  /** Of the bytes of all its files. */
  readonly sha256: string
}

const TEXT_TYPES: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.markdown': 'text/markdown',
  '.txt': 'text/plain',
  '.text': 'text/plain',
  '.pdf': 'application/pdf',
}
const IMAGE_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
}

export const ENDINGS: readonly string[] = [...Object.keys(TEXT_TYPES), ...Object.keys(IMAGE_TYPES)]

/** A folder that was meant to be a smaller one is told, not read for an hour. */
const FILES_MAX = 100_000
/** Files that are hashed at a time. */
const HASHED_AT_ONCE = 16

export interface FindOptions {
  /** Paths are relative to it. @default the working folder */
  readonly cwd?: string
}

/**
 * The documents in these files and folders, by name. A folder gives every file in it that can be read; a file that cannot is an error.
 * A text and a picture of one name in one folder are one document.
 * @example const documents = await findDocuments(['invoices', 'late/INV-099.pdf'])
 */
export async function findDocuments(
  paths: readonly string[],
  { cwd = process.cwd() }: FindOptions = {},
): Promise<readonly SourceDocument[]> {
  const files = new Set<string>()
  for (const path of paths) for (const file of await filesIn(resolve(cwd, path), path)) files.add(file)
  if (files.size > FILES_MAX)
    throw new RepriseError('extract.files', `There are ${files.size} files. Allowed: ${FILES_MAX} at a time.`)
  const groups = grouped([...files].sort())
  const stems = new Map<string, number>()
  for (const group of groups) stems.set(stemOf(group[0]), (stems.get(stemOf(group[0])) ?? 0) + 1)
  const documents: SourceDocument[] = []
  for (let start = 0; start < groups.length; start += HASHED_AT_ONCE) {
    const some = groups.slice(start, start + HASHED_AT_ONCE)
    documents.push(
      ...(await Promise.all(
        some.map((group) => documentOf(group, stems.get(stemOf(group[0])) === 1 ? stemOf(group[0]) : undefined, cwd)),
      )),
    )
  }
  return documents
}

type Group = readonly [string, ...string[]]

async function filesIn(path: string, given: string): Promise<readonly string[]> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    throw new RepriseError(
      'extract.path',
      `${given} cannot be read: ${cause.code === 'ENOENT' ? 'there is no such file or folder' : (cause.code ?? cause.message)}.`,
      { cause },
    )
  })
  if (found.isDirectory()) {
    const entries = await readdir(path, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.') && mediaTypeOf(entry.name) !== undefined)
      .map((entry) => join(entry.parentPath, entry.name))
  }
  if (mediaTypeOf(path) === undefined)
    throw new RepriseError(
      'extract.path',
      `${given} cannot be read. Allowed: ${ENDINGS.join(' ')}, or a folder of them.`,
    )
  return [path]
}

/** One text and one picture of the same name are one document; every other file is one by itself. */
function grouped(files: readonly string[]): readonly Group[] {
  const byStem = new Map<string, string[]>()
  for (const file of files) {
    const key = join(dirname(file), stemOf(file))
    byStem.set(key, [...(byStem.get(key) ?? []), file])
  }
  return [...byStem.values()].flatMap((members): Group[] => {
    const texts = members.filter((file) => isText(file))
    const [text, image] = [texts[0], members.find((file) => !isText(file))]
    if (members.length === 2 && texts.length === 1 && text !== undefined && image !== undefined) return [[text, image]]
    return members.map((file) => [file])
  })
}

async function documentOf(group: Group, stem: string | undefined, cwd: string): Promise<SourceDocument> {
  const files = await Promise.all(
    group.map(async (path) => ({ path, sha256: await hashOfFile(path), mediaType: mediaTypeOf(path) ?? '' })),
  )
  const near = relative(cwd, group[0])
  return {
    name: stem ?? (near.startsWith('..') ? group[0] : near),
    files,
    sha256: createHash('sha256')
      .update(files.map(({ sha256, mediaType }) => `${mediaType} ${sha256}`).join('\n'))
      .digest('hex'),
  }
}

async function hashOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

const endingOf = (path: string) => extname(path).toLowerCase()
const stemOf = (path: string) => basename(path, extname(path))
const isText = (path: string) => Object.hasOwn(TEXT_TYPES, endingOf(path))
const mediaTypeOf = (path: string): string | undefined => TEXT_TYPES[endingOf(path)] ?? IMAGE_TYPES[endingOf(path)]
