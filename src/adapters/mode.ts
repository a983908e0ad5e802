/**
 * Who owns the retries of an adapted client: Reprise (`own`), or still the client itself while Reprise only looks on (`observe`).
 * It knows where the mode is said and what is allowed, and nothing of clients.
 */
export const MODES = ['own', 'observe'] as const

export type Mode = (typeof MODES)[number]

/** What `mode` says, else what `REPRISE_MODE` says, else `own`. Throws a RangeError that names the place and what is allowed. */
export function modeOf(mode: Mode | undefined, env: Readonly<Record<string, string | undefined>> = process.env): Mode {
  const [field, value] = mode === undefined ? ['REPRISE_MODE', env['REPRISE_MODE']] : ['mode', mode]
  if (value === undefined || value === '') return 'own'
  const found = MODES.find((each) => each === value)
  if (found === undefined)
    throw new RangeError(`${field}: ${JSON.stringify(value)} is not allowed; allowed are ${MODES.join(', ')}`)
  return found
}
