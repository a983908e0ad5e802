/**
 * What a ladder can cost at worst for one question, as `plan` is given it: the price of one take on each rung.
 * It sends nothing and knows no document; whoever asks says how long the question is.
 */
import type { LadderShape } from '../policy/ladder.ts'
import type { Ladder } from './ladder.ts'
import { type Prices, worstCostOf } from './prices.ts'
import { toldBytesMax } from './prompt.ts'
import { type ModelRung, roomOf } from './rung.ts'
import { priceOf } from './send.ts'

export interface QuestionSize {
  /** Bytes of all that is asked: instructions, schema and the text of the document. */
  readonly textBytes: number
  /** Pictures and files that are shown. @default 0 */
  readonly images?: number
}

/**
 * The ladder's shape with what one take costs at worst: the longest prompt, earlier answers and their issues included, and the longest
 * answer that a cut-off one is given room for. A rung whose model has no price has none here either.
 * @example plan(wrong, { ...extraction, ladder: shapeFor(ladder, { textBytes: 4_000, images: 1 }) }).costMaxUsd
 */
export function shapeFor(ladder: Ladder, { textBytes, images = 0 }: QuestionSize, prices?: Prices): LadderShape {
  let earlier = 0
  return ladder.rungs.map((rung, index) => {
    const shape = ladder.shape[index] as LadderShape[number]
    if (rung.type === 'person' || shape.type === 'person') return shape
    earlier += rung.attempts
    const usd = worstCostOf(priceOf(rung, prices ? { prices } : {}), {
      textBytes: textBytes + toldBytesMax(earlier - 1),
      images,
      maxOutputTokens: longestAnswerOf(rung, prices),
    })
    return usd === undefined ? shape : { ...shape, maxCostUsd: usd }
  })
}

/** Each answer that was cut off gives the next one twice the room. */
function longestAnswerOf(rung: ModelRung, prices: Prices | undefined): number {
  const { maxOutputTokens: first, attempts } = rung
  return Math.max(first, Math.min(roomOf(rung, prices), first * 2 ** (attempts - 1)))
}
