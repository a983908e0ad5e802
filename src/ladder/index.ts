/**
 * The ladder's own face: what the other rooms and the public face take from it.
 */
export type { Asked, AskTake } from './ask.ts'
export { type AskError, type Draft, draftOf } from './ask-failure.ts'
export type { AskDocument, AskImage, AskOptions } from './ask-options.ts'
export type { Asks } from './asking-context.ts'
export type { TakeKind } from './climb.ts'
export { defaultLadder, type Ladder, ladder } from './ladder.ts'
export type { ModelUse } from './model.ts'
export type { AnyModel } from './model-id.ts'
export { type ModelFacts, PRICES, type Price, type Prices } from './prices.ts'
export type { ModelOptions } from './providers.ts'
export {
  type BudgetLimit,
  type DeskOptions,
  type ModelRung as LadderModelRung,
  type PersonRung as LadderPersonRung,
  person,
  type Rung,
  type RungBudget,
  type RungOptions,
  rung,
} from './rung.ts'
export { type QuestionSize, shapeFor } from './worst-case.ts'
