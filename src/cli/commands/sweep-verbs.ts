/**
 * The operators' verbs of `reprise sweep`: look at documents, begin them again, export and purge, and the queues of failed messages.
 */
import type { SourceDocument } from '../../ports/source.ts'
import { sentenceOf } from '../../run/event.ts'
import type { Collection } from '../../sweep/collection.ts'
import { sweepGroups } from '../../sweep/groups.ts'
import {
  type Acted,
  actOn,
  type ExportLine,
  exportDocuments,
  purgeExported,
  type Selection,
  selected,
} from '../../sweep/operate.ts'
import { peekQueue, purgeQueue, type QueueLine, queueDepths, requeueQueue } from '../../sweep/queues.ts'
import { collectionNamed, type Sweep } from '../../sweep/sweep.ts'
import { scheduleOf } from '../../sweep/verdict.ts'
import { briefDuration, parseDuration } from '../../time/duration.ts'
import { usageError } from '../cli-error.ts'
import { exportLines } from '../export-lines.ts'
import type { Frame } from '../frame.ts'
import { jsonLine } from '../json-line.ts'
import { openSink } from '../line-sink.ts'
import { actorOf, zoneOf } from '../reader.ts'
import { groupLines } from '../screens/group-lines.ts'
import { actedLines, auditLines, documentLines, passLines } from '../screens/sweep-lines.ts'
import { table } from '../terminal/table.ts'
import { shown } from '../terminal/text.ts'

export const SWEEP_VERBS = [
  'status',
  'stuck',
  'failed',
  'groups',
  'requeue',
  'reset',
  'schedule',
  'export',
  'purge',
  'queue',
  'audit',
] as const

export type SweepVerb = (typeof SWEEP_VERBS)[number]

export const isSweepVerb = (word: string): word is SweepVerb => SWEEP_VERBS.some((verb) => verb === word)

export interface SweepVerbOptions {
  readonly dryRun?: boolean
  readonly collection?: string
  readonly of?: string
  readonly code?: string
  readonly group?: string
  readonly at?: number | string
  readonly spread?: number
  readonly out?: string
  readonly from?: string
  readonly limit?: number
  readonly yes?: boolean
  readonly by?: string
}

const LIST_ROWS = 50

/** What a filter begins again comes back over so long: those who named a document want it now. */
const SPREAD_MS = 5 * 60_000

export async function runSweepVerb(
  sweep: Sweep,
  verb: SweepVerb,
  words: readonly string[],
  options: SweepVerbOptions,
  frame: Frame,
): Promise<void> {
  switch (verb) {
    case 'status':
      return status(sweep, words[0] ?? options.collection, frame)
    case 'stuck':
    case 'failed':
      return list(sweep, verb, words, options, frame)
    case 'groups':
      return groups(sweep, words[0] ?? options.collection, frame)
    case 'requeue':
    case 'reset':
    case 'schedule':
      return act(sweep, verb, words, options, frame)
    case 'export':
      return exporting(sweep, words, options, frame)
    case 'purge':
      return purge(sweep, words, options, frame)
    case 'queue':
      return queue(sweep, words, options, frame)
    case 'audit':
      return audit(sweep, options.limit ?? LIST_ROWS, frame)
  }
}

async function status(sweep: Sweep, name: string | undefined, frame: Frame): Promise<void> {
  const { json, out, err, env } = frame.terminal()
  const wanted = name === undefined ? sweep.collections : [collectionNamed(sweep.collections, name)]
  // Throws when the source is away: a table of noughts would say that all is well.
  await sweep.source.now()
  sweep.on('sweep.trouble', (event) => err.lines(err.text(sentenceOf(event, zoneOf(env)))))
  const report = await sweep.pass({ dryRun: true, ...(name === undefined ? {} : { collection: name }) })
  if (!report.ok) frame.fail()
  const schedules = wanted.map((collection) => ({
    collection: collection.shape.name,
    maxAttempts: collection.policy.maxAttempts,
    delaysMs: scheduleOf(collection),
    stuckAgeMs: collection.stuckAgeMs,
  }))
  if (json) {
    out.lines(jsonLine({ report, schedules }))
    return
  }
  const rows = schedules.map(({ collection, maxAttempts, delaysMs, stuckAgeMs }) => [
    out.text(collection),
    String(maxAttempts),
    delaysMs.map(briefDuration).join(', ') || 'none',
    briefDuration(stuckAgeMs),
  ])
  const columns = [
    { header: 'collection' },
    { header: 'attempts' },
    { header: 'delays', flexible: true },
    { header: 'stuck after' },
  ]
  out.lines(...passLines(report, out), '', ...table(out, columns, rows))
}

