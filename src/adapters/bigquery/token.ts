/**
 * Throws an access token away that the server no longer takes, so that the next request fetches a new one.
 * It knows the shape of Google's credentials and sends nothing.
 */

/** What of `GoogleAuth` is used here. */
export interface TokenSource {
  getClient?(): Promise<{
    readonly credentials?: Readonly<Record<string, unknown>>
    setCredentials?(credentials: Readonly<Record<string, unknown>>): void
  }>
}

/** An instant that has passed, in the unit of the credentials. */
const LONG_AGO = 1

/** False when there is no token to throw away: then the refusal is final. */
export async function expireToken(source: TokenSource | undefined): Promise<boolean> {
  const client = await source?.getClient?.()
  if (!client?.setCredentials || client.credentials?.['access_token'] === undefined) return false
  client.setCredentials({ ...client.credentials, expiry_date: LONG_AGO })
  return true
}
