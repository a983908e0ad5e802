/**
 * gRPC: the seventeen status codes, by number and by name, as google.rpc.Code documents them.
 * Vendors put other meanings behind INVALID_ARGUMENT, FAILED_PRECONDITION, INTERNAL and UNKNOWN, so those rank low.
 */
import { type Case, type Family, phrases, RANK } from '../rule.ts'

const SURE = RANK.status + 2
const WAIT = 'Wait a little and try again; if it lasts, look at the status page of the service.'

const grpc = (number: number, name: string, kind: Case['kind'], advice: string, rank: number = SURE): Case[] => [
  { code: `grpc.${name}`, kind, advice, rank, tokens: [name, `grpc:${number}`] },
  { code: `grpc.${name}`, kind, advice, rank: RANK.vague - 2, name: `${name}?`, tokens: [`grpc?:${number}`] },
]

export const grpcFamily: Family = {
  name: 'grpc',
  marks: { grpc: ['grpc:*', 'grpc', '=RESOURCE_EXHAUSTED', 'RESOURCE_EXHAUSTED'] },
  cases: [
    ...grpc(
      1,
      'CANCELLED',
      'transient',
      'The call was cancelled by a proxy, a deadline or the server; try again.',
      RANK.vague + 2,
    ),
    ...grpc(2, 'UNKNOWN', 'transient', WAIT, RANK.vague + 1),
    ...grpc(3, 'INVALID_ARGUMENT', 'final', 'Correct the argument that the message names.', RANK.vague + 2),
    ...grpc(4, 'DEADLINE_EXCEEDED', 'transient', 'Try again; if it repeats, raise the deadline or send less.'),
    ...grpc(5, 'NOT_FOUND', 'final', 'Check the name or id: nothing is there.', RANK.name),
    ...grpc(6, 'ALREADY_EXISTS', 'conflict', 'Nothing: it was created before; use what is there.'),
    ...grpc(7, 'PERMISSION_DENIED', 'final', 'Grant the permission to the account that calls.', RANK.name),
    ...grpc(
      8,
      'RESOURCE_EXHAUSTED',
      'rate_limited',
      'Wait as long as told, send fewer requests, or ask for a higher quota.',
    ),
    ...grpc(
      9,
      'FAILED_PRECONDITION',
      'final',
      'Bring the system into the state the message asks for; retrying alone does not.',
      RANK.vague + 2,
    ),
    ...grpc(
      10,
      'ABORTED',
      'transient',
      'Concurrent operations got in each other’s way; run the whole transaction again.',
    ),
    ...grpc(11, 'OUT_OF_RANGE', 'final', 'Correct the range.', RANK.name),
    ...grpc(
      12,
      'UNIMPLEMENTED',
      'final',
      'The server does not offer this method; check versions and endpoint.',
      RANK.name,
    ),
    ...grpc(13, 'INTERNAL', 'transient', WAIT, RANK.vague + 1),
    ...grpc(14, 'UNAVAILABLE', 'transient', WAIT),
    ...grpc(15, 'DATA_LOSS', 'final', 'Data is lost or corrupt on the other side; ask its operator.', RANK.name),
    ...grpc(16, 'UNAUTHENTICATED', 'final', 'Check the credential: it is missing, wrong or expired.', RANK.name),
    {
      code: 'grpc.UNAVAILABLE',
      name: 'channel-words',
      kind: 'transient',
      advice: WAIT,
      hints: phrases(`
        no connection established, failed to connect to all addresses, name resolution failed for target,
        rst_stream, received rst_stream, connection dropped, channel has been shut down, waiting for lb pick,
        http2 session
      `),
      rank: RANK.hint + 2,
    },
    {
      code: 'grpc.ABORTED',
      name: 'contention-words',
      kind: 'transient',
      advice: 'Concurrent operations got in each other’s way; run the whole transaction again.',
      says: phrases(`
        too much contention, transaction lock timeout, cross transaction contention, the referenced transaction
        has expired, transaction was aborted, concurrent transaction, concurrent modification, please try the
        transaction again
      `),
    },
    {
      code: 'grpc.UNKNOWN',
      name: 'missing-status',
      kind: 'transient',
      advice: WAIT,
      hints: ['stream removed', 'missing status'],
      rank: RANK.hint,
    },
    {
      code: 'grpc.DEADLINE_EXCEEDED',
      name: 'words',
      kind: 'transient',
      advice: 'Try again; if it repeats, raise the deadline or send less.',
      hints: ['total timeout of api', 'deadline exceeded', 'deadline expired before'],
      rank: RANK.hint + 1,
    },
  ],
}