async function list(
  sweep: Sweep,
  of: 'stuck' | 'failed',
  words: readonly string[],
  options: SweepVerbOptions,
  frame: Frame,
): Promise<void> {
  const { json, out, human, quiet, env } = frame.terminal()
  const limit = options.limit ?? LIST_ROWS
  const name = words[0] ?? options.collection
  const wanted = name === undefined ? sweep.collections : [collectionNamed(sweep.collections, name)]
  const found: (SourceDocument & { readonly collection: string })[] = []
  for (const collection of wanted) {
    const selection = { ...selectionOf(collection, words.slice(1), options), of }
    for await (const document of selected(sweep, selection)) {
      if (found.length >= limit) break
      found.push({ ...document, collection: collection.shape.name })
    }
  }
  if (json) out.lines(...found.map(({ key: _key, ...document }) => jsonLine(document)))
  else if (found.length > 0) out.lines(...documentLines(found, out, zoneOf(env), await sweep.source.now()))
  if (found.length === 0 && !quiet)
    human.lines(of === 'stuck' ? 'No document is stuck.' : 'No document has failed for good.')
  else if (found.length >= limit && !quiet) human.lines(`The first ${limit}; \`--limit\` shows more.`)
}

async function groups(sweep: Sweep, collection: string | undefined, frame: Frame): Promise<void> {
  const { json, out, human, quiet, env } = frame.terminal()
  const found = await sweepGroups(sweep, collection)
  if (json) out.lines(...found.map((group) => jsonLine(group)))
  else if (found.length > 0) out.lines(...groupLines(found, out, zoneOf(env), await sweep.source.now()))
  else if (!quiet) human.lines('Nothing has failed.')
}

async function act(
  sweep: Sweep,
  verb: 'requeue' | 'reset' | 'schedule',
  words: readonly string[],
  options: SweepVerbOptions,
  frame: Frame,
): Promise<void> {
  const [name = options.collection, ...ids] = words
  if (name === undefined)
    throw usageError(`Of which collection is there something to ${verb}?`, `\`reprise sweep ${verb} archives a-17\``)
  const at = verb === 'schedule' ? await momentIn(sweep, options.at) : undefined
  const selection = selectionOf(collectionNamed(sweep.collections, name), ids, options)
  // Named documents are acted on at once; a filter is looked at first. Someone who names a document need not know its state.
  const dryRun = options.dryRun ?? (ids.length === 0 && options.yes !== true)
  const by = actorOf(options.by, frame.terminal().env)
  const choose = {
    by,
    dryRun,
    ...(at === undefined ? {} : { at }),
    spreadMs: options.spread ?? (ids.length > 0 ? 0 : SPREAD_MS),
  }
  // Open ones first: what failed for good is open afterwards, and would be found a second time.
  const selections: Selection[] =
    ids.length > 0 && options.of === undefined
      ? [
          { ...selection, of: 'open' },
          { ...selection, of: 'failed' },
        ]
      : [selection]
  const done: Acted[] = []
  for (const each of selections) done.push(await actOn(sweep, verb, each, choose))
  tell(merged(done), frame, ids.length, choose.spreadMs)
}

function merged(acts: readonly Acted[]): Acted {
  const [first] = acts as readonly [Acted, ...Acted[]]
  const sum = (of: (acted: Acted) => number) => acts.reduce((total, each) => total + of(each), 0)
  const ids = acts.flatMap((each) => each.ids)
  return {
    ...first,
    matched: sum((each) => each.matched),
    done: sum((each) => each.done),
    lost: sum((each) => each.lost),
    ids,
  }
}

function tell(acted: Acted, frame: Frame, named = 0, spreadMs = 0): void {
  const { json, out } = frame.terminal()
  if (json) out.lines(jsonLine(acted))
  else out.lines(...actedLines(acted, out, spreadMs))
  if (!acted.dryRun && acted.done < named) frame.fail()
}

async function momentIn(sweep: Sweep, at: number | string | undefined): Promise<number> {
  if (at === undefined) throw usageError('When is the retry to be?', '`--at 2h`, or `--at 2026-11-16T08:00:00Z`.')
  return typeof at === 'number' ? at : (await sweep.source.now()) + parseDuration(at, '--at')
}

async function exporting(
  sweep: Sweep,
  words: readonly string[],
  options: SweepVerbOptions,
  frame: Frame,
): Promise<void> {
  const [name = options.collection, ...ids] = words
  if (name === undefined)
    throw usageError('Which collection is to be exported?', '`reprise sweep export archives --out failed.jsonl`')
  const selection = selectionOf(collectionNamed(sweep.collections, name), ids, options)
  await using sink = await openSink(options.out, frame)
  let count = 0
  for await (const line of exportDocuments(sweep, selection)) {
    await sink.line(jsonLine(line))
    count += 1
  }
  const { quiet, human } = frame.terminal()
  if (options.out !== undefined && !quiet)
    human.lines(human.text(`${count} ${count === 1 ? 'document' : 'documents'} in ${options.out}.`))
}

async function purge(sweep: Sweep, words: readonly string[], options: SweepVerbOptions, frame: Frame): Promise<void> {
  const [name = options.collection] = words
  const { from } = options
  if (name === undefined || from === undefined)
    throw usageError(
      'A purge deletes only what an export named.',
      '`reprise sweep export archives --out failed.jsonl`, then `reprise sweep purge archives --from failed.jsonl`.',
    )
  // Read to its end before anything is deleted by it.
  const lines = await exportLines<ExportLine>(from, frame.cwd, ['collection', 'id', 'rev'])
  const by = actorOf(options.by, frame.terminal().env)
  tell(
    await purgeExported(sweep, collectionNamed(sweep.collections, name), lines, { by, dryRun: options.yes !== true }),
    frame,
  )
}

