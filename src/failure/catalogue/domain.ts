/**
 * Reprise's own codes and the domain codes of report flows and extraction, with the kind each was given.
 * These are the words our side throws and stores; no provider speaks them.
 */
import { type Case, type Family, RANK, words } from '../rule.ts'

const own = (code: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case => ({
  code,
  kind,
  advice,
  tokens: [code],
  rank: RANK.code + 15,
  ...more,
})
const NOTHING = 'Nothing: another worker did it.'

export const domain: Family = {
  name: 'domain',
  cases: [
    own('FLOW_RUN_NOT_FOUND', 'final', 'The trigger is stale: its flow run is gone.'),
    own('FLOW_RUN_INVALID', 'final', 'Correct the flow run document; it lacks what this worker needs.'),
    own('PROMPT_NOT_FOUND', 'final', 'Create the prompt, or correct promptId.'),
    own('LLM_PROFILE_INVALID', 'final', 'Correct the model profile: model, mime type, candidate count or schema.'),
    own('INVALID_STEP_INPUTS', 'final', 'Give the step the input that the message names.'),
    own('MODEL_NOT_FOUND', 'final', 'Check the model’s name and that this project may use it.'),
    own('LLM_SAFETY_BLOCK', 'refused', 'Have a person look at the input: the provider refused it and will again.'),
    own('INVALID_STRUCTURED_OUTPUT', 'syntax', 'Repair or ask again once; then a person.'),
    own('FIRESTORE_UNAVAILABLE', 'transient', 'Wait a little and try again.'),
    own('FIRESTORE_CLAIM_FAILED', 'transient', 'Claim again; nothing was started.'),
    own('FIRESTORE_FINALIZE_FAILED', 'transient', 'Write the end again; the answer is already stored.'),
    own('GCS_WRITE_FAILED', 'transient', 'Write the artifact again; the answer is already stored.'),
    own('GEMINI_REQUEST_FAILED', 'transient', 'Wait a little and ask again.'),
    own('RATE_LIMITED', 'rate_limited', 'Wait as long as told, or lower the pace.', { rank: RANK.code - 6 }),
    own('STEP_CLAIM_CONFLICT', 'conflict', NOTHING),
    own('STEP_FINALIZE_CONFLICT', 'conflict', NOTHING),
    own('NO_READY_STEP', 'conflict', 'Nothing: there was nothing to do.'),
    own('DEPENDENCY_NOT_SUCCEEDED', 'conflict', 'Nothing: the step starts when what it needs is done.'),
    own(
      'ARTIFACT_CONFLICT',
      'final',
      'A different artifact has this name: have a person compare them; it was left untouched.',
    ),
    own('gate.bug', 'final', 'Fix the validator: it threw instead of judging.'),
    own('gate.rejected', 'semantic', 'Ask again with the issues, or use a stronger model.', {
      tokens: ['gate.rejected', 'SemanticValidationError', 'GateError'],
    }),
    own(
      'ladder.spent',
      'final',
      'Look at the draft and its issues: no rung of the ladder got an answer that passes the gate.',
    ),
    own(
      'document.empty',
      'final',
      'There is nothing to read in it: give the file its content, which makes it another document.',
    ),
    own('document.gone', 'final', 'Put the file back as it was, or submit it anew as it is.'),
    own('document.unreadable', 'final', 'Save the document anew, or as text or an image.'),
    own('document.too_large', 'final', 'Split the document, or make its pictures smaller.'),
    own('review.rejected', 'final', 'A person said that there is no right answer; the reason is in the message.'),
    own('ask.invalid', 'final', 'Correct the ask as the message says; nothing was sent.'),
    own('ask.name', 'final', 'Give the ask another name; nothing was sent.'),
    own('ladder.invalid', 'final', 'Correct the ladder as the message says; nothing was sent.'),
    own('gate.schema', 'final', 'Correct the schema: it cannot be compiled.'),
    own('gate.rule', 'final', 'Correct the rule as the message says.'),
    own('model.invalid', 'final', 'Correct the model’s id; nothing was sent.'),
    own('model.provider', 'final', 'Name a provider that is known, or hand in a model object.'),
    own('model.key', 'final', 'Set the variable that the message names, then retry.'),
    own('model.package', 'final', 'Install the package that the message names, then retry.'),
    own('answer.syntax', 'syntax', 'Repair the answer locally, or ask again with the parse error.', {
      tokens: ['answer.syntax', 'SyntaxValidationError'],
    }),
    own('budget.exhausted', 'exhausted', 'Raise the budget, wait for its window, or hand the work to a person.', {
      tokens: ['budget.exhausted', 'ProBudgetExhaustedError', 'BudgetExhaustedError'],
    }),
    own('budget.day', 'exhausted', 'The day’s budget is spent: it opens again at midnight UTC, or raise it.'),
    own('budget.month', 'exhausted', 'The month’s budget is spent: raise it, or wait for the next month.'),
    own('deadline.exceeded', 'exhausted', 'Give the run more time, or less to do.', {
      tokens: ['deadline.exceeded', 'DeadlineError'],
    }),
    own('deadline.short', 'interrupted', 'Nothing: too little time was left, so it starts again with a full turn.'),
    own('attempts.exhausted', 'exhausted', 'Look at the last failure; retry by hand once its cause is gone.'),
    own('lease.lapsed', 'interrupted', 'Nothing: the worker was lost and another one takes the run.'),
    own('lease.lost', 'conflict', NOTHING),
    own('worker.stopped', 'interrupted', 'Nothing: the worker was stopped and the run starts again elsewhere.'),
    own('run.suspended', 'interrupted', 'Nothing: the run waits and goes on when its answer is there.'),
    own(
      'sweep.silent',
      'exhausted',
      'The service of the document neither finished nor reported a failure: see that it runs and reports, then begin these again.',
    ),
    own('review.overdue', 'exhausted', 'Answer the review, or give it to the next desk.'),
    own('store.unavailable', 'transient', 'Look at the store; work goes on when it is back.'),
    // Class names of the extraction pipeline and of the report worker's hierarchy.
    {
      code: 'domain.ConfigurationError',
      kind: 'final',
      advice: 'Correct the configuration.',
      names: ['ConfigurationError', 'ConfigError'],
      rank: RANK.name,
    },
    {
      code: 'domain.DataNotFoundError',
      kind: 'final',
      advice: 'Give the step the data it needs; if it is optional, say so in the prompt.',
      names: ['DataNotFoundError'],
      rank: RANK.name,
    },
    {
      code: 'google.ResourceExhausted',
      kind: 'rate_limited',
      advice: 'Wait as long as told, or lower the pace.',
      names: words(`
        ResourceExhausted google.api_core.exceptions.ResourceExhausted google.api_core.exceptions.TooManyRequests
      `),
      rank: RANK.status,
    },
    {
      code: 'google.ServiceUnavailable',
      kind: 'transient',
      advice: 'Wait a little and try again.',
      names: words(`
        google.api_core.exceptions.ServiceUnavailable DeadlineExceeded google.api_core.exceptions.DeadlineExceeded
        GatewayTimeout google.api_core.exceptions.InternalServerError google.api_core.exceptions.RetryError
        Aborted google.api_core.exceptions.Aborted
      `),
      rank: RANK.name,
    },
    {
      code: 'google.request',
      kind: 'final',
      advice: 'Correct the request or the permissions.',
      names: words(`
        InvalidArgument google.api_core.exceptions.InvalidArgument FailedPrecondition
        google.api_core.exceptions.FailedPrecondition PermissionDenied google.api_core.exceptions.PermissionDenied
        google.api_core.exceptions.Forbidden google.api_core.exceptions.NotFound
        google.api_core.exceptions.BadRequest Unauthenticated
      `),
      rank: RANK.vague,
    },
    {
      code: 'google.blocked',
      kind: 'refused',
      advice: 'Have a person look at the input: the filter refused it.',
      names: ['BlockedPromptException', 'StopCandidateException', 'ResponseValidationError'],
      rank: RANK.code,
    },
    {
      code: 'google.conflict',
      kind: 'conflict',
      advice: 'Nothing: another writer came first.',
      names: words(`
        AlreadyExists google.api_core.exceptions.AlreadyExists google.api_core.exceptions.Conflict
        google.api_core.exceptions.PreconditionFailed
      `),
      rank: RANK.name,
    },
  ],
}
