/**
 * `reprise review export`: what people decided, one gold case per line, to test prompts and models with.
 */
import { maskRecord } from '../../ops/index.ts'
import type { Reviews } from '../../review/index.ts'
import type { Frame } from '../frame.ts'
import { jsonLine } from '../json-line.ts'
import { openSink } from '../line-sink.ts'

export async function exportGold(
  reviews: Reviews,
  { out, task }: { readonly out?: string; readonly task?: string },
  frame: Frame,
): Promise<void> {
  const { human, quiet } = frame.terminal()
  await using sink = await openSink(out, frame)
  let count = 0
  for await (const gold of reviews.export(task === undefined ? {} : { task })) {
    await sink.line(jsonLine(maskRecord(gold)))
    count += 1
  }
  if (out === undefined || quiet) return
  human.lines(human.text(`${count} ${count === 1 ? 'decision' : 'decisions'} in ${out}.`))
}
