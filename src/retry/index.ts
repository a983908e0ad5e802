/**
 * The face of this room: trying again in process, without a store.
 */
export type { RetryEntry, RetryHistory } from './history.ts'
export { historyOf } from './history.ts'
export type { RetryOptions } from './options.ts'
export type { RetryContext } from './retry.ts'
export { retry } from './retry.ts'
export { RetryError } from './retry-error.ts'
