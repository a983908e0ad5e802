/**
 * The five ways to get data out of a document that the study compares. The first four are written as people write them, on the same SDK;
 * the last is Reprise with its default ladder. All of them are judged by the same gate.
 */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { generateText, jsonSchema, Output } from 'ai'
import { createReprise } from '../../src/create-reprise.ts'
import { accountOf } from '../../src/extract/account.ts'
import { createExtraction, EXTRACT_PROMPT } from '../../src/extract/extraction.ts'
import { memory } from '../../src/stores/memory/index.ts'
import { CHEAP, STRONG, type StudyDocument, type World } from './world.ts'

/** What became of one document. */
export type End =
  | { readonly end: 'answered'; readonly value: unknown }
  | { readonly end: 'person'; readonly isRefused: boolean }
  | { readonly end: 'failed' }

export interface Strategy {
  readonly name: string
  readonly says: string
  run(world: World, url: string): Promise<readonly End[]>
}

const CONCURRENCY = 24
/** The SDK's own: on overload, rate limits and broken connections. */
const SDK_RETRIES = 2

type Ask = (document: StudyDocument) => Promise<unknown>

/** One call as the SDK's users make it: text and picture at once. Throws when there is no answer that passes. */
function asker({ schema, gate }: World, url: string, id: string, maxRetries: number): Ask {
  const google = createGoogleGenerativeAI({ apiKey: 'none', baseURL: `${url}/v1beta` })
  return async ({ content: { text, image } }) => {
    const { output } = await generateText({
      model: google(id.slice(id.indexOf('/') + 1)),
      maxRetries,
      maxOutputTokens: 8_192,
      output: Output.object({ schema: jsonSchema(schema as never) }),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: `${EXTRACT_PROMPT}\n<document>\n${text ?? ''}\n</document>` },
            ...(image ? [{ type: 'file' as const, mediaType: image.mediaType, data: image.data }] : []),
          ],
        },
      ],
    })
    const verdict = await gate.judge(output, { input: undefined })
    if (!verdict.ok) throw new Error('the gate said no')
    return verdict.value
  }
}

const plain = (name: string, says: string, asks: (world: World, url: string) => readonly Ask[]): Strategy => ({
  name,
  says,
  async run(world, url) {
    const steps = asks(world, url)
    const ends: End[] = []
    const queue = world.documents.entries()
    const lane = async () => {
      for (const [index, document] of queue) ends[index] = await inTurn(steps, document)
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, lane))
    return ends
  },
})

async function inTurn(steps: readonly Ask[], document: StudyDocument): Promise<End> {
  for (const ask of steps) {
    try {
      return { end: 'answered', value: await ask(document) }
    } catch {
      // Whatever it was, the next step is tried: that is what these strategies do.
    }
  }
  return { end: 'failed' }
}

const reprise: Strategy = {
  name: 'Reprise',
  says: 'the default ladder: cheap, two corrections, strong once, a person',
  async run({ documents, schema, gate }, url) {
    const store = memory()
    const engine = createReprise({ store, models: { baseURLs: { google: `${url}/v1beta` } } })
    const extraction = createExtraction(engine, { schema, gate })
    const runs = await extraction.submit(documents.map(({ source }) => source))
    const worker = engine.work({ concurrency: CONCURRENCY, pollMs: 50 })
    await worker.idle({ until: 'settled' })
    const ends: End[] = []
    for (const { run } of runs) {
      const view = await store.get({ id: run })
      if (!view) throw new Error(`run ${run} is gone`)
      const { outcome, value, kinds } = await accountOf(store, view)
      if (outcome === 'right') ends.push({ end: 'answered', value })
      else if (outcome === 'person') ends.push({ end: 'person', isRefused: kinds.includes('refused') })
      else ends.push({ end: 'failed' })
    }
    await engine.close()
    return ends
  },
}

export const STRATEGIES: readonly Strategy[] = [
  plain('always cheap', 'one call to the cheap model, with the SDK’s two retries', (world, url) => [
    asker(world, url, CHEAP, SDK_RETRIES),
  ]),
  plain('always strong', 'one call to the strong model, with the SDK’s two retries', (world, url) => [
    asker(world, url, STRONG, SDK_RETRIES),
  ]),
  plain('naive retry ×3', 'the cheap model up to three times, the same call after any failure', (world, url) =>
    Array.from({ length: 3 }, () => asker(world, url, CHEAP, 0)),
  ),
  plain(
    'cheap, then strong',
    'the cheap model, then the strong one, without repair; the SDK’s two retries each',
    (world, url) => [asker(world, url, CHEAP, SDK_RETRIES), asker(world, url, STRONG, SDK_RETRIES)],
  ),
  reprise,
]
