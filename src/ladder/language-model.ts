/**
 * A language model of the AI SDK, as far as it is looked at here. The SDK is an optional peer, so its types are not named: an application
 * without it must still be able to check ours. What stands here is a part of what the SDK's specification v4 says.
 */

/** A model object of any version of the SDK. */
export interface ModelObject {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<unknown>
}

/** A model object that the SDK takes. What it is called with and gives back is between the SDK and the model. */
export interface SdkModel extends ModelObject {
  readonly specificationVersion: 'v4'
  readonly supportedUrls: PromiseLike<Record<string, RegExp[]>> | Record<string, RegExp[]>
  doGenerate(options: never): PromiseLike<never>
  doStream(options: never): PromiseLike<never>
}

/** The same as it is called here. */
export interface CallableModel {
  readonly supportedUrls: SdkModel['supportedUrls']
  doGenerate(options: SendOptions): PromiseLike<SendResult>
}

export interface PromptPart {
  readonly type: string
  readonly text?: unknown
  readonly [field: string]: unknown
}

export interface PromptMessage {
  readonly role: string
  readonly content: string | readonly PromptPart[]
  readonly [field: string]: unknown
}

export interface SendOptions {
  readonly prompt: readonly PromptMessage[]
  readonly maxOutputTokens?: number
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly abortSignal?: AbortSignal
  /** Handed on as they are. */
  readonly [option: string]: unknown
}

export interface ContentPart {
  readonly type: string
  readonly text?: unknown
  readonly [field: string]: unknown
}

type TokenCounts<Name extends string> = { readonly [N in Name]?: number | undefined }

export interface SendResult {
  readonly content: readonly ContentPart[]
  /** Where the provider keeps the structured answer apart from other text. */
  readonly structuredOutputText?: string
  readonly finishReason: { readonly unified: string; readonly raw?: string | undefined }
  readonly usage: {
    readonly inputTokens: TokenCounts<'total' | 'noCache' | 'cacheRead' | 'cacheWrite'>
    readonly outputTokens: TokenCounts<'total' | 'text' | 'reasoning'>
  }
  readonly providerMetadata?: unknown
  readonly warnings: readonly unknown[]
  readonly response?: { readonly modelId?: string; readonly body?: unknown; readonly headers?: unknown }
}
