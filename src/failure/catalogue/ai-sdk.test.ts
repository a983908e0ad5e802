/**
 * The AI SDK, LangChain, LangGraph and structured output, in the shapes their classes have.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const SDKS: Row[] = [
  [
    'no object, not parsed',
    {
      name: 'AI_NoObjectGeneratedError',
      message: 'No object generated: could not parse the response.',
      text: '{"a": ',
      cause: {
        name: 'AI_JSONParseError',
        message: 'JSON parsing failed: Text: {"a": .\nError message: Unexpected end of JSON input',
      },
    },
    'syntax',
  ],
  [
    'no object, wrong schema',
    {
      name: 'AI_NoObjectGeneratedError',
      message: 'No object generated: response did not match schema.',
      cause: {
        name: 'AI_TypeValidationError',
        message: 'Type validation failed: Value: {"rate":"limit exceeded"}. Error message: [...]',
      },
    },
    'semantic',
  ],
  [
    'API call error',
    {
      name: 'AI_APICallError',
      message: 'Too Many Requests',
      statusCode: 429,
      isRetryable: true,
      responseHeaders: { 'retry-after': '3' },
      responseBody: '{"error":{"message":"slow down"}}',
    },
    'rate_limited',
    { delay: 3_000 },
  ],
  [
    'retry error carries the last one',
    {
      name: 'AI_RetryError',
      message: 'Failed after 3 attempts. Last error: Overloaded',
      reason: 'maxRetriesExceeded',
      lastError: { name: 'AI_APICallError', statusCode: 529, message: 'Overloaded', isRetryable: true },
      errors: [],
    },
    'transient',
  ],
  [
    'retry error over quota',
    {
      name: 'AI_RetryError',
      message: 'Failed after 1 attempt with non-retryable error',
      lastError: {
        name: 'AI_APICallError',
        statusCode: 429,
        message: 'You exceeded your current quota, please check your plan and billing details.',
        data: { error: { code: 'insufficient_quota' } },
      },
    },
    'final',
  ],
  [
    'no such tool',
    { name: 'AI_NoSuchToolError', message: "Model tried to call unavailable tool 'foo'. Available tools: bar." },
    'semantic',
  ],
  [
    'invalid tool input',
    { name: 'AI_InvalidToolInputError', message: 'Invalid input for tool weather: Type validation failed' },
    'semantic',
  ],
  [
    'missing key',
    {
      name: 'AI_LoadAPIKeyError',
      message:
        "OpenAI API key is missing. Pass it using the 'apiKey' parameter or the OPENAI_API_KEY environment variable.",
    },
    'final',
  ],
  [
    'unsupported',
    { name: 'AI_UnsupportedFunctionalityError', message: "'image' functionality not supported." },
    'final',
  ],
  ['invalid prompt', { name: 'AI_InvalidPromptError', message: 'Invalid prompt: messages must not be empty' }, 'final'],
  [
    'finish reason filter',
    {
      name: 'AI_NoObjectGeneratedError',
      message: 'No object generated: the model did not return a response.',
      finishReason: 'content-filter',
    },
    'refused',
  ],
  [
    'cut off',
    {
      name: 'AI_NoObjectGeneratedError',
      message: 'No object generated: could not parse the response.',
      finishReason: 'length',
    },
    'syntax',
  ],
  [
    'not retryable',
    {
      name: 'AI_APICallError',
      statusCode: 400,
      isRetryable: false,
      message: 'Bad Request',
      responseBody: '{"error":{"message":"Unsupported parameter: temperature"}}',
    },
    'final',
  ],
  [
    'parser failure',
    {
      name: 'OutputParserException',
      lc_error_code: 'OUTPUT_PARSING_FAILURE',
      message: 'Failed to parse. Text: "Sure! Here is". Error: SyntaxError: Unexpected token S in JSON at position 0',
    },
    'syntax',
  ],
  [
    'tool schema',
    { name: 'ToolInputParsingException', message: 'Received tool input did not match expected schema' },
    'semantic',
  ],
  ['LLM output', { name: 'Error', message: 'Could not parse LLM output: I think the answer is 4' }, 'syntax'],
  [
    'recursion',
    {
      name: 'GraphRecursionError',
      lc_error_code: 'GRAPH_RECURSION_LIMIT',
      message: 'Recursion limit of 25 reached without hitting a stop condition.',
    },
    'final',
  ],
  [
    'concurrent update',
    {
      name: 'InvalidUpdateError',
      lc_error_code: 'INVALID_CONCURRENT_GRAPH_UPDATE',
      message: 'Invalid update for channel "x" with values [1,2]: LastValue can only receive one value per step.',
    },
    'final',
  ],
  [
    'prompt input',
    { name: 'Error', lc_error_code: 'INVALID_PROMPT_INPUT', message: 'Missing value for input variable `question`' },
    'final',
  ],
  [
    'model auth',
    { lc_error_code: 'MODEL_AUTHENTICATION', status: 401, message: '401 Incorrect API key provided' },
    'final',
  ],
  ['interrupt', { name: 'GraphInterrupt', message: '[{"value":"approve?"}]' }, 'interrupted'],
]

const OUTPUT: Row[] = [
  ['end of input', new SyntaxError('Unexpected end of JSON input'), 'syntax'],
  ['V8 token', new SyntaxError('Unexpected token \'H\', "Here is th"... is not valid JSON'), 'syntax'],
  ['old V8 token', new SyntaxError('Unexpected token I in JSON at position 0'), 'syntax'],
  [
    'property',
    new SyntaxError("Expected ',' or '}' after property value in JSON at position 412 (line 9 column 4)"),
    'syntax',
  ],
  ['control character', new SyntaxError('Bad control character in string literal in JSON at position 88'), 'syntax'],
  ['Python', 'json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)', 'syntax'],
  ['Python delimiter', "JSONDecodeError: Expecting ',' delimiter: line 4 column 2 (char 120)", 'syntax'],
  ['page instead of JSON', new SyntaxError('Unexpected token \'<\', "<!DOCTYPE "... is not valid JSON'), 'transient'],
  [
    'zod',
    {
      name: 'ZodError',
      message:
        '[{"code":"invalid_type","expected":"string","received":"undefined","path":["total"],"message":"Required"}]',
      issues: [{ code: 'invalid_type', path: ['total'], message: 'Required' }],
    },
    'semantic',
  ],
  [
    'pydantic',
    "1 validation error for Invoice\ntotal\n  Field required [type=missing, input_value={'a': 1}, input_type=dict]",
    'semantic',
  ],
  [
    'ajv',
    {
      message: "data must have required property 'total'",
      errors: [{ keyword: 'required', instancePath: '', message: "must have required property 'total'" }],
    },
    'semantic',
  ],
  ['truncated answer', { message: 'Model output was cut off', finishReason: 'MAX_TOKENS' }, 'syntax'],
  ['malformed call', { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }, 'syntax'],
  ['empty', { message: 'Model returned an empty response' }, 'syntax'],
  ['instructor', { name: 'InstructorRetryException', message: '2 validation errors for User' }, 'semantic'],
]

checkCases({ sdks: SDKS, 'structured output': OUTPUT })
