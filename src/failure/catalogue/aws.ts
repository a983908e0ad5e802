/**
 * AWS: the SDKs' own throttling and transient lists, and the errors of S3, DynamoDB, SQS, Lambda, STS and Bedrock.
 * "…and try again" in a ValidationException is a trap: the input is wrong and stays wrong.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

const SLOW = 'Slow down and wait with growing delays, or raise the limit.'
const WAIT = 'Wait a little and try again with growing delays.'
const REQUEST = 'Correct the request; the same one is rejected again.'
const ACCESS = 'Check the credentials, the policy and the region.'

export const aws: Family = {
  name: 'aws',
  marks: { aws: ['aws', 'amazon', 'bedrock', 'dynamodb', 'amazonaws', 'com.amazon*', 'lambda', 's3'] },
  cases: [
    {
      code: 'aws.throttling',
      kind: 'rate_limited',
      advice: SLOW,
      tokens: words(`
        BandwidthLimitExceeded EC2ThrottledException LimitExceededException PriorRequestNotComplete
        ProvisionedThroughputExceededException RequestLimitExceeded RequestThrottled RequestThrottledException
        SlowDown ThrottledException Throttling ThrottlingException TooManyRequestsException
        TransactionInProgressException ProvisionedThroughputExceeded ThrottlingError Throttling.User
        ThrottlingExceeded KMSThrottlingException KmsThrottled OverLimit RequestThrottledError
        ReplicatedWriteConflictThrottled EventStreamThrottling throttlingException ServiceQuotaExceededException
        TooManyRequests LimitExceededFault ReservedFunctionConcurrentInvocationLimitExceeded
        ConcurrentInvocationLimitExceeded QuotaExceededException SQS.RequestThrottled
        AWS.SimpleQueueService.RequestThrottled TrafficLimitExceeded
      `),
      says: phrases(`
        rate exceeded, please reduce your request rate, too many tokens please wait, too many requests please
        wait, the level of configured provisioned throughput, throughput exceeds the current capacity, request
        rate is too high, too many tokens per day, exceeded the .. account .. concurrency, maximum sending rate
        exceeded, daily message quota exceeded
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'aws.transient',
      kind: 'transient',
      advice: WAIT,
      tokens: words(`
        RequestTimeout RequestTimeoutException InternalError InternalFailure InternalServerException
        InternalServerError InternalServerErrorException InternalServiceError InternalServiceException
        ServiceUnavailable ServiceUnavailableException ServiceException ServiceFailure ModelTimeoutException
        ModelNotReadyException ModelErrorException ModelStreamErrorException IDPCommunicationError
        IDPCommunicationErrorException OperationAborted EC2UnexpectedException EC2AccessDeniedTransient
        ENILimitReachedTransient ResourceNotReadyException ResourceInUseException TransactionConflictException
        TransactionConflict ItemCollectionBusy LambdaServerException SnapStartNotReadyException
        DependencyFailedException HttpTimeoutException NetworkingError TimeoutError BucketBusy
        KMSInternalException KmsInternalException ClientConnectionError InternalServerErrorFault
        XAmzContentChecksumMismatch IncompleteBody internalServerException modelStreamErrorException
        modelTimeoutException serviceUnavailableException ServiceUnavailableFault
        SubnetIPAddressLimitReachedException EFSIOException
      `),
      says: phrases(`
        your socket connection to the server was not read, we encountered an internal error, the system
        encountered an unexpected error during processing, bedrock is unable to process your request,
        conflicting conditional operation, transaction is ongoing for the item,
        transactionconflict, model is not ready, credentials from imds, socket connection was not established
      `),
      rank: RANK.status + 6,
    },
    {
      code: 'aws.conditional-check',
      kind: 'conflict',
      advice: 'Nothing: another writer came first; read the item again before writing.',
      tokens: words(`
        ConditionalCheckFailedException ConditionalCheckFailed PreconditionFailed ResourceAlreadyExistsException
        EntityAlreadyExistsException EntityAlreadyExists BucketAlreadyOwnedByYou BucketAlreadyExists
        ResourceConflictException ConflictException ResourceExistsException DuplicateItem DuplicateItemException
        QueueAlreadyExists QueueNameExists IdempotentParameterMismatchException AlreadyExistsException
        ConditionalRequestConflict DBInstanceAlreadyExists ExecutionAlreadyExists TableAlreadyExistsException
        OptimisticLockException
      `),
      says: phrases(`
        the conditional request failed, at least one of the pre conditions you specified did not hold,
        conditionalcheckfailed
      `),
      rank: RANK.code + 3,
    },
    {
      code: 'aws.in-progress',
      kind: 'transient',
      advice: 'Another operation on the resource is under way; try again when it is done.',
      tokens: ['ConcurrentModificationException', 'ConcurrentUpdateException', 'ResourceNotReady'],
      says: phrases(`
        update is in progress, operation cannot be performed at this time, is being created, is being updated,
        currently in progress
      `),
      only: ['aws'],
      rank: RANK.code + 4,
    },
    {
      code: 'aws.exists',
      kind: 'conflict',
      advice: 'Nothing: it exists already.',
      says: ['already exists'],
      only: ['aws'],
      never: ['postgres', 'mysql', 'mssql', 'sqlite', 'mongodb', 'redis', 'amqp'],
      rank: RANK.code + 3,
    },
    {
      code: 'aws.transient',
      name: 'nameless',
      kind: 'transient',
      advice: WAIT,
      tokens: ['UnknownError'],
      rank: RANK.guess,
    },
    {
      code: 'aws.transaction-cancelled',
      kind: 'transient',
      advice: 'Look at the cancellation reasons; run the transaction again if they pass.',
      tokens: ['TransactionCanceledException'],
      rank: RANK.vague,
    },
    {
      code: 'aws.too-long',
      kind: 'final',
      advice: 'Shorten the input.',
      says: phrases(`
        input is too long for requested model, too many input tokens, expected maxlength, input tokens exceed,
        maximum tokens you requested exceeds, reformat your input and try again, malformed input request, item
        size has exceeded the maximum, entity too large, prompt is too long, exceeds the maximum allowed length
      `),
      tokens: words(`
        EntityTooLarge RequestEntityTooLargeException RequestTooLargeException BatchRequestTooLong
        MaxMessageLengthExceeded MetadataTooLarge KeyTooLongError ItemCollectionSizeLimitExceededException
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'aws.request',
      kind: 'final',
      advice: REQUEST,
      tokens: words(`
        ValidationException InvalidParameterValue InvalidParameterValueException InvalidParameterException
        InvalidParameterCombination MissingParameter MalformedQueryString InvalidAction InvalidArgument
        InvalidRequest InvalidRequestException SerializationException BadRequestException
        UnsupportedOperationException UnknownOperationException InvalidQueryParameter MalformedXML
        InvalidObjectState MethodNotAllowed NotImplemented InvalidBucketName InvalidRange BadDigest InvalidDigest
        MultipleValidationErrors UnknownEndpoint InvalidInputException InvalidAttributeValue
        InvalidMessageContents ReceiptHandleIsInvalid MessageNotInflight InvalidPart InvalidPartOrder
        PermanentRedirect AuthorizationHeaderMalformed CredentialScopeError
      `),
      says: phrases(`
        validation error detected, validation errors detected, on demand throughput isn't supported, the provided
        model identifier is invalid, is not authorized to perform, malformed input request, the provided key
        element does not match, must be addressed using the specified endpoint, extraneous key
      `),
      never: ['postgres'],
      rank: RANK.code - 4,
    },
    {
      code: 'aws.request',
      name: 'validation-error',
      kind: 'final',
      advice: REQUEST,
      tokens: ['ValidationError'],
      only: ['aws'],
      rank: RANK.code - 4,
    },
    {
      code: 'aws.access',
      kind: 'final',
      advice: ACCESS,
      names: ['CredentialsError', 'NoCredentialsError'],
      tokens: words(`
        AccessDenied AccessDeniedException UnauthorizedOperation UnrecognizedClientException InvalidClientTokenId
        InvalidAccessKeyId MissingAuthenticationToken MissingAuthenticationTokenException IncompleteSignature
        IncompleteSignatureException NotAuthorizedException UnauthorizedException OptInRequired AccountProblem
        AllAccessDisabled ExpiredToken ExpiredTokenException TokenRefreshRequired CredentialsProviderError
        InvalidIdentityToken InvalidIdentityTokenException ExpiredTokenCredentials KMSAccessDeniedException
        InvalidToken ForbiddenException SubscriptionRequiredException AWS.SimpleQueueService.AccessDenied
      `),
      says: phrases(`
        security token included in the request is, security token .. is expired, no identity based policy allows,
        explicit deny, credential is missing, you don't have access to the model, token included in the request is
        invalid, model access is denied, session associated with this profile has expired, region is missing,
        missing region in config, missing credentials in config
      `),
      rank: RANK.code,
    },
    {
      code: 'aws.clock',
      kind: 'final',
      advice: 'Set the host’s clock, and check the secret key.',
      tokens: words(`
        RequestExpired RequestInTheFuture RequestTimeTooSkewed SignatureDoesNotMatch InvalidSignatureException
        AuthFailure
      `),
      rank: RANK.code,
    },
    {
      code: 'aws.not-found',
      kind: 'final',
      advice: 'Check name, id, account and region: nothing is there.',
      tokens: words(`
        ResourceNotFoundException NoSuchKey NoSuchBucket NoSuchUpload NoSuchEntity NoSuchEntityException
        QueueDoesNotExist AWS.SimpleQueueService.NonExistentQueue NotFoundException TableNotFoundException
        NoSuchVersion NoSuchLifecycleConfiguration StateMachineDoesNotExist FunctionNotFound NoSuchTagSet
        NoSuchBucketPolicy ParameterNotFound EntityNotFoundException InvalidInstanceID.NotFound
      `),
      says: phrases(`
        requested resource not found, cannot do operations on a non existent table, function not found, the
        specified queue does not exist, could not resolve the foundation model, reached the end of its life
      `),
      rank: RANK.code,
    },
    {
      code: 'aws.blocked',
      kind: 'refused',
      advice: 'Have a person look at the input: a filter or guardrail refused it.',
      tokens: ['guardrail_intervened', 'content_filtered', 'GUARDRAIL_INTERVENED'],
      says: phrases(`
        blocked by our content filters, combination of any of the above .. blocked, violates our acceptable use
        policy, have been blocked by our, outputs have been blocked
      `),
      rank: RANK.code + 6,
    },
    {
      code: 'aws.lambda-failed',
      kind: 'transient',
      advice: 'The function crashed or ran out of time or memory: look at its log.',
      tokens: words(`
        Function.TaskTimedOut Runtime.ExitError Sandbox.Timedout Runtime.UnhandledPromiseRejection Lambda.Unknown
        States.Timeout States.TaskFailed States.HeartbeatTimeout
      `),
      says: phrases(`
        task timed out after, runtime exited with error, runtime exited without providing
      `),
      rank: RANK.status,
    },
    {
      code: 'aws.service-quota',
      kind: 'final',
      advice: 'Ask for a higher quota or delete what is no longer used.',
      tokens: words(`
        TooManyBuckets SubscriberLimitExceeded TagLimitExceeded CodeStorageExceededException
      `),
    },
    {
      code: 'aws.capacity',
      kind: 'transient',
      advice: 'The zone is short of capacity; try another zone or wait.',
      tokens: words(`
        InsufficientInstanceCapacity InsufficientCapacity InsufficientHostCapacity
        InsufficientReservedInstanceCapacity InsufficientThroughputCapacity InsufficientDBInstanceCapacity
      `),
    },
  ],
}
