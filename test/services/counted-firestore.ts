/**
 * The real client with a count of what Firestore bills: documents that were read, one for a query that finds none, and documents written.
 */
import type { Firestore } from '@google-cloud/firestore'

export interface Bill {
  reads: number
  writes: number
}

interface Stream {
  on(
    event: 'data',
    listen: (response: { readonly document?: unknown; readonly found?: unknown; readonly missing?: unknown }) => void,
  ): void
  on(event: 'end', listen: () => void): void
}

interface Inner {
  request(method: string, request: { readonly writes?: readonly unknown[] }, ...more: unknown[]): Promise<unknown>
  requestStream(method: string, ...more: unknown[]): Promise<Stream>
}

export function countBill(client: Firestore): Bill {
  const bill: Bill = { reads: 0, writes: 0 }
  const inner = client as unknown as Inner
  const request = inner.request.bind(inner)
  const requestStream = inner.requestStream.bind(inner)
  inner.request = (method, body, ...more) => {
    if (method === 'commit') bill.writes += body.writes?.length ?? 0
    return request(method, body, ...more)
  }
  inner.requestStream = async (method, ...more) => {
    const stream = await requestStream(method, ...more)
    let found = 0
    stream.on('data', ({ document, found: one, missing }) => {
      if (document || one || missing) found += 1
    })
    stream.on('end', () => {
      bill.reads += method === 'runQuery' ? Math.max(1, found) : found
    })
    return stream
  }
  return bill
}
