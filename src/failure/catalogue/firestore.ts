/**
 * Firestore and Firebase: gRPC statuses in Firestore's sense, and the `service/code` words of the web SDK.
 * Contention is transient; a lost precondition or a create of what exists is a conflict; a missing index stays missing.
 */
import { type Family, phrases, RANK, words } from '../rule.ts'

const CONFLICT = 'Nothing: another writer came first; read the document again before writing.'

export const firestore: Family = {
  name: 'firestore',
  marks: {
    firestore: [
      'firestore',
      'firebase',
      'datastore',
      '=FirebaseError',
      '=firestore.googleapis.com',
      '=FirebaseFirestoreError',
    ],
  },
  cases: [
    {
      code: 'firestore.precondition',
      kind: 'conflict',
      advice: CONFLICT,
      says: phrases(`
        stored version .. does not match, required base version, does not match the required base, update time does
        not match, update_time .. does not match, does not match current update time, precondition check failed,
        document was updated since
      `),
      rank: RANK.code + 3,
    },
    {
      code: 'firestore.exists',
      kind: 'conflict',
      advice: 'Nothing: the document was created before.',
      tokens: ['already-exists', 'firestore/already-exists'],
      says: phrases(`
        code already exists, document already exists, entity already exists, already exists projects
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'firestore.contention',
      kind: 'transient',
      advice: 'Run the transaction again; write a hot document less often.',
      tokens: ['aborted', 'firestore/aborted'],
      says: phrases(`
        too much contention on these, aborted due to cross transaction contention, transaction lock timeout,
        transaction was aborted, contention on these documents, please try the transaction again, transaction
        failed all retries, code aborted
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'firestore.snapshot',
      kind: 'transient',
      advice: 'Read again in a fresh transaction: the snapshot is too old.',
      says: phrases(`
        snapshot version is too old, read time is too old, transaction has expired, transaction is invalid or
        closed, referenced transaction has expired, transaction is no longer valid
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'firestore.index',
      kind: 'final',
      advice: 'Create the index; the link in the message does it.',
      says: phrases(`
        query requires an index, no matching index found, requires a collection_group, index is currently building
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'firestore.permission',
      kind: 'final',
      advice: 'Allow it in the security rules or IAM.',
      tokens: words(`
        permission-denied firestore/permission-denied storage/unauthorized storage/unauthenticated unauthenticated
        PERMISSION_DENIED_RULES app-check/fetch-status-error
      `),
      says: phrases(`
        missing or insufficient permissions, does not have permission to access, permission_denied missing
      `),
      rank: RANK.code + 1,
    },
    {
      code: 'firestore.request',
      kind: 'final',
      advice: 'Correct the document, path or query.',
      tokens: words(`
        invalid-argument failed-precondition not-found out-of-range unimplemented firestore/invalid-argument
        firestore/not-found data-loss firestore/failed-precondition
      `),
      says: phrases(`
        no document to update, no entity to update, value for argument, unsupported field value, maximum 500
        writes allowed per request, transaction too big, exceeds the maximum allowed size of, is longer than
        1048487 bytes, firestore transactions require all reads, reads to be executed before all writes, cannot
        encode, datastore mode, code failed precondition, code invalid argument, code not found
      `),
      rank: RANK.says,
    },
    {
      code: 'firestore.unavailable',
      kind: 'transient',
      advice: 'Wait a little and try again.',
      tokens: words(`
        unavailable deadline-exceeded firestore/unavailable firestore/deadline-exceeded internal cancelled
        storage/retry-limit-exceeded unknown-firestore
      `),
      says: phrases(`
        failed to get document because the client is offline, could not reach cloud firestore backend, client is
        offline, code unavailable, code deadline exceeded, code internal, code cancelled
      `),
      rank: RANK.status,
    },
    {
      code: 'firestore.quota',
      kind: 'rate_limited',
      advice: 'Wait, or move to a paid plan: a quota is used up.',
      says: ['code resource exhausted'],
      tokens: words(`
        resource-exhausted firestore/resource-exhausted storage/quota-exceeded quota-exceeded
        auth/too-many-requests auth/quota-exceeded messaging/quota-exceeded too-many-requests message-rate-exceeded
        device-message-rate-exceeded topics-message-rate-exceeded too-many-topics
      `),
      rank: RANK.code,
    },
    {
      code: 'firebase.request',
      kind: 'final',
      advice: 'Correct the call or the project’s settings.',
      tokens: words(`
        storage/object-not-found storage/bucket-not-found storage/invalid-argument app/invalid-credential
        auth/invalid-api-key auth/user-not-found auth/argument-error auth/id-token-expired auth/invalid-credential
        app/no-app app/duplicate-app registration-token-not-registered invalid-registration-token invalid-recipient
        invalid-payload mismatched-credential third-party-auth-error invalid-package-name authentication-error
        invalid-credential no-app object-not-found bucket-not-found project-not-found
      `),
    },
    {
      code: 'firebase.network',
      kind: 'transient',
      advice: 'Try again: the network failed.',
      tokens: words(`
        auth/network-request-failed app/network-error messaging/server-unavailable auth/internal-error
        app/network-timeout server-unavailable network-request-failed network-error network-timeout internal-error
        retry-limit-exceeded
      `),
    },
  ],
}