async function queue(sweep: Sweep, words: readonly string[], options: SweepVerbOptions, frame: Frame): Promise<void> {
  const { json, out, err, env, quiet, human } = frame.terminal()
  const [verb = 'list', name] = words
  const dryRun = options.yes !== true
  const by = actorOf(options.by, env)
  const needed = (): string => {
    if (name !== undefined) return name
    throw usageError(
      `Which queue is to be ${verb === 'list' ? 'listed' : `${verb}d`}?`,
      `\`reprise sweep queue ${verb} parsing.failed\``,
    )
  }
  switch (verb) {
    case 'list': {
      if (name === undefined) {
        const depths = await queueDepths(sweep)
        if (json) out.lines(...depths.map((each) => jsonLine(each)))
        else
          out.lines(
            ...table(
              out,
              [{ header: 'queue' }, { header: 'messages', align: 'right' }],
              depths.map((each) => [out.text(each.queue), String(each.messages)]),
            ),
          )
        return
      }
      const { lines, beyond } = await peekQueue(sweep, name, options.limit ?? LIST_ROWS)
      if (json) out.lines(...lines.map((line) => jsonLine(line)))
      else if (lines.length === 0 && !quiet) human.lines(human.text(`No message is in ${name}.`))
      else if (lines.length > 0)
        out.lines(
          ...table(
            out,
            [
              { header: 'message', usual: 36 },
              { header: 'body', flexible: true },
            ],
            lines.map(({ id, body }) => [out.text(id), out.text(body)]),
          ),
        )
      if (beyond > 0 && !quiet) human.lines(`The first ${lines.length}, and ${beyond} more; \`--limit\` shows more.`)
      return
    }
    case 'export': {
      const { lines, beyond } = await peekQueue(sweep, needed())
      await using sink = await openSink(options.out, frame)
      for (const line of lines) await sink.line(jsonLine(line))
      if (options.out !== undefined && !quiet) human.lines(human.text(`${messages(lines.length)} in ${options.out}.`))
      // Told whatever was asked for: an export that is not all of it must not be taken for all.
      if (beyond > 0) err.lines(`${beyond} more lie in the queue: purge or requeue these first, then export again.`)
      return
    }
    case 'requeue':
    case 'purge': {
      const queueName = needed()
      if (verb === 'purge' && options.from === undefined)
        throw usageError(
          'A purge deletes only what an export named.',
          `\`reprise sweep queue export ${queueName} --out messages.jsonl\``,
        )
      const spreadMs = options.spread ?? SPREAD_MS
      const acted =
        verb === 'requeue'
          ? await requeueQueue(sweep, queueName, { dryRun, by, spreadMs })
          : await purgeQueue(
              sweep,
              queueName,
              await exportLines<QueueLine>(options.from ?? '', frame.cwd, ['id', 'sha256']),
              { dryRun, by },
            )
      if (json) out.lines(jsonLine(acted))
      else
        out.lines(
          dryRun
            ? `Would ${verb} ${messages(acted.matched)} of ${out.text(queueName)}. Nothing has changed yet; add --yes to do it.`
            : `${messages(acted.done)} of ${out.text(queueName)} ${acted.done === 1 ? 'is' : 'are'} ${verb}d; ${acted.left} ${acted.left === 1 ? 'stays' : 'stay'}.`,
        )
      return
    }
    default:
      throw usageError(`${shown(verb)} is not a verb of queues.`, 'list, export, requeue, purge.')
  }
}

/** What operators did, the newest first. */
async function audit(sweep: Sweep, limit: number, frame: Frame): Promise<void> {
  const { json, out, human, quiet, env } = frame.terminal()
  const notes = await sweep.source.notes(limit)
  if (json) out.lines(...notes.map((note) => jsonLine(note)))
  else if (notes.length > 0) out.lines(...auditLines(notes, out, zoneOf(env), await sweep.source.now()))
  else if (!quiet) human.lines('Nobody has done anything yet.')
}

const messages = (count: number): string => `${count} ${count === 1 ? 'message' : 'messages'}`

function selectionOf(collection: Collection, ids: readonly string[], { of, code, group }: SweepVerbOptions): Selection {
  if (of !== undefined && of !== 'failed' && of !== 'open' && of !== 'stuck')
    throw usageError(`--of ${shown(of)} is not allowed.`, 'failed, open or stuck.')
  const filter = {
    ...(ids.length > 0 ? { ids } : {}),
    ...(code === undefined ? {} : { code }),
    ...(group === undefined ? {} : { fingerprint: group }),
  }
  return {
    collection,
    ...(of === undefined ? {} : { of }),
    ...(Object.keys(filter).length > 0 ? { filter } : {}),
  }
}
