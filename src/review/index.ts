/**
 * The face of this room: a person's door to runs in review.
 */
export type { GoldCase } from './gold.ts'
export type { ReviewDetail, ReviewItem } from './item.ts'
export type { Loss } from './loss.ts'
export { type Answered, createReviews, type Hand, type ReviewList, type Reviews } from './reviews.ts'
export type { Judge, ReviewAct } from './verdict.ts'
