/**
 * Redis: the documented error prefixes of the server and the words of node-redis, ioredis and Bull.
 * A server that loads, fails over or resharded heals; a wrong type, script or password does not.
 */
import { type Case, type Family, phrases, RANK, words } from '../rule.ts'

const prefix = (name: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case => ({
  code: `redis.${name}`,
  kind,
  advice,
  tokens: [name],
  says: [name],
  rank: RANK.says + 1,
  ...more,
})
const RECONNECT = 'Try again; the client reconnects. If it lasts, look at the server.'
const COMMAND = 'Correct the command or the key’s type.'

export const redis: Family = {
  name: 'redis',
  marks: {
    redis: [
      'redis',
      'ioredis',
      '=ReplyError',
      '=MaxRetriesPerRequestError',
      '=RedisError',
      'redisclient',
      '=ClusterAllFailedError',
      'Last error',
      'bullmq',
    ],
  },
  cases: [
    prefix('LOADING', 'transient', 'The server is reading its data; wait until it is done.', {
      says: ['LOADING Redis', 'loading the dataset in memory'],
    }),
    prefix('BUSY', 'transient', 'A script runs too long; wait, or end it with SCRIPT KILL.', {
      says: ['BUSY Redis', 'redis is busy running a script'],
      only: ['redis'],
    }),
    prefix('TRYAGAIN', 'transient', 'Slots are moving; try again.'),
    prefix('CLUSTERDOWN', 'transient', 'The cluster lacks slots; wait, or repair it.', {
      says: ['CLUSTERDOWN', 'cluster is down', 'the cluster is down'],
    }),
    prefix('MASTERDOWN', 'transient', 'The replica has lost its master; wait for the failover.', {
      says: ['MASTERDOWN', 'link with master is down'],
    }),
    prefix('READONLY', 'transient', 'This is a replica now (failover): reconnect to find the new master.', {
      says: phrases(`
        can't write against a read only replica, can't write against a read only slave, READONLY You
      `),
    }),
    prefix('UNBLOCKED', 'transient', 'The server changed its role; send the command again.', { only: ['redis'] }),
    prefix('NOREPLICAS', 'transient', 'Too few replicas are connected; wait, or lower min-replicas-to-write.'),
    prefix('MOVED', 'final', 'Use a cluster client: a plain client met a cluster.', {
      layer: 'infrastructure',
      says: ['MOVED'],
      only: ['redis'],
    }),
    prefix('ASK', 'transient', 'Slots are moving; use a cluster client and try again.', { says: [], only: ['redis'] }),
    prefix('CROSSSLOT', 'final', 'Give the keys of one command the same hash tag.'),
    prefix('WRONGTYPE', 'final', COMMAND),
    prefix('NOSCRIPT', 'transient', 'Load the script again (EVAL instead of EVALSHA).', {
      says: ['NOSCRIPT', 'no matching script'],
    }),
    prefix('EXECABORT', 'final', 'Correct the queued command that was refused.'),
    prefix('NOAUTH', 'final', 'Give the password.', {
      layer: 'infrastructure',
      says: phrases(`
        NOAUTH, called without any password configured
      `),
    }),
    prefix('WRONGPASS', 'final', 'Correct user name and password.', {
      layer: 'infrastructure',
      says: phrases(`
        WRONGPASS, invalid username password pair, err invalid password, client sent auth but no password is set
      `),
    }),
    prefix('NOPERM', 'final', 'Grant the ACL user this command, key or channel.', { layer: 'infrastructure' }),
    prefix('DENIED', 'final', 'Redis runs in protected mode: set a password or bind address.', {
      layer: 'infrastructure',
      says: ['running in protected mode'],
      only: ['redis'],
    }),
    prefix('MISCONF', 'final', 'The server cannot write its snapshot: free its disk or correct its settings.', {
      layer: 'infrastructure',
      says: ['MISCONF', 'unable to persist on disk'],
    }),
    prefix('OOM', 'transient', 'The server’s memory is full: wait for evictions, free keys, or raise maxmemory.', {
      says: ['OOM command', 'when used memory maxmemory'],
    }),
    prefix('NOTBUSY', 'final', COMMAND),
    prefix('UNKILLABLE', 'transient', 'Wait for the script to end.'),
    prefix('BUSYGROUP', 'conflict', 'Nothing: the consumer group exists already.'),
    prefix('BUSYKEY', 'conflict', 'Nothing: the target key exists already.'),
    prefix('NOGROUP', 'final', 'Create the consumer group first.'),
    prefix('NOPROTO', 'final', 'The server does not speak this protocol version.'),
    prefix('NOQUORUM', 'transient', 'Too few sentinels agree; wait for them.'),
    prefix('NOGOODSLAVE', 'transient', 'No replica can take over yet; wait.'),
    prefix('REDIRECT', 'transient', 'A failover moved the data; reconnect to where it points.', {
      says: [],
      only: ['redis'],
    }),
    prefix('IOERR', 'transient', 'The target instance did not answer; try again.', { only: ['redis'] }),
    prefix('NOMASTERLINK', 'transient', 'The replica has lost its master; wait for the failover.'),
    prefix('NONEXT', 'final', COMMAND, { says: [], only: ['redis'] }),
    prefix('NOKEY', 'final', COMMAND, { says: [], only: ['redis'] }),
    prefix('INPROG', 'transient', 'A failover is under way; wait.', { only: ['redis'] }),
    {
      code: 'redis.connection',
      kind: 'transient',
      advice: RECONNECT,
      tokens: ['NR_CLOSED', 'CONNECTION_BROKEN', 'UNCERTAIN_STATE'],
      names: words(`
        MaxRetriesPerRequestError ClusterAllFailedError ClientClosedError SocketClosedUnexpectedlyError
        ReconnectStrategyError DisconnectsClientError ClientOfflineError ConnectionTimeoutError
        RootNodesUnavailableError SocketTimeoutError AbortError_redis
      `),
      says: phrases(`
        reached the max retries per request limit, failed to refresh slots cache, too many cluster redirections,
        connection is closed, stream isn't writeable, enableofflinequeue, socket closed unexpectedly, the client
        is closed, all sentinels are unreachable, max number of clients reached, redis connection .. failed, redis
        connection lost, none of startup nodes is available, cluster isn't ready, command timed out, missing lock
        for job, connection in subscriber mode
      `),
      rank: RANK.says,
    },
    {
      code: 'redis.command',
      kind: 'final',
      advice: COMMAND,
      says: phrases(`
        err unknown command, unknown command, wrong number of arguments for, value is not an integer or out of
        range, syntax error, invalid db index, db index is out of range, no such key, error running script, error
        compiling script, script attempted to access, value is not a valid float, unknown redis command
      `),
      only: ['redis'],
      rank: RANK.says - 1,
    },
    {
      code: 'redis.watch',
      kind: 'conflict',
      advice: 'Nothing: a watched key changed; read it again before writing.',
      names: ['WatchError'],
      says: ['watched keys has been changed'],
      rank: RANK.code,
    },
    {
      code: 'redis.reply',
      kind: 'final',
      advice: COMMAND,
      names: ['ReplyError', 'ErrorReply', 'SimpleError'],
      rank: RANK.vague,
    },
  ],
}
