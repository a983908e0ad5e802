/**
 * The real client with writes that fail on order, before or after they are applied: what a network does between a worker and Firestore.
 */
import type { Firestore, WriteBatch } from '@google-cloud/firestore'

export type WriteFault = 'before' | 'after' | undefined

/** Asked before each batch is written; the fault is thrown with this code, or as a plain error without one. */
export function faultyFirestore(
  client: Firestore,
  faultOf: () => WriteFault | Promise<WriteFault>,
  code?: number,
): Firestore {
  const broken = (batch: WriteBatch): WriteBatch => {
    const commit = batch.commit.bind(batch)
    batch.commit = async () => {
      const fault = await faultOf()
      if (fault === 'after') await commit()
      if (fault !== undefined) throw Object.assign(new Error('broken on order'), code === undefined ? {} : { code })
      return commit()
    }
    return batch
  }
  return new Proxy(client, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (name === 'batch') return () => broken(target.batch())
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
