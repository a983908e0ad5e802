/**
 * Which tests are left to the full size: suites on other makers' servers that take minutes where those are installed.
 * `npm test -- test/flows` runs them all the same, because whoever names them wants them.
 */

const LONG = ['test/flows/**', 'test/contract/firestore*.test.ts']

const isFull = process.env['REPRISE_TEST_CHAOS'] === 'full'
const isNamed = process.argv.slice(2).some((word) => word.startsWith('test/'))

/** Patterns of what this run leaves out. */
export const LEFT_OUT: readonly string[] = isFull || isNamed ? [] : LONG
