/**
 * Holds, the retry bucket and limits: what a claim was given against what was allowed then, over the whole fleet.
 */
import { invariant } from './invariant.ts'
import { gateStory } from './story.ts'

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

  invariant(
    'turn',
    'In a lane nobody is given out before one whose turn is earlier: by priority, which waiting makes up for, then by age.',
    (history) => gateStory(history).turnBreaches,
  ),

  invariant(
    'keys',
    'No more runs of a concurrency key are out at a time than it allows.',
    (history) => gateStory(history).keyBreaches,
  ),
]
