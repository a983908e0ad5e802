/**
 * For users' tests: one execution of a handler, virtual time, seeded dice, and the contracts that a driver of one's own can be proved against.
 */
export { systemClock } from '../time/clock.ts'
export { seededDice } from '../time/dice.ts'
export { type ArtifactsContract, artifactsContract } from './artifacts-contract.ts'
export {
  type BigQueryServer,
  type BigQueryServerOptions,
  bigqueryServer,
  type Fault as BigQueryFault,
  type JobError,
  type LoggedRequest,
} from './bigquery/server.ts'
export { type FakeAnswer, type FakeAsk, type FakeModel, type FakeReply, fakeModel } from './fake-model.ts'
export { type Asked, type PutOnce, type RanOnce, type RunOnceOptions, runOnce, type Send } from './run-once.ts'
export {
  type Law,
  type OpenedStore,
  type Skip,
  type StoreContract,
  storeContract,
  type TestFunctions,
  type World,
} from './store-contract/index.ts'
export { type VirtualClock, type VirtualClockOptions, virtualClock } from './virtual-clock.ts'
