/**
 * The turn of the event loop: run something once everything that is ready now has run.
 * It knows no clock; work that is gathered until the end of a turn is handed in as a function.
 */

/** Calls `run` after all microtasks and the present phase of the event loop. Work of the same turn can be gathered until then. */
export function nextTurn(run: () => void): void {
  setImmediate(run)
}
