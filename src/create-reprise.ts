/**
 * `createReprise` as users get it: the engine, with the verbs of models on what handlers are given.
 * It only puts the rooms together; each of them works without it.
 */
import type { Context as EngineContext } from './engine/context.ts'
import type { Handler as EngineHandler } from './engine/perform.ts'
import {
  createReprise as createEngine,
  type Reprise as Engine,
  type RepriseOptions as EngineOptions,
} from './engine/reprise.ts'
import { type Asks, askingContexts } from './ladder/asking-context.ts'
import type { ModelOptions } from './ladder/providers.ts'

export interface RepriseOptions extends EngineOptions {
  /** Of `ctx.ask` and `ctx.model`: models by id, where providers are, and what they cost. */
  readonly models?: ModelOptions
}

export type Reprise = Engine<Asks>

export type Context<Input = unknown> = EngineContext<Input> & Asks

export type Handler<Input = unknown, Output = unknown> = EngineHandler<Input, Output, Asks>

export function createReprise({ models, ...options }: RepriseOptions): Reprise {
  return createEngine<Asks>(options, { contextOf: askingContexts(models) })
}
