/**
 * `node scripts/services.ts`: which servers the tests can start on this machine, and FerretDB built into its cache if there is no mongod.
 * Nothing is left running. With `--strict` a missing server is exit code 1.
 */
import { builtFerretdb, noFerretdbBuild, noMongo } from '../test/services/mongodb.ts'
import { noPushgateway } from '../test/services/pushgateway.ts'
import { noRabbit } from '../test/services/rabbitmq.ts'
import { commandOn } from '../test/services/service.ts'

if (!commandOn('mongod') && noFerretdbBuild() === undefined) console.log(`FerretDB is ${builtFerretdb()}.`)

const reasons: readonly (readonly [name: string, reason: string | undefined, found: string])[] = [
  ['MongoDB', noMongo(), commandOn('mongod') ?? 'FerretDB'],
  ['RabbitMQ', noRabbit(), 'rabbitmq-server'],
  ['Pushgateway', noPushgateway(), 'prometheus-pushgateway'],
]
for (const [name, reason, found] of reasons) console.log(`${name}: ${reason ?? found}`)
if (process.argv.includes('--strict') && reasons.some(([, reason]) => reason !== undefined)) process.exit(1)
