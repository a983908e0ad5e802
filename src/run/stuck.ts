/**
 * When a run that nobody takes is called stuck: the same age as for documents that other services leave lying.
 * Only the name and its default; who counts, and what follows, is elsewhere.
 */

/** Longer than any backlog that is worked off, and than a night without workers. */
export const STUCK_AFTER_MS = 24 * 3_600_000
