/**
 * `reprise plan`: what would happen to an error under a policy, step by step, before anything happens.
 * It asks the policy room for the plan and shows it; nothing is called and nothing is stored.
 */
import { classify } from '../../failure/classify.ts'
import { type Failure, KINDS, type Kind } from '../../failure/failure.ts'
import { CHEAP, STRONG } from '../../ladder/ladder.ts'
import { type PlanOptions, type Policy, plan, REVIEW } from '../../policy/index.ts'
import { usageError } from '../cli-error.ts'
import { shapeForDocument } from '../document-price.ts'
import type { Frame, Register } from '../frame.ts'
import { withExamples } from '../help.ts'
import { parseInstant } from '../instant.ts'
import { jsonLine } from '../json-line.ts'
import { durationOf } from '../number-option.ts'
import { POLICY_HELP, policyFrom } from '../policy-option.ts'
import { readJson } from '../read-json-file.ts'
import { rulesFrom } from '../rules-option.ts'
import { planLines } from '../show-plan.ts'
import { shown } from '../terminal/text.ts'
import { oneOf } from '../word-option.ts'
import { ladderOf } from './extract.ts'

interface Options {
  readonly kind?: Kind
  readonly policy: string
  readonly told?: number
  readonly deadline?: number
  readonly now?: number
  readonly rules?: string
  readonly document?: string
  readonly schema?: string
  readonly models: string
}

export const registerPlan: Register = (program, frame) => {
  const command = program
    .command('plan')
    .helpGroup('Understand failures')
    .summary('what would happen to an error under a policy')
    .description(
      'Prints the whole schedule for an error that does not go away: every try with its time, what counts against which bound, the most calls and money it can take, and where a person gets it. Nothing is called.',
    )
    .argument('[error]', 'a file with one error as JSON, or `-` for stdin')
    .option('--kind <kind>', `any failure of a kind instead of an error: ${KINDS.join(', ')}`, oneOf('kind', KINDS))
    .option('--policy <policy>', POLICY_HELP, 'daemon')
    .option('--told <duration>', 'as if told to wait so long, such as 30s', durationOf('--told'))
    .option('--deadline <duration>', 'nothing starts later than this, such as 15m', durationOf('--deadline'))
    .option('--now <instant>', 'when it fails first: epoch milliseconds or ISO 8601', parseInstant)
    .option('--rules <module>', 'a module that exports rules of your own; they are asked first')
    .option('--document <file>', 'with what it costs at worst for this document, as `reprise extract` asks about it')
    .option('--schema <file>', 'with --document: the JSON Schema that is sent along')
    .option('--models <ids>', 'with --document: from cheap to strong, joined by commas', `${CHEAP},${STRONG}`)
    .action((error: string | undefined, options: Options) => showPlan(error, options, frame))
  withExamples(command, [
    { line: 'reprise plan --kind transient --policy daemon', says: 'a stored run whose service is down' },
    { line: 'reprise plan error.json --policy extraction', says: 'one real error on the way from model to person' },
    {
      line: 'reprise plan e.json --policy extraction --document a.pdf',
      says: 'what a document can cost that no model gets right',
    },
    { line: `echo '{"status":429}' | reprise plan - --told 20s --json`, says: 'the same as data' },
  ])
}

async function showPlan(error: string | undefined, options: Options, frame: Frame): Promise<void> {
  const terminal = frame.terminal()
  const policy = await pricedPolicy(options, frame.cwd)
  const now = options.now ?? frame.clock.now()
  const subject = await subjectOf(error, options, frame, now)
  const planOptions: PlanOptions = {
    now,
    ...(options.told === undefined ? {} : { retryAfterMs: options.told }),
    ...(options.deadline === undefined ? {} : { deadlineAt: now + options.deadline }),
  }
  const planned = plan(subject, policy, planOptions)
  if (terminal.json) {
    return terminal.out.lines(jsonLine(typeof subject === 'string' ? planned : { failure: subject, ...planned }))
  }
  terminal.out.lines(...planLines(planned, policy, subject, now, terminal.out))
}

async function pricedPolicy({ policy: name, document: file, schema, models }: Options, cwd: string): Promise<Policy> {
  const policy = await policyFrom(name, cwd)
  if (file === undefined) {
    if (schema !== undefined) throw usageError('--schema is of a document.', '`--document <file> --schema <file>`')
    return policy
  }
  if (!policy.ladder)
    throw usageError(
      `The policy ${shown(policy.name)} has no ladder that a document could climb.`,
      '`--policy extraction`',
    )
  const desk = policy.ladder.find((rung) => rung.type === 'person')
  const ladder = ladderOf(models.split(','), desk?.queue ?? REVIEW, { budgets: {} })
  return {
    ...policy,
    ladder: await shapeForDocument(ladder, { file, ...(schema === undefined ? {} : { schema }) }, cwd),
  }
}

async function subjectOf(
  error: string | undefined,
  options: Options,
  frame: Frame,
  now: number,
): Promise<Failure | Kind> {
  const { kind } = options
  if (error !== undefined && kind !== undefined) {
    throw usageError(`Either an error or a kind can be planned, not both: ${shown(error)} and --kind ${kind}.`)
  }
  if (kind !== undefined) return kind
  if (error === undefined) {
    throw usageError('There is nothing to plan: give an error or a kind.', '`reprise plan --kind transient`')
  }
  const { stdin } = frame.terminal()
  if (error === '-' && stdin.isTTY) {
    throw usageError('There is no error to plan: stdin is the keyboard.', '`reprise plan error.json`')
  }
  const rules = options.rules === undefined ? {} : { rules: await rulesFrom(options.rules, frame.cwd) }
  return classify(await readJson(error, frame.cwd, stdin), { now, ...rules })
}
