/**
 * The public face of Reprise: every name that users import from `reprise`.
 */
export type { Failure, Kind, Layer } from './failure/failure.ts'
export { KINDS } from './failure/failure.ts'
