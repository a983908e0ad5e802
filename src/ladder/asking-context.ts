/**
 * The context with the two verbs of models: `ask` and `model`. They hand on to the parts that do the work, and use nothing of the
 * engine but its journalled verbs.
 */
import { HandlerContext } from '../engine/context.ts'
import type { ContextMaker } from '../engine/context-maker.ts'
import type { Execution } from '../engine/execution.ts'
import { type Asked, type Asker, askLadder } from './ask.ts'
import type { AskOptions } from './ask-options.ts'
import type { SdkModel } from './language-model.ts'
import { journalledModel, type ModelUse } from './model.ts'
import type { AnyModel } from './model-id.ts'
import type { ModelOptions } from './providers.ts'

export interface Asks {
  /**
   * Asks the models of a ladder, and people after them, until an answer passes the gate; only that is ever given back. Every send is
   * stored before it is judged: a handler that runs again goes on where it was and buys nothing twice.
   * @example const { value } = await ctx.ask('invoice', { prompt: 'Extract the invoice.', document: text, schema, gate: rules })
   */
  ask<Value = unknown, Input = unknown>(name: string, options: AskOptions<Value, Input>): Promise<Asked<Value>>
  /**
   * A model for the AI SDK whose every call is journalled, budgeted, held and classified. Streams are stored whole, then given out.
   * @example await generateText({ model: ctx.model('google/gemini-flash-latest', { budget: 'flash' }), prompt, maxRetries: 0 })
   */
  model(model: AnyModel, options?: ModelUse): SdkModel
}

export class AskingContext<Input> extends HandlerContext<Input> implements Asks {
  readonly #execution: Execution
  readonly #models: ModelOptions
  /** Made on first use: most runs ask no model. */
  #made: Asker | undefined
  #counts: Map<string, number> | undefined

  constructor(execution: Execution, input: Input, needs: Readonly<Record<string, unknown>>, models: ModelOptions) {
    super(execution, input, needs)
    this.#execution = execution
    this.#models = models
  }

  get #asker(): Asker {
    this.#made ??= {
      execution: this.#execution,
      models: this.#models,
      call: (name, send, options) => this.call(name, send, options),
      person: (name, options) => this.person(name, options),
    }
    return this.#made
  }

  ask<Value = unknown, AskInput = unknown>(name: string, options: AskOptions<Value, AskInput>): Promise<Asked<Value>> {
    return askLadder<Value>(this.#asker, name, options as AskOptions<Value, never>, this.input)
  }

  model(model: AnyModel, options: ModelUse = {}): SdkModel {
    this.#counts ??= new Map()
    return journalledModel(this.#asker, model, options, this.#counts)
  }
}

/** What makes handlers' contexts know models. */
export const askingContexts =
  (models: ModelOptions = {}): ContextMaker =>
  (execution, input, needs) =>
    new AskingContext(execution, input, needs, models)
