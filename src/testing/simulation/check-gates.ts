/**
 * Holds, the retry bucket and limits: what a claim was given against what was allowed then, over the whole fleet.
 */
import { gateStory } from './gate-story.ts'
import { invariant } from './invariant.ts'

export const GATES = [
  invariant(
    'hold',
    'Nothing is claimed from a held lane but one probe over the fleet, and after it no more than the ramp allows.',
    (history) => gateStory(history).holdBreaches,
  ),

  invariant(
    'I23',
    'While a resource fails, its retries are a tenth of its first tries and one a second, in each window of ten seconds.',
    (history) => gateStory(history).retryBreaches,
  ),

  invariant(
    'limits',
    'No more runs of a resource are out at a time, or given out in an interval, than its limit says.',
    (history) => gateStory(history).limitBreaches,
  ),
]
