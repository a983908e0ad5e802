/**
 * The list of catalogues. Among equally telling evidence the family listed first wins, so our own words come first
 * and the loose words of all servers come last.
 */
import type { Family } from '../rule.ts'
import { aiSdk } from './ai-sdk.ts'
import { amqp } from './amqp.ts'
import { anthropic } from './anthropic.ts'
import { anyServer } from './any-server.ts'
import { aws } from './aws.ts'
import { bigquery } from './bigquery.ts'
import { domain } from './domain.ts'
import { firestore } from './firestore.ts'
import { gateway } from './gateway.ts'
import { gcs } from './gcs.ts'
import { gemini } from './gemini.ts'
import { grpcFamily } from './grpc.ts'
import { http } from './http.ts'
import { langchain } from './langchain.ts'
import { mongodb } from './mongodb.ts'
import { network } from './network.ts'
import { openai } from './openai.ts'
import { postgres } from './postgres.ts'
import { redis } from './redis.ts'
import { sqlite } from './sqlite.ts'
import { structuredOutput } from './structured-output.ts'

export const FAMILIES: readonly Family[] = [
  domain,
  gemini,
  openai,
  anthropic,
  gateway,
  aiSdk,
  langchain,
  structuredOutput,
  bigquery,
  firestore,
  gcs,
  mongodb,
  amqp,
  postgres,
  sqlite,
  redis,
  aws,
  grpcFamily,
  network,
  http,
  anyServer,
]
