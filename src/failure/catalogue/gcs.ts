/**
 * Google Cloud Storage and the Google auth library: reasons of the JSON API, preconditions, resumable uploads, tokens.
 * `ifGenerationMatch=0` that fails means someone wrote the object first: a conflict, not an error.
 */
import { type Case, type Family, phrases, RANK, words } from '../rule.ts'

const one = (name: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case => ({
  code: `gcs.${name}`,
  kind,
  advice,
  tokens: [name],
  ...more,
})
const WAIT = 'Wait a little and try again with growing delays.'

export const gcs: Family = {
  name: 'gcs',
  marks: {
    gcs: [
      'storage googleapis',
      'bucket',
      'buckets',
      'gs',
      'cloud storage',
      'storage objects',
      '=storage.googleapis.com',
      '=ResumableUploadError',
      'resumable',
    ],
  },
  cases: [
    one(
      'conditionNotMet',
      'conflict',
      'Nothing: another writer changed the object first; if it was create-only, use what is there.',
      {
        says: phrases(`
          at least one of the pre conditions, preconditions you specified did not hold, pre conditions you
          specified did not hold, precondition failed
        `),
        never: ['amqp'],
        rank: RANK.code + 1,
      },
    ),
    one('conflict', 'conflict', 'Nothing: the bucket or object exists already or was just changed.', {
      says: phrases(`
        you already own this bucket, your previous request to create the named bucket succeeded, bucket name is
        not available, requested bucket name is not available
      `),
      rank: RANK.status,
    }),
    one('rateLimitExceeded', 'rate_limited', 'Write one object at most once a second; spread keys and slow down.', {
      tokens: ['usageLimits.rateLimitExceeded'],
      says: phrases(`
        exceeded the rate limit for object mutation, exceeded the rate limit, object mutation operations, rate
        limit for creating and deleting buckets, please reduce your request rate, the project exceeded the rate
        limit
      `),
      rank: RANK.code,
    }),
    one('slowDown', 'rate_limited', 'Slow down; spread requests over more keys.', { tokens: ['SlowDown'] }),
    one('egressBandwidth', 'rate_limited', 'The bandwidth quota is used up; wait or ask for more.', {
      says: ['egress bandwidth', 'bandwidth limit exceeded'],
    }),
    one('backendError', 'transient', WAIT, { says: ['we encountered an internal error please try again'] }),
    one('uploadBroken', 'transient', 'Start the upload again from the last offset the server has.', {
      tokens: ['uploadBroken', 'RESUMABLE_UPLOAD'],
      says: phrases(`
        retry limit exceeded, the uploaded data did not match the data from the server, upload failed, the upload
        .. interrupted, a file upload .. failed, content md5, crc32c, could not retrieve .. upload, upload
        session, multiple retries attempted
      `),
      rank: RANK.hint + 3,
    }),
    one('downloadMismatch', 'transient', 'Download again: the content does not match its checksum.', {
      tokens: ['CONTENT_DOWNLOAD_MISMATCH', 'MD5_NOT_AVAILABLE'],
      says: ['downloaded data did not match'],
    }),
    one('objectNotFound', 'final', 'Check bucket and object name.', {
      says: phrases(`
        no such object, the specified key does not exist, the specified bucket does not exist, bucket does not
        exist
      `),
      tokens: ['NoSuchBucketGcs'],
    }),
    one('permission', 'final', 'Grant the role that the message names on the bucket.', {
      says: phrases(`
        storage objects create access, storage objects get access, storage objects delete access, storage objects
        list access, storage buckets get access, does not have storage, anonymous caller
      `),
      tokens: ['forbidden'],
      rank: RANK.hint,
    }),
    one('retentionPolicy', 'final', 'The object is under retention or hold until the time the message names.', {
      tokens: ['retentionPolicyNotMet', 'objectUnderActiveHold'],
    }),
    one('account', 'final', 'The bucket’s billing account is closed or the project is suspended.', {
      tokens: words(`
        accountDisabled userProjectAccountProblem userProjectMissing billingAccountDisabled
      `),
      says: ['billing account for the owning project is disabled'],
      rank: RANK.code + 2,
    }),
    {
      code: 'google.token',
      kind: 'final',
      advice: 'Sign in again or replace the key; check the host’s clock if it speaks of iat and exp.',
      tokens: ['invalid_grant', 'invalid_rapt', 'invalid_client', 'SigningError'],
      says: phrases(`
        invalid_grant, token has been expired or revoked, invalid jwt, invalid jwt signature, could not load the
        default credentials, reauth related error, bad request invalid_grant, account has been deleted, unable to
        detect a project id, no refresh token, cannot sign data without, unable to impersonate
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'google.token',
      name: 'refresh',
      kind: 'final',
      advice: 'Sign in again or replace the key; check the host’s clock if it speaks of iat and exp.',
      says: ['could not refresh access token'],
      rank: RANK.guess + 3,
    },
    {
      code: 'google.metadata',
      kind: 'transient',
      advice: 'The metadata server did not answer; try again.',
      says: phrases(`
        metadata server, metadata google internal, compute metadata, oauth2 googleapis com token
      `),
      rank: RANK.vague - 4,
    },
  ],
}
