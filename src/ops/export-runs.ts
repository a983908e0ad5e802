/**
 * `exportRuns`: runs with all that belongs to them, one record at a time, without secrets.
 * A read model; what becomes of the records (lines, a file, an answer over HTTP) is the caller's affair.
 */
import type { Note, RunView, Store } from '../ports/store.ts'
import type { JournalEntry } from '../run/journal.ts'
import type { AttemptRecord } from '../run/run.ts'
import type { RunFilter } from './filter.ts'
import { matchingRuns } from './find-runs.ts'
import { maskRecord } from './mask-record.ts'

/** One line of an export. Inputs, outputs and answers are values, not texts of JSON. */
export interface ExportedRun {
  readonly run: Omit<RunView, 'input' | 'output'> & { readonly input: unknown; readonly output?: unknown }
  readonly attempts: readonly AttemptRecord[]
  readonly journal: readonly (Omit<JournalEntry, 'answer' | 'question'> & {
    readonly generation: number
    readonly answer?: unknown
    readonly question?: unknown
  })[]
  readonly notes: readonly (Note & { readonly at: number })[]
}

/** Newest first. Runs that are added meanwhile are not in it. */
export async function* exportRuns(store: Store, filter: RunFilter): AsyncGenerator<ExportedRun> {
  for await (const run of matchingRuns(store, filter)) yield await exportedRun(store, run)
}

/** The record of one run, as a line of an export has it. */
export async function exportedRun(store: Store, run: RunView): Promise<ExportedRun> {
  return maskRecord(await recordOf(store, run))
}

async function recordOf(store: Store, run: RunView): Promise<ExportedRun> {
  const generations = Array.from({ length: run.generation }, (_, index) => index + 1)
  const [attempts, notes, ...journals] = await Promise.all([
    store.attempts(run.id),
    store.notes({ run: run.id }),
    ...generations.map((generation) => store.journal(run.id, generation)),
  ])
  const { input, output, ...rest } = run
  return {
    run: { ...rest, input: parsed(input), ...(output === undefined ? {} : { output: parsed(output) }) },
    attempts,
    journal: journals.flatMap((entries, index) =>
      entries.map(({ answer, question, ...entry }) => ({
        generation: index + 1,
        ...entry,
        ...(answer === undefined ? {} : { answer: parsed(answer) }),
        ...(question === undefined ? {} : { question: parsed(question) }),
      })),
    ),
    notes,
  }
}

/** Stored texts are JSON by law; one that is not is exported as the text it is, rather than not at all. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
