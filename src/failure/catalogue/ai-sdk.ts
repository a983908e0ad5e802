/**
 * The Vercel AI SDK's error classes, in their printed form (`AI_…`) and their class names.
 * APICallError and RetryError only wrap: what they carry stands above them.
 */
import { type Family, phrases, RANK } from '../rule.ts'

const both = (...names: readonly string[]): string[] => names.flatMap((name) => [name, `AI_${name}`])
const FIX = 'Fix the call: the SDK refuses it before anything is sent.'

export const aiSdk: Family = {
  name: 'ai-sdk',
  cases: [
    {
      code: 'ai-sdk.wire',
      kind: 'transient',
      advice: 'The provider’s answer was not in its own format; try again, and check the base URL if it repeats.',
      says: ['invalid json response', 'failed to process successful response', 'failed to process error response'],
      rank: RANK.code + 9,
    },
    {
      code: 'output.parse',
      kind: 'syntax',
      advice: 'Repair the answer locally, or ask again with the parse error.',
      name: 'json-parse',
      tokens: ['AI_JSONParseError', 'JSONParseError'],
      rank: RANK.code + 8,
      never: ['html'],
    },
    {
      code: 'output.schema',
      kind: 'semantic',
      advice: 'Ask again with the rejected paths and reasons.',
      name: 'type-validation',
      tokens: ['AI_TypeValidationError', 'TypeValidationError'],
      rank: RANK.code - 1,
    },
    {
      code: 'ai-sdk.no-object',
      kind: 'syntax',
      advice: 'Ask again with the parse error, or use a model with structured output.',
      names: both('NoObjectGeneratedError'),
      says: phrases(`
        no object generated could not parse, no object generated the tool was not called, no object generated
      `),
      rank: RANK.name,
    },
    {
      code: 'ai-sdk.schema',
      kind: 'semantic',
      advice: 'Ask again with the rejected paths and reasons, or simplify the schema.',
      says: phrases(`
        no object generated response did not match schema, response did not match schema, no object generated ..
        did not match
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'ai-sdk.no-output',
      kind: 'syntax',
      advice: 'Ask again: the model gave no answer.',
      tokens: both(
        'NoOutputGeneratedError',
        'NoContentGeneratedError',
        'NoImageGeneratedError',
        'NoTranscriptGeneratedError',
        'NoSpeechGeneratedError',
        'NoVideoGeneratedError',
      ),
      rank: RANK.name + 2,
    },
    {
      code: 'ai-sdk.tool-input',
      kind: 'semantic',
      advice: 'Ask again with the tool’s schema and the error.',
      tokens: both('InvalidToolArgumentsError', 'InvalidToolInputError', 'ToolCallRepairError'),
      says: ['invalid arguments for tool', 'invalid input for tool', 'received invalid arguments'],
      rank: RANK.code,
    },
    {
      code: 'ai-sdk.no-such-tool',
      kind: 'semantic',
      advice: 'Ask again with the list of tools, or offer the tool it asked for.',
      tokens: both('NoSuchToolError'),
      says: phrases(`
        tried to call unavailable tool, unknown tool name, unknown tool, no such tool, is not a valid tool, tool
        .. not found, tool .. does not exist, tried to use tool, tool not available, unknown function, no tool named, invalid tool name
      `),
      rank: RANK.code,
    },
    {
      code: 'ai-sdk.tool-failed',
      kind: 'transient',
      advice: 'Look at the tool’s own error.',
      tokens: both('ToolExecutionError'),
      rank: RANK.vague,
    },
    {
      code: 'ai-sdk.setup',
      kind: 'final',
      advice: FIX,
      tokens: both(
        'InvalidArgumentError',
        'InvalidPromptError',
        'LoadAPIKeyError',
        'LoadSettingError',
        'NoSuchModelError',
        'NoSuchProviderError',
        'UnsupportedFunctionalityError',
        'UnsupportedModelVersionError',
        'InvalidMessageRoleError',
        'MessageConversionError',
        'InvalidDataContentError',
        'TooManyEmbeddingValuesForCallError',
        'InvalidStreamPartError',
        'NoSuchProviderReferenceError',
        'ToolCallNotFoundForApprovalError',
        'InvalidToolApprovalError',
        'MissingToolResultsError',
      ),
      says: ['api key is missing'],
      rank: RANK.code,
    },
    {
      code: 'ai-sdk.response',
      kind: 'transient',
      advice: 'The provider’s answer was not in its own format; try again, and update the SDK if it repeats.',
      tokens: both('InvalidResponseDataError', 'EmptyResponseBodyError'),
      says: phrases(`
        invalid json response, failed to process successful response, failed to process error response, empty
        response body
      `),
      rank: RANK.says - 1,
    },
    {
      code: 'ai-sdk.download',
      kind: 'transient',
      advice: 'Check the file’s address; it could not be downloaded.',
      tokens: both('DownloadError'),
      rank: RANK.vague + 1,
    },
    {
      code: 'ai-sdk.call',
      kind: 'transient',
      advice: 'Look at the provider’s own error inside.',
      tokens: both('APICallError', 'RetryError', 'UIMessageStreamError', 'GatewayError'),
      rank: RANK.guess,
    },
    {
      code: 'gateway.rate_limit',
      name: 'gateway-rate-limit',
      kind: 'rate_limited',
      advice: 'Wait as told, or route to another provider.',
      names: ['GatewayRateLimitError'],
    },
    {
      code: 'auth.rejected',
      name: 'gateway-auth',
      kind: 'final',
      advice: 'Check the gateway’s key.',
      names: ['GatewayAuthenticationError'],
    },
    {
      code: 'gateway.upstream',
      name: 'gateway-server',
      kind: 'transient',
      advice: 'Try again, or route to another provider.',
      names: ['GatewayInternalServerError', 'GatewayResponseError', 'GatewayTimeoutError'],
    },
    {
      code: 'gateway.model',
      name: 'gateway-model',
      kind: 'final',
      advice: 'Check the model’s name.',
      names: ['GatewayModelNotFoundError', 'GatewayInvalidRequestError'],
    },
  ],
}
