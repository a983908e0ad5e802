import { createRequire } from 'node:module'
import { BigQuery, type BigQueryOptions } from '@google-cloud/bigquery'
import type { RepriseEvent } from '../../run/event.ts'
import { type BigQueryServer, type BigQueryServerOptions, bigqueryServer } from '../../testing/bigquery/server.ts'
import { type Clock, systemClock } from '../../time/clock.ts'

/** A clock whose waits are noted and not waited for; deadlines are real. */
export function impatientClock(): Clock & { readonly waits: number[] } {
  const waits: number[] = []
  return {
    ...systemClock,
    waits,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted()
      waits.push(ms)
    },
  }
}

export const SALES = {
  fields: [
    { name: 'region', type: 'STRING' },
    { name: 'total', type: 'INTEGER' },
  ],
  rows: [
    { region: 'north', total: 40 },
    { region: 'south', total: 2 },
  ],
} as const

/** Google's own credentials for an account whose tokens come from the local server. */
export function credentialsFor(server: BigQueryServer): NonNullable<BigQueryOptions['authClient']> {
  const require = createRequire(createRequire(import.meta.url).resolve('@google-cloud/bigquery'))
  const { OAuth2Client } = require('google-auth-library') as {
    readonly OAuth2Client: new (
      options: object,
    ) => NonNullable<BigQueryOptions['authClient']> & {
      setCredentials(credentials: object): void
    }
  }
  const client = new OAuth2Client({ endpoints: { oauth2TokenUrl: `${server.url}/token` }, clientId: 'local' })
  client.setCredentials({ refresh_token: 'kept' })
  return client
}

export interface Bench {
  readonly server: BigQueryServer
  readonly bigquery: BigQuery
  readonly clock: ReturnType<typeof impatientClock>
  readonly events: RepriseEvent[]
  /** What the adapter is told in every test. */
  readonly options: { readonly clock: Clock; readonly emit: (event: RepriseEvent) => void }
  /** Operations and statuses, in their order; tokens left out. */
  sent(): string[]
}

export async function openBench(given: Partial<BigQueryServerOptions> & BigQueryOptions = {}): Promise<Bench> {
  const { run = () => SALES, auth = true, ...client } = given
  const server = await bigqueryServer({ run, auth })
  const clock = impatientClock()
  const events: RepriseEvent[] = []
  const bigquery = new BigQuery({
    projectId: 'local',
    apiEndpoint: server.url,
    authClient: credentialsFor(server),
    ...client,
  })
  return {
    server,
    bigquery,
    clock,
    events,
    options: { clock, emit: (event) => events.push(event) },
    sent: () =>
      server.log
        .filter(({ operation }) => operation !== 'POST /token')
        .map(({ operation, status }) => `${operation} ${status}`),
  }
}
