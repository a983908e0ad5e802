/**
 * AWS, in the shapes its SDKs and services give their errors.
 * Each row is one thrown value and the verdict it must get.
 */
import { checkCases, type Row } from './check-cases.ts'

const aws = (name: string, httpStatusCode: number, message: string): object => ({
  name,
  $fault: 'client',
  $metadata: { httpStatusCode, attempts: 3 },
  message,
})

const AWS: Row[] = [
  ['throttling', aws('ThrottlingException', 400, 'Rate exceeded'), 'rate_limited'],
  [
    'DynamoDB throughput',
    aws(
      'ProvisionedThroughputExceededException',
      400,
      'The level of configured provisioned throughput for the table was exceeded.',
    ),
    'rate_limited',
  ],
  ['S3 slow down', aws('SlowDown', 503, 'Please reduce your request rate.'), 'rate_limited'],
  [
    'S3 XML',
    'Error: <Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>',
    'rate_limited',
  ],
  ['conditional check', aws('ConditionalCheckFailedException', 400, 'The conditional request failed'), 'conflict'],
  [
    'transaction, condition',
    {
      name: 'TransactionCanceledException',
      CancellationReasons: [
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      ],
      message:
        'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]',
    },
    'conflict',
  ],
  [
    'transaction, contention',
    {
      name: 'TransactionCanceledException',
      CancellationReasons: [{ Code: 'TransactionConflict' }],
      message: 'Transaction cancelled, please refer cancellation reasons for specific reasons [TransactionConflict]',
    },
    'transient',
  ],
  [
    'access',
    aws('AccessDeniedException', 403, 'User: arn:aws:iam::1:user/x is not authorized to perform: bedrock:InvokeModel'),
    'final',
  ],
  ['expired', aws('ExpiredTokenException', 400, 'The security token included in the request is expired'), 'final'],
  ['no key', aws('NoSuchKey', 404, 'The specified key does not exist.'), 'final'],
  ['validation', aws('ValidationException', 400, 'The provided model identifier is invalid.'), 'final'],
  [
    'validation that says try again',
    aws(
      'ValidationException',
      400,
      'Malformed input request: #: required key [messages] not found, please reformat your input and try again.',
    ),
    'final',
  ],
  ['too long', aws('ValidationException', 400, 'Input is too long for requested model.'), 'final'],
  [
    'Bedrock tokens',
    aws('ThrottlingException', 429, 'Too many tokens, please wait before trying again.'),
    'rate_limited',
  ],
  [
    'Bedrock unavailable',
    aws('ServiceUnavailableException', 503, 'Bedrock is unable to process your request.'),
    'transient',
  ],
  ['model timeout', aws('ModelTimeoutException', 408, 'Model timed out'), 'transient'],
  [
    'model not ready',
    aws('ModelNotReadyException', 429, 'Model is not ready for inference. Wait and try your request again.'),
    'transient',
  ],
  [
    'internal',
    aws(
      'InternalServerException',
      500,
      'The system encountered an unexpected error during processing. Try your request again.',
    ),
    'transient',
  ],
  [
    'Lambda shape',
    { errorType: 'ResourceNotFoundException', errorMessage: 'Function not found: arn:aws:lambda:x' },
    'final',
  ],
  [
    'JSON type with namespace',
    { __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException', message: 'Requested resource not found' },
    'final',
  ],
  [
    'SQS',
    {
      name: 'QueueDoesNotExist',
      Code: 'AWS.SimpleQueueService.NonExistentQueue',
      message: 'The specified queue does not exist.',
    },
    'final',
  ],
  [
    'S3 create-only',
    aws('PreconditionFailed', 412, 'At least one of the pre-conditions you specified did not hold'),
    'conflict',
  ],
  [
    'clock',
    aws('RequestTimeTooSkewed', 403, 'The difference between the request time and the current time is too large.'),
    'final',
  ],
  [
    'request timeout',
    aws(
      'RequestTimeout',
      400,
      'Your socket connection to the server was not read from or written to within the timeout period.',
    ),
    'transient',
  ],
  [
    'on-demand',
    aws(
      'ValidationException',
      400,
      "Invocation of model ID x with on-demand throughput isn't supported. Retry your request with the ID or ARN of an inference profile.",
    ),
    'final',
  ],
]

checkCases({ aws: AWS })
