/**
 * `reprise explain`: every decision about a run computed again from its stored inputs, and whether it comes out the same.
 */
import { type Explained, explain, maskRecord } from '../../ops/index.ts'
import { CliError } from '../cli-error.ts'
import type { Register } from '../frame.ts'
import { withExamples, withNotes } from '../help.ts'
import { jsonLine } from '../json-line.ts'
import { wholeNumberOf } from '../number-option.ts'
import { withStore, withStoreFlags } from '../open-store.ts'
import { zoneOf } from '../reader.ts'
import { RUN_HELP, runNamed } from '../run-argument.ts'
import { explainedLines } from '../screens/explained-lines.ts'

const NUMBER_MAX = 1_000_000

export const registerExplain: Register = (program, frame) => {
  const command = program
    .command('explain')
    .helpGroup('Look')
    .summary('computes the decisions about a run again')
    .description(
      'Computes every decision about a run again, from the failure, the time, the dice, the policy and the ledgers stored with it, and says whether it comes out the same.',
    )
    .argument('<run>', RUN_HELP)
    .argument('[attempt]', 'only this attempt', wholeNumberOf('attempt', 1, NUMBER_MAX))
    .option('--generation <n>', 'only this generation', wholeNumberOf('--generation', 1, NUMBER_MAX))
  withStoreFlags(command).action(
    (word: string, attempt: number | undefined, options: { readonly generation?: number }) =>
      withStore(command, frame, { missing: 'refuse' }, async ({ store }) => {
        const { json, out, env } = frame.terminal()
        const zone = zoneOf(env)
        const run = await runNamed(store, word)
        const only = { ...options, ...(attempt === undefined ? {} : { attempt }) }
        const explained = await explain(store, run.id, { ...only, zone })
        if (!explained) return void (await runNamed(store, run.id))
        if (attempt !== undefined && explained.steps.length === 0) throw noAttempt(explained, attempt)
        if (json) out.lines(...explained.steps.map((step) => jsonLine(maskRecord({ run: run.id, ...step }))))
        else out.lines(...explainedLines(explained, out, zone))
        if (explained.verdict === 'different' || explained.ledgers === 'different') frame.fail()
      }),
  )
  withNotes(command, [
    'It ends with exit code 1 when a decision comes out different, or when the ledgers are not what the history adds up to.',
  ])
  withExamples(command, [
    { line: 'reprise explain r42', says: 'all decisions of one run' },
    { line: 'reprise explain r42 3 --json', says: 'one of them, with every input of the decision' },
  ])
}

function noAttempt({ run }: Explained, attempt: number): CliError {
  const has = run.attempt === 0 ? 'none yet' : `attempts 1 to ${run.attempt} in generation ${run.generation}`
  return new CliError({
    code: 'ATTEMPT_UNKNOWN',
    message: `Run ${run.id} has no history of an attempt ${attempt}.`,
    cause: `It has ${has}; a success at the first try leaves no row.`,
    tryThis: `\`reprise show ${run.id}\` tells its story.`,
    exit: 1,
    touched: '',
  })
}
