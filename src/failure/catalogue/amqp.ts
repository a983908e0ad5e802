/**
 * AMQP 0-9-1 and RabbitMQ: reply codes of the specification, and the words of amqplib and its relatives.
 * A closed connection heals; a queue declared otherwise, or one that is not there, does not. All of it is plumbing.
 */
import { type Case, type Family, phrases, RANK, words } from '../rule.ts'

const reply = (number: number, name: string, kind: Case['kind'], advice: string, more: Partial<Case> = {}): Case => ({
  code: `amqp.${number}`,
  kind,
  layer: 'infrastructure',
  advice,
  tokens: [`amqp:${number}`],
  says: [`${number} ${name.replaceAll('-', ' ')}`, `${number} .. ${name.replaceAll('-', '_')}`],
  rank: RANK.code,
  ...more,
})
const RECONNECT = 'Reconnect and go on; unconfirmed messages must be published again.'
const DECLARE = 'Declare it with the arguments it has, or delete it and declare it anew.'

export const amqp: Family = {
  name: 'amqp',
  marks: {
    amqp: [
      'amqp',
      'rabbitmq',
      'amqplib',
      'channel closed',
      'vhost',
      'queue declare',
      'inequivalent arg',
      '=IllegalOperationError',
      'AMQP*',
      'amqp:*',
      'channel',
      'handshake terminated by server',
      'basicconsume',
      'basicget',
      'basicpublish',
      'basicqos',
      'channelopen',
      'confirmselect',
      'connectionopen',
      'connectionstart',
      'exchangebind',
      'exchangedeclare',
      'exchangedelete',
      'queuebind',
      'queuedeclare',
      'queuedelete',
      'queuepurge',
    ],
  },
  cases: [
    reply(311, 'CONTENT-TOO-LARGE', 'final', 'Send smaller messages.'),
    reply(312, 'NO-ROUTE', 'final', 'Bind a queue for this routing key, or drop the mandatory flag.'),
    reply(313, 'NO-CONSUMERS', 'transient', 'Wait for a consumer.'),
    reply(320, 'CONNECTION-FORCED', 'transient', 'The broker closed the connection (restart or operator); reconnect.'),
    reply(402, 'INVALID-PATH', 'final', 'Correct the virtual host.'),
    reply(403, 'ACCESS-REFUSED', 'final', 'Check user, password and permissions on the virtual host.'),
    // Web servers shout `404 NOT FOUND` too.
    reply(404, 'NOT-FOUND', 'final', 'Declare the queue or exchange first.', { only: ['amqp'] }),
    reply(
      405,
      'RESOURCE-LOCKED',
      'transient',
      'Another connection holds the exclusive queue; try again when it is gone.',
    ),
    reply(406, 'PRECONDITION-FAILED', 'final', DECLARE, { rank: RANK.code + 2 }),
    reply(501, 'FRAME-ERROR', 'final', 'Client and broker disagree on the protocol or frame size.'),
    reply(502, 'SYNTAX-ERROR', 'final', 'Correct the arguments of the command.'),
    reply(503, 'COMMAND-INVALID', 'final', 'Use channels one task at a time; commands came in a wrong order.'),
    reply(504, 'CHANNEL-ERROR', 'transient', RECONNECT),
    reply(505, 'UNEXPECTED-FRAME', 'transient', RECONNECT),
    reply(506, 'RESOURCE-ERROR', 'transient', 'The broker is out of a resource; try again, and look at its alarms.'),
    reply(530, 'NOT-ALLOWED', 'final', 'Correct virtual host, user or limits; the broker does not allow this.'),
    reply(540, 'NOT-IMPLEMENTED', 'final', 'The broker does not offer this.'),
    reply(541, 'INTERNAL-ERROR', 'transient', RECONNECT),
    {
      code: 'amqp.406',
      name: 'inequivalent',
      kind: 'final',
      layer: 'infrastructure',
      advice: DECLARE,
      says: phrases(`
        inequivalent arg, unknown delivery tag, precondition_failed inequivalent, cannot redeclare,
        PRECONDITION_FAILED
      `),
      only: ['amqp'],
      rank: RANK.code + 2,
    },
    {
      code: 'amqp.ack-timeout',
      kind: 'transient',
      advice: 'Acknowledge sooner or raise consumer_timeout; the message is delivered again.',
      says: phrases(`
        delivery acknowledgement on channel, delivery acknowledgement .. timed out, consumer ack timed out
      `),
      rank: RANK.code + 4,
    },
    {
      code: 'amqp.404',
      name: 'no-queue',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Declare the queue or exchange first.',
      says: ['no queue', 'no exchange', 'no binding', 'NOT_FOUND'],
      only: ['amqp'],
      never: ['grpc', 'google'],
      rank: RANK.code + 2,
    },
    {
      code: 'amqp.queue-down',
      kind: 'transient',
      advice: 'The queue’s node is down; wait for it or repair the cluster.',
      says: phrases(`
        home node .. down, queue .. is down or inaccessible, queue .. process is stopped, is stopped by
        supervisor, failed to perform operation on queue
      `),
      rank: RANK.code + 5,
    },
    {
      code: 'amqp.403',
      name: 'refused',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Check user, password and permissions on the virtual host.',
      says: phrases(`
        ACCESS_REFUSED, access_refused, login was refused, plain login refused, login refused, handshake
        terminated by server 403, ACCESS REFUSED
      `),
      rank: RANK.code + 2,
    },
    {
      code: 'amqp.530',
      name: 'vhost',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Correct virtual host, user or limits.',
      says: phrases(`
        vhost .. not found, NOT_ALLOWED, access to vhost, connection limit .. is reached
      `),
      only: ['amqp'],
      rank: RANK.code + 1,
    },
    {
      code: 'amqp.405',
      name: 'locked',
      kind: 'transient',
      layer: 'infrastructure',
      advice: 'Another connection holds the exclusive queue; try again when it is gone.',
      says: ['RESOURCE_LOCKED', 'cannot obtain exclusive access'],
      rank: RANK.code + 2,
    },
    {
      code: 'amqp.connection',
      kind: 'transient',
      advice: RECONNECT,
      tokens: words(`
        AMQPConnectionClosedError AMQPConnectionError AMQPChannelClosedError ConnectionWrongStateError
        ChannelWrongStateError StreamLostError ConnectionClosedByBroker ChannelClosedByBroker CONN_CLOSE CH_CLOSE
      `),
      names: ['IllegalOperationError', 'AMQPError', 'AMQPConnectionError'],
      says: phrases(`
        channel closed, connection closing, channel ended, heartbeat timeout, missed heartbeats,
        connection_forced, CONNECTION_FORCED, connection forced, socket closed abruptly, unexpected close, channel
        is closed, connection blocked, message was nacked, message nacked, message rejected by broker, server closed, channel
        error, no reply will be forthcoming, management plugin, no connection, connection closed, no channels left
      `),
      rank: RANK.name - 2,
      only: ['amqp'],
    },
    {
      code: 'amqp.connection',
      name: 'heartbeat',
      kind: 'transient',
      advice: RECONNECT,
      says: phrases(`
        heartbeat timeout, missed heartbeats, opening handshake, socket closed abruptly during opening handshake,
        connection forced, CONNECTION_FORCED
      `),
      rank: RANK.says,
    },
    {
      code: 'amqp.protocol',
      kind: 'final',
      layer: 'infrastructure',
      advice: 'Correct the URL, port (5672/5671) or frame size: this is no AMQP peer.',
      says: phrases(`
        expected amqp or amqps protocol, invalid frame, frame size exceeds, frame_max, expected .. got .. headers
        frame, bad credentials amqp, expected connectionstart, expected connectionopenok
      `),
      rank: RANK.says,
    },
  ],
}
